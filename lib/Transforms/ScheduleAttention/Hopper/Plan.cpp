// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Hopper.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

/// A choice is obeyed or refused: those that this schedule does not have must
/// have been left alone.
static LogicalResult
checkForeignOptions(AttentionOp op, TargetAttr target,
                    const ScheduleAttentionOptions &options) {
  const ScheduleAttentionOptions defaults;
  std::pair<StringRef, bool> changed[] = {
      {"softmax-registers",
       options.softmaxRegisters != defaults.softmaxRegisters},
      {"correction-registers",
       options.correctionRegisters != defaults.correctionRegisters},
      {"other-registers", options.otherRegisters != defaults.otherRegisters},
      {"p-split", options.pSplit != defaults.pSplit},
      {"stats-granularity",
       options.statsGranularity != defaults.statsGranularity},
      {"epilogue", options.epilogue != defaults.epilogue},
      {"fragment-width", options.fragmentWidth != defaults.fragmentWidth},
      {"epilogue-chunk", options.epilogueChunk != defaults.epilogueChunk},
      {"rescale-chunk", options.rescaleChunk != defaults.rescaleChunk}};
  for (auto [name, isChanged] : changed)
    if (isChanged)
      return op.emitOpError()
             << "expected '" << name << "' to be left alone: a schedule for '"
             << target.getChip() << "' has no such choice";
  return success();
}

static LogicalResult checkShape(AttentionOp op, const HopperPlan &plan) {
  if (plan.consumers != 2 && plan.consumers != 3)
    return op.emitOpError()
           << "expected 'consumers' to be 2 or 3, but got " << plan.consumers;
  int64_t keys = plan.tileKeys;
  if (keys < 16 || keys > 256 || keys % 16 != 0)
    return op.emitOpError() << "expected 'tile-keys' to be a multiple of 16 "
                               "from 16 to 256, but got "
                            << keys;
  if (plan.polyOf < 1 || keys / 2 % plan.polyOf != 0)
    return op.emitOpError()
           << "expected 'poly-of' to divide the " << keys / 2
           << " pairs of columns of a fragment, but got " << plan.polyOf;
  // Without a reference in the op NaN needs the special function unit.
  int64_t most = plan.lookAhead ? plan.polyOf - 1 : plan.polyOf;
  if (plan.polyPairs < 0 || plan.polyPairs > most)
    return op.emitOpError()
           << "expected 'poly-pairs' from 0 to " << most
           << (plan.lookAhead ? ", below the 'poly-of' with look-ahead"
                              : ", the 'poly-of'")
           << ", but got " << plan.polyPairs;
  if (plan.lookAhead && plan.turns)
    return op.emitOpError("expected 'turns' or 'look-ahead', but got both: "
                          "with look-ahead a consumer does not start its two "
                          "products together");
  // Each slot of K's and V's rings doubles the states that the proof looks at.
  if (plan.kvStages < 2 || plan.kvStages > 8)
    return op.emitOpError()
           << "expected 'kv-stages' from 2 to 8, as more slots "
              "of K and of V take the proof of the schedule "
              "too long, but got "
           << plan.kvStages;
  // Not a number fails every comparison.
  if (!(plan.threshold >= 0 && plan.threshold <= 15))
    return op.emitOpError()
           << "expected 'rescale-threshold' from 0 to 15, but got "
           << plan.threshold;
  return success();
}

/// S in f32 and O of a row's quarter, P in 16 bits beside them, and with
/// look-ahead exponents in f32.
static int64_t getLeastRegisters(const HopperPlan &plan) {
  int64_t needed = plan.tileKeys / 2 + plan.headDim / 2 + plan.tileKeys / 4;
  return plan.lookAhead ? needed + plan.tileKeys / 2 : needed;
}

