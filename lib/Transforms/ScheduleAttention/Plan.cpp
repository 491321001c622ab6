// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

//===----------------------------------------------------------------------===//
// What the attention decides
//===----------------------------------------------------------------------===//

ScalePlan schedule::planScale(AttentionOp op) {
  constexpr double log2e = 1.4426950408889634;
  std::optional<APFloat> given = op.getScale();
  double scale = given ? static_cast<double>(given->convertToFloat())
                       : 1.0 / std::sqrt(static_cast<double>(op.getHeadDim()));
  double product = log2e * scale;
  if (std::fabs(product) > FLT_MAX)
    product = std::copysign(static_cast<double>(FLT_MAX), product);
  auto factor = static_cast<float>(product);
  if (std::fabs(factor) < FLT_MIN)
    return {1.0f, false, factor};
  return {std::fabs(factor), factor < 0, std::nullopt};
}

FailureOr<int64_t> schedule::planPack(AttentionOp op, GroupPacking choice,
                                      int64_t rows) {
  if (choice == GroupPacking::Off)
    return 1;
  // The kernel knows the head counts by its arguments: those of Q and K.
  int64_t queryHeads = cast<MemRefType>(op.getQ().getType()).getDimSize(2);
  int64_t keyHeads = cast<MemRefType>(op.getK().getType()).getDimSize(2);
  bool isStatic =
      ShapedType::isStatic(queryHeads) && ShapedType::isStatic(keyHeads);
  int64_t group = isStatic ? queryHeads / keyHeads : 0;
  if (group > 0 && rows % group == 0)
    return group;
  if (choice == GroupPacking::Auto)
    return 1;
  InFlightDiagnostic diag = op.emitOpError()
                            << "expected a group size that divides the " << rows
                            << " rows of a tile to pack query heads, but ";
  if (isStatic)
    diag << "got " << group << ": pass 'group-packing=auto' or 'off'";
  else
    diag << "the head count of '"
         << (ShapedType::isDynamic(queryHeads) ? 'q' : 'k')
         << "' is dynamic: make it static, or pass 'group-packing=auto' or "
            "'off'";
  return diag;
}

//===----------------------------------------------------------------------===//
// What a single option allows
//===----------------------------------------------------------------------===//

static LogicalResult checkRange(AttentionOp op, StringRef option, int64_t value,
                                int64_t low, int64_t high, StringRef why = "") {
  if (value >= low && value <= high)
    return success();
  return op.emitOpError() << "expected '" << option << "' from " << low
                          << " to " << high << why << ", but got " << value;
}

/// A number of O's columns that is a power of two and divides them.
static LogicalResult checkChunk(AttentionOp op, StringRef option, int64_t value,
                                int64_t low) {
  int64_t columns = op.getValueDim();
  if (value >= low && value <= columns && llvm::isPowerOf2_64(value))
    return success();
  return op.emitOpError() << "expected '" << option
                          << "' to be a power of two from " << low << " to "
                          << columns << ", the columns of 'o', but got "
                          << value;
}

static LogicalResult checkFragments(AttentionOp op, const Plan &plan) {
  int64_t width = plan.fragmentColumns;
  if (width != 16 && width != 32 && width != 64)
    return op.emitOpError()
           << "expected 'fragment-width' to be 16, 32 or 64, but got " << width;
  int64_t split = plan.firstSegment;
  if (failed(checkRange(op, "p-split", split, 16, kTile, ", the columns of P")))
    return failure();
  if (split % 16 != 0)
    return op.emitOpError()
           << "expected 'p-split' to be a multiple of 16, the K step of "
              "an MMA, but got "
           << split;
  if (split % width != 0)
    return op.emitOpError()
           << "expected 'p-split' to be a multiple of " << width
           << ", the 'fragment-width', but got " << split;
  int64_t pairs = width / 2;
  if (plan.polyOf < 1 || pairs % plan.polyOf != 0)
    return op.emitOpError()
           << "expected 'poly-of' to divide the " << pairs
           << " pairs of columns of a fragment, but got " << plan.polyOf;
  if (failed(checkRange(op, "poly-pairs", plan.polyPairs, 0, plan.polyOf,
                        ", the 'poly-of'")))
    return failure();
  return success();
}

static LogicalResult checkThreshold(AttentionOp op, double threshold) {
  // 2^threshold times a rounding factor of 2 must fit P's type, f16.
  if (threshold >= 0 && threshold <= 15)
    return success();
  return op.emitOpError()
         << "expected 'rescale-threshold' from 0 to 15, but got " << threshold;
}

