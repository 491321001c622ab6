// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlines each fa4.attention into a kernel that holds its schedule.

#include "Hopper/Hopper.h"
#include "Schedule.h"

#include "fa4/Analysis/DeriveContracts.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_SCHEDULEATTENTION
#include "fa4/Transforms/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

static constexpr StringLiteral kTargetName = "fa4.target";

/// The target of the innermost module around `op` that names one, or
/// `fallback`.
static FailureOr<TargetAttr> findTarget(AttentionOp op, TargetAttr fallback) {
  for (auto module = op->getParentOfType<ModuleOp>(); module;
       module = module->getParentOfType<ModuleOp>()) {
    Attribute attr = module->getAttr(kTargetName);
    if (!attr)
      continue;
    if (auto target = dyn_cast<TargetAttr>(attr))
      return target;
    return module.emitError() << "expected '" << kTargetName
                              << "' to be a #fa4.target, but got " << attr;
  }
  return fallback;
}

namespace {

/// A kernel that is already there, and what it was built from.
struct BuiltKernel {
  Operation *symbolTable;
  SmallVector<Type> types;
  TargetAttr target;
  bool causal;
  ScalePlan scale;
  StringAttr name;

  /// Whether `op`, for `chosen` with the same options, is the same kernel.
  bool computes(AttentionOp op, Operation *table, TargetAttr chosen) const {
    return symbolTable == table &&
           TypeRange(types) == TypeRange(op->getOperandTypes()) &&
           target == chosen && causal == op.getCausal() &&
           scale == planScale(op);
  }
};

/// Replaces attentions by launches of kernels, which it builds as it needs
/// them.
class Outliner {
public:
  Outliner(const ScheduleAttentionOptions &options, TargetAttr fallback)
      : options(options), fallback(fallback) {}

  LogicalResult outline(AttentionOp op);

private:
  using BuildKernel = llvm::unique_function<FailureOr<KernelOp>(
      OpBuilder &, StringRef, FunctionType)>;
  /// Plans the kernel of `op`, and gives what builds it.
  FailureOr<BuildKernel> planKernel(AttentionOp op, TargetAttr target);
  FailureOr<StringAttr> addKernel(AttentionOp op, FunctionOpInterface function,
                                  TargetAttr target, BuildKernel build);

  const ScheduleAttentionOptions &options;
  /// The target where no module names one.
  TargetAttr fallback;
  SymbolTableCollection symbolTables;
  SmallVector<BuiltKernel> kernels;
};

struct ScheduleAttentionPass
    : public fa4::impl::ScheduleAttentionBase<ScheduleAttentionPass> {
  using Base::Base;

  void runOnOperation() override {
    TargetAttr fallback = TargetAttr::getForChip(&getContext(), chip);
    if (!fallback) {
      getOperation().emitError()
          << "unknown chip '" << chip << "', expected one of "
          << TargetAttr::getKnownChips();
      return signalPassFailure();
    }
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    ScheduleAttentionOptions options = chosenOptions();
    Outliner outliner(options, fallback);
    // Every attention is reported on, not only the first that does not fit.
    bool failed = false;
    for (AttentionOp op : ops)
      failed |= mlir::failed(outliner.outline(op));
    if (failed)
      signalPassFailure();
  }

private:
  ScheduleAttentionOptions chosenOptions() const;
};

} // namespace

ScheduleAttentionOptions ScheduleAttentionPass::chosenOptions() const {
  ScheduleAttentionOptions options;
  options.chip = chip;
  options.softmaxRegisters = softmaxRegisters;
  options.correctionRegisters = correctionRegisters;
  options.otherRegisters = otherRegisters;
  options.kvStages = kvStages;
  options.polyPairs = polyPairs;
  options.polyOf = polyOf;
  options.rescaleThreshold = rescaleThreshold;
  options.pSplit = pSplit;
  options.statsGranularity = statsGranularity;
  options.groupPacking = groupPacking;
  options.scheduler = scheduler;
  options.epilogue = epilogue;
  options.fragmentWidth = fragmentWidth;
  options.epilogueChunk = epilogueChunk;
  options.rescaleChunk = rescaleChunk;
  options.consumers = consumers;
  options.consumerRegisters = consumerRegisters;
  options.tileKeys = tileKeys;
  options.turns = turns;
  options.lookAhead = lookAhead;
  return options;
}