static LogicalResult checkRegisters(AttentionOp op, const HopperPlan &plan) {
  int64_t value = plan.consumerRegisters;
  if (value % 8 != 0 || value < 24 || value > 256)
    return op.emitOpError() << "expected 'consumer-registers' to be a multiple "
                               "of 8 from 24 to 256, but got "
                            << value;
  int64_t needed = getLeastRegisters(plan);
  if (needed >= value)
    return op.emitOpError()
           << "expected 'consumer-registers' above " << needed << ", what S, P"
           << (plan.lookAhead ? ", O and exponents" : " and O")
           << " take of a thread with blocks of " << plan.tileKeys
           << " keys, but got " << value;
  int64_t threads = plan.warps() * kWarpThreads;
  int64_t atLaunch =
      std::min<int64_t>(plan.target.getRegisters() / threads / 8 * 8, 255);
  int64_t pool = atLaunch * threads;
  int64_t total =
      kWarpgroupThreads * (plan.consumers * value + plan.producerRegisters);
  if (total <= pool)
    return success();
  return op.emitOpError() << "expected register budgets of at most " << pool
                          << " registers in all, but got " << total << ", "
                          << total - pool << " too many: " << kWarpgroupThreads
                          << " x (" << plan.consumers << " x " << value
                          << " consumers + " << plan.producerRegisters
                          << " producer)";
}

namespace {
/// Bytes of shared memory. O is staged in as much as Q takes.
struct SharedMemory {
  explicit SharedMemory(const HopperPlan &plan)
      : q(plan.consumers * kWgmmaRows * plan.headDim * 2),
        block(plan.tileKeys * plan.headDim * 2), kv(2 * plan.kvStages * block),
        // q_full, q_empty, o_full, o_empty and turn: one a consumer; full and
        // empty of K and V: one a slot.
        barriers(8 *
                 ((plan.turns ? 5 : 4) * plan.consumers + 4 * plan.kvStages)) {}

  int64_t total() const { return 2 * q + kv + barriers; }

  int64_t q, block, kv, barriers;
};
} // namespace

static LogicalResult checkSharedMemory(AttentionOp op, const HopperPlan &plan) {
  SharedMemory bytes(plan);
  auto [q, block, kv, barriers] = bytes;
  int64_t total = bytes.total(), limit = plan.target.getSmemBytes();
  if (total <= limit)
    return success();
  return op.emitOpError() << "expected at most " << limit
                          << " bytes of shared memory, but got " << total
                          << ", " << total - limit << " too many: q " << q
                          << ", k and v " << kv << " (2 x " << plan.kvStages
                          << " x " << block << "), o_staging " << q
                          << ", barriers " << barriers;
}

namespace {
/// Tiles and order of a block, and the attentions that they are for.
struct Tiles {
  int64_t headDim;
  /// Whether only causal ones, or only others.
  std::optional<bool> causal;
  /// Least number of keys, and most tasks for each SM, where the types tell
  /// them; else the row is passed over unless both are 0.
  int64_t minKeys, maxTasksPerSM;
  int64_t consumers, tileKeys, kvStages;
  bool lookAhead;
};
} // namespace

/// Measured on an H200 (docs/performance.md); the first row that fits is taken.
static constexpr Tiles tilesByShape[] = {
    // Long blocks have fewer exchanges between threads, short ones less that a
    // causal mask hides, and registers to look ahead.
    {128, true, 8192, 0, 2, 160, 2, false},
    {128, std::nullopt, 0, 0, 2, 128, 2, true},
    // Few tasks fill the SMs better when they are small.
    {64, false, 0, 8, 2, 128, 4, true},
    {64, std::nullopt, 0, 0, 3, 128, 4, false},
};

/// The last row of a head dimension, which is for any shape.
static const Tiles &getUsual(int64_t headDim) {
  return *llvm::find_if(llvm::reverse(tilesByShape), [&](const Tiles &tiles) {
    return tiles.headDim == headDim;
  });
}