//===----------------------------------------------------------------------===//
// What the target allows
//===----------------------------------------------------------------------===//

static LogicalResult checkRegisters(AttentionOp op, const Plan &plan) {
  std::pair<StringRef, int64_t> budgets[] = {
      {"softmax-registers", plan.softmaxRegisters},
      {"correction-registers", plan.correctionRegisters},
      {"other-registers", plan.otherRegisters}};
  for (auto [option, value] : budgets)
    if (value % 8 != 0 || value < 24 || value > 256)
      return op.emitOpError()
             << "expected '" << option
             << "' to be a multiple of 8 from 24 to 256, but got " << value;
  // A launch gives each thread the same multiple of 8, at most 255 registers;
  // setmaxnreg only moves registers inside that pool (PTX ISA, setmaxnreg).
  constexpr int64_t threads = kWarps * kWarpThreads;
  int64_t atLaunch =
      std::min<int64_t>(plan.target.getRegisters() / threads / 8 * 8, 255);
  int64_t pool = atLaunch * threads;
  int64_t total =
      kWarpgroupThreads * (kStages * plan.softmaxRegisters +
                           plan.correctionRegisters + plan.otherRegisters);
  if (total <= pool)
    return success();
  return op.emitOpError() << "expected register budgets of at most " << pool
                          << " registers in all, but got " << total << ", "
                          << total - pool << " too many: " << kWarpgroupThreads
                          << " x (" << kStages << " x " << plan.softmaxRegisters
                          << " softmax + " << plan.correctionRegisters
                          << " correction + " << plan.otherRegisters
                          << " other)";
}

/// A thread holds its row of a tile in registers and needs others beside them.
static LogicalResult checkRowsInRegisters(AttentionOp op, const Plan &plan) {
  if (plan.softmaxRegisters <= kTile)
    return op.emitOpError()
           << "expected 'softmax-registers' above " << kTile
           << ", the columns of S that a thread holds, but got "
           << plan.softmaxRegisters;
  auto check = [&](StringRef option, int64_t columns, StringRef role,
                   int64_t registers) -> LogicalResult {
    if (columns < registers)
      return success();
    return op.emitOpError() << "expected '" << option << "' below " << registers
                            << ", the registers of a thread of the " << role
                            << " role, but got " << columns;
  };
  if (failed(check("epilogue-chunk", plan.epilogueChunk,
                   plan.softmaxEpilogue ? "softmax" : "correction",
                   plan.softmaxEpilogue ? plan.softmaxRegisters
                                        : plan.correctionRegisters)) ||
      failed(check("rescale-chunk", plan.rescaleChunk, "correction",
                   plan.correctionRegisters)))
    return failure();
  return success();
}

static LogicalResult checkSharedMemory(AttentionOp op, const Plan &plan) {
  int64_t tile = kTile * plan.headDim * 2;
  int64_t q = kStages * tile, kv = plan.kvStages * tile, o = kStages * tile;
  int64_t mailboxes = (plan.publishesReference() ? 2 : 1) * kStages * kTile * 4;
  // q_full, q_empty, s_ready, p_o_rescale, o_ready, o_full and o_empty have a
  // slot a stage; so has p_ready_2 where P is split, and stats_empty where the
  // correction role needs sums; kv_full and kv_empty.
  int64_t perStage =
      7 + (plan.splitsP() ? 1 : 0) + (plan.softmaxEpilogue ? 0 : 1);
  int64_t barriers = 8 * (perStage * kStages + 2 * plan.kvStages);
  // fa4.tmem_acquire leaves its address in a word of shared memory.
  constexpr int64_t tmemAddress = 16;
  int64_t total = q + kv + o + mailboxes + barriers + tmemAddress;
  int64_t limit = plan.target.getSmemBytes();
  if (total <= limit)
    return success();
  return op.emitOpError() << "expected at most " << limit
                          << " bytes of shared memory, but got " << total
                          << ", " << total - limit << " too many: q " << q
                          << ", kv " << kv << " (" << plan.kvStages << " x "
                          << tile << "), o_staging " << o << ", mailboxes "
                          << mailboxes << ", barriers " << barriers
                          << ", tensor-memory address " << tmemAddress;
}