LogicalResult Outliner::outline(AttentionOp op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function || !isa_and_nonnull<ModuleOp>(function->getParentOp()) ||
      SymbolTable::getNearestSymbolTable(op) != function->getParentOp())
    return op.emitOpError(
        "expected to lie in a function at the top level of a module");
  if (op->getParentOfType<gpu::LaunchOp>())
    return op.emitOpError("expected to lie in host code, not in 'gpu.launch'");
  FailureOr<TargetAttr> target = findTarget(op, fallback);
  if (failed(target))
    return failure();
  FailureOr<BuildKernel> build = planKernel(op, *target);
  if (failed(build))
    return failure();
  // Nothing to write, and no tensor map describes an empty tensor.
  if (op.getBatch() == 0 || op.getQueryLength() == 0 ||
      op.getQueryHeads() == 0) {
    op.erase();
    return success();
  }

  Operation *table = function->getParentOp();
  auto known = llvm::find_if(kernels, [&](const BuiltKernel &kernel) {
    return kernel.computes(op, table, *target);
  });
  FailureOr<StringAttr> name =
      known != kernels.end()
          ? known->name
          : addKernel(op, function, *target, std::move(*build));
  if (failed(name))
    return failure();
  OpBuilder builder(op);
  LaunchOp::create(builder, op.getLoc(), FlatSymbolRefAttr::get(*name),
                   op->getOperands());
  op.erase();
  return success();
}

/// Builds what each role does, and derives what they owe each other.
static FailureOr<KernelOp> buildTcgen05Kernel(OpBuilder &builder, Location loc,
                                              StringRef name, FunctionType type,
                                              const Plan &plan) {
  Schedule schedule = buildFrame(builder, loc, name, type, plan);
  buildSoftmaxRole(schedule);
  buildCorrectionRole(schedule);
  buildMmaRole(schedule);
  buildLoadRole(schedule);
  buildStoreRole(schedule);
  buildIdleRole(schedule);
  closeFrame(schedule);
  if (failed(deriveContracts(schedule.kernel, plan.statsPerWarp))) {
    schedule.kernel.erase();
    return failure();
  }
  return schedule.kernel;
}

FailureOr<Outliner::BuildKernel> Outliner::planKernel(AttentionOp op,
                                                      TargetAttr target) {
  if (failed(checkAttention(op)))
    return failure();
  Location loc = op.getLoc();
  if (target.getMma() == MMAFlavour::WGMMA) {
    FailureOr<HopperPlan> plan = planHopper(op, target, options);
    if (failed(plan))
      return failure();
    return BuildKernel(
        [=](OpBuilder &builder, StringRef name, FunctionType type) {
          return buildHopperKernel(builder, loc, name, type, *plan);
        });
  }
  FailureOr<Plan> plan = planSchedule(op, target, options);
  if (failed(plan))
    return failure();
  return BuildKernel(
      [=](OpBuilder &builder, StringRef name, FunctionType type) {
        return buildTcgen05Kernel(builder, loc, name, type, *plan);
      });
}

/// Builds the kernel of `op` before `function` and returns its name.
FailureOr<StringAttr> Outliner::addKernel(AttentionOp op,
                                          FunctionOpInterface function,
                                          TargetAttr target,
                                          BuildKernel build) {
  Operation *table = function->getParentOp();
  OpBuilder builder(op.getContext());
  auto type = builder.getFunctionType(op->getOperandTypes(), {});
  FailureOr<KernelOp> kernel =
      build(builder, (function.getName() + "_attention").str(), type);
  if (failed(kernel))
    return failure();
  StringAttr name = symbolTables.getSymbolTable(table).insert(
      *kernel, function->getIterator());
  kernels.push_back({table, llvm::to_vector(op->getOperandTypes()), target,
                     op.getCausal(), planScale(op), name});
  return name;
}