static const Tiles &pickTiles(AttentionOp op, TargetAttr target, int64_t pack) {
  int64_t keys = op.getKeyLength(), queries = op.getQueryLength();
  int64_t heads = op.getQueryHeads(), batch = op.getBatch();
  bool countsTasks = ShapedType::isStatic(queries) &&
                     ShapedType::isStatic(heads) && ShapedType::isStatic(batch);
  for (const Tiles &tiles : tilesByShape) {
    if (tiles.headDim != op.getHeadDim() ||
        (tiles.causal && *tiles.causal != op.getCausal()))
      continue;
    if (tiles.minKeys != 0 &&
        (ShapedType::isDynamic(keys) || keys < tiles.minKeys))
      continue;
    if (tiles.maxTasksPerSM != 0) {
      // In tiles of the row: products of sizes that a kernel can be launched
      // for stay below 2^63.
      double tasks = std::ceil(static_cast<double>(queries) * pack /
                               (tiles.consumers * kWgmmaRows)) *
                     (static_cast<double>(heads) / pack) * batch;
      if (!countsTasks || tasks > tiles.maxTasksPerSM * target.getSms())
        continue;
    }
    return tiles;
  }
  return getUsual(op.getHeadDim());
}

FailureOr<HopperPlan>
schedule::planHopper(AttentionOp op, TargetAttr target,
                     const ScheduleAttentionOptions &options) {
  if (failed(checkForeignOptions(op, target, options)))
    return failure();
  HopperPlan plan;
  plan.target = target;
  plan.causal = op.getCausal();
  plan.hasLse = static_cast<bool>(op.getLse());
  plan.headDim = op.getHeadDim();
  plan.scale = planScale(op);
  FailureOr<int64_t> pack = planPack(op, options.groupPacking, kWgmmaRows);
  if (failed(pack))
    return failure();
  plan.pack = *pack;
  const Tiles &tiles = pickTiles(op, target, plan.pack);
  // A choice of one leaves the others at what goes with it on any shape.
  bool chosen = options.consumers != 0 || options.tileKeys != 0 ||
                options.kvStages != 0 || options.consumerRegisters != 0;
  const Tiles &rest = chosen ? getUsual(plan.headDim) : tiles;
  plan.consumers = options.consumers != 0 ? options.consumers : rest.consumers;
  plan.tileKeys = options.tileKeys != 0 ? options.tileKeys : rest.tileKeys;
  plan.kvStages = options.kvStages != 0 ? options.kvStages : rest.kvStages;
  plan.turns = options.turns;
  plan.polyPairs = options.polyPairs == -1 ? 0 : options.polyPairs;
  plan.polyOf = options.polyOf;
  plan.consumerRegisters = options.consumerRegisters != 0
                               ? options.consumerRegisters
                           : plan.consumers == 2 ? 240
                                                 : 160;
  plan.lookAhead = options.lookAhead == LookAheadChoice::On;
  if (options.lookAhead == LookAheadChoice::Auto) {
    plan.lookAhead =
        rest.lookAhead && !plan.turns && plan.polyPairs < plan.polyOf;
    plan.lookAhead &= getLeastRegisters(plan) < plan.consumerRegisters;
  }
  plan.producerRegisters = plan.consumers == 2 ? 24 : 32;
  plan.threshold = static_cast<float>(options.rescaleThreshold);
  int64_t keys = op.getKeyLength();
  plan.maskFirst = plan.causal || ShapedType::isDynamic(keys) || keys == 0 ||
                   (plan.tileKeys > 0 && keys % plan.tileKeys != 0);
  plan.scheduler = planScheduler(plan.causal, options.scheduler);
  if (failed(checkShape(op, plan)))
    return failure();
  // Larger blocks leave room for fewer slots.
  while (options.kvStages == 0 && plan.kvStages > 2 &&
         SharedMemory(plan).total() > plan.target.getSmemBytes())
    --plan.kvStages;
  if (failed(checkRegisters(op, plan)) || failed(checkSharedMemory(op, plan)))
    return failure();
  return plan;
}