static LogicalResult checkTensorMemory(AttentionOp op, const Plan &plan) {
  int64_t s = kStages * kTile, o = kStages * plan.headDim;
  // tcgen05.alloc takes powers of two.
  int64_t total = llvm::PowerOf2Ceil(s + o);
  int64_t limit = plan.target.getTmemColumns();
  if (total <= limit)
    return success();
  return op.emitOpError() << "expected at most " << limit
                          << " columns of tensor memory, but got " << total
                          << ", " << total - limit << " too many: s " << s
                          << ", o " << o << ", rounded up to a power of two";
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

Scheduler schedule::planScheduler(bool causal, SchedulerChoice choice) {
  if (choice == SchedulerChoice::Auto)
    return causal ? Scheduler::LongestFirst : Scheduler::LinearPersistent;
  return choice == SchedulerChoice::Linear ? Scheduler::LinearPersistent
                                           : Scheduler::LongestFirst;
}

LogicalResult schedule::checkAttention(AttentionOp op) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError() << "expected memrefs, but 'q' is "
                            << op.getQ().getType() << ": bufferize first";
  if (op.getHeadDim() != op.getValueDim())
    return op.emitOpError()
           << "expected one head dimension of 'k' and 'v', whose tiles "
              "have one size, but got "
           << op.getHeadDim() << " and " << op.getValueDim();
  return success();
}

/// A choice is obeyed or refused: those that this schedule does not have must
/// have been left alone.
static LogicalResult
checkForeignOptions(AttentionOp op, TargetAttr target,
                    const ScheduleAttentionOptions &options) {
  const ScheduleAttentionOptions defaults;
  std::pair<StringRef, bool> changed[] = {
      {"consumers", options.consumers != defaults.consumers},
      {"consumer-registers",
       options.consumerRegisters != defaults.consumerRegisters},
      {"tile-keys", options.tileKeys != defaults.tileKeys},
      {"turns", options.turns != defaults.turns}};
  for (auto [name, isChanged] : changed)
    if (isChanged)
      return op.emitOpError()
             << "expected '" << name << "' to be left alone: a schedule for '"
             << target.getChip() << "' has no such choice";
  return success();
}

FailureOr<Plan>
schedule::planSchedule(AttentionOp op, TargetAttr target,
                       const ScheduleAttentionOptions &options) {
  if (failed(checkForeignOptions(op, target, options)))
    return failure();
  Plan plan;
  plan.target = target;
  plan.causal = op.getCausal();
  plan.hasLse = static_cast<bool>(op.getLse());
  plan.headDim = op.getHeadDim();
  plan.scale = planScale(op);
  int64_t keys = op.getKeyLength();
  plan.maskFirst = plan.causal || ShapedType::isDynamic(keys) || keys == 0 ||
                   keys % kTile != 0;

  FailureOr<int64_t> pack = planPack(op, options.groupPacking, kTile);
  if (failed(pack))
    return failure();
  plan.pack = *pack;
  plan.statsPerWarp = options.statsGranularity == StatsGranularity::Auto
                          ? op.getGroupSize() == 1
                          : options.statsGranularity == StatsGranularity::Warp;
  plan.scheduler = planScheduler(plan.causal, options.scheduler);
  plan.softmaxEpilogue = options.epilogue == EpilogueChoice::Auto
                             ? plan.causal
                             : options.epilogue == EpilogueChoice::Softmax;

  plan.softmaxRegisters = options.softmaxRegisters;
  plan.correctionRegisters = options.correctionRegisters;
  plan.otherRegisters = options.otherRegisters;
  plan.kvStages = options.kvStages != 0 ? options.kvStages
                  : plan.headDim == 128 ? 3
                                        : 6;
  plan.fragmentColumns = options.fragmentWidth;
  plan.firstSegment = options.pSplit != 0 ? options.pSplit
                      : plan.causal       ? 64
                                          : 96;
  plan.epilogueChunk = options.epilogueChunk;
  plan.rescaleChunk = options.rescaleChunk;
  plan.polyPairs = options.polyPairs == -1 ? 2 : options.polyPairs;
  plan.polyOf = options.polyOf;
  plan.polyBegin = plan.causal ? 0 : 32;
  plan.polyEnd = 96;
  plan.threshold = static_cast<float>(options.rescaleThreshold);

  // With one slot the MMA role would wait for K while it still holds V.
  if (failed(checkRange(op, "kv-stages", plan.kvStages, 2, 64,
                        ", as K and V are held together")) ||
      failed(checkFragments(op, plan)) ||
      failed(checkThreshold(op, options.rescaleThreshold)) ||
      failed(checkChunk(op, "epilogue-chunk", plan.epilogueChunk, 8)) ||
      failed(checkChunk(op, "rescale-chunk", plan.rescaleChunk, 2)) ||
      failed(checkRegisters(op, plan)) ||
      failed(checkRowsInRegisters(op, plan)) ||
      failed(checkSharedMemory(op, plan)) ||
      failed(checkTensorMemory(op, plan)))
    return failure();
  return plan;
}
