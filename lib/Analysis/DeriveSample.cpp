// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the roles do to tiles when nothing holds them up, and where each access
// stands in the sequential reading of the schedule.

#include "Derive.h"
#include "fa4/Analysis/DeriveContracts.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

BarrierOp fa4::declareCopyBarrier(OpBuilder &builder, AllocOp ring,
                                  FlatSymbolRefAttr role) {
  RingType type = ring.getRing().getType();
  auto arrival = ArrivalAttr::get(builder.getContext(), role, Engine::Bytes,
                                  type.getTileBytes());
  return BarrierOp::create(
      builder, ring.getLoc(), BarrierType::get(builder.getContext()),
      (ring.getName() + "_full").str(), /*named=*/false, type.getSlots(),
      /*perWarp=*/false, builder.getArrayAttr({arrival}),
      /*initiallyFree=*/false, /*at=*/IntegerAttr());
}

LogicalResult protocol::stripContracts(KernelOp kernel) {
  SmallVector<Operation *> gone;
  kernel.walk([&](Operation *op) {
    if (isa<WaitOp, ArriveOp>(op))
      gone.push_back(op);
  });
  for (Operation *op : gone)
    op->erase();
  // Cursors that only the waits behind the last task moved.
  gone.clear();
  kernel.walk([&](NextOp next) {
    if (next.getSlot().use_empty() && !next->getParentOfType<ForTaskOp>())
      gone.push_back(next);
  });
  for (Operation *op : gone)
    op->erase();

  // A copy says by a barrier that it has landed: one for each ring and role.
  SmallVector<Operation *> old(kernel.getBody().getOps<BarrierOp>().begin(),
                               kernel.getBody().getOps<BarrierOp>().end());
  llvm::MapVector<std::pair<Value, Operation *>, BarrierOp> full;
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) { loads.push_back(load); });
  for (LoadOp load : loads) {
    auto role = load->getParentOfType<RoleOp>();
    BarrierOp &barrier = full[{load.getRing(), role}];
    if (!barrier) {
      auto alloc = load.getRing().getDefiningOp<AllocOp>();
      if (!alloc)
        return load.emitOpError(
            "incomplete: expected a ring that 'fa4.alloc' makes");
      OpBuilder builder(alloc);
      if (!old.empty())
        builder.setInsertionPoint(old.front());
      else
        builder.setInsertionPointAfter(alloc);
      barrier = declareCopyBarrier(
          builder, alloc, FlatSymbolRefAttr::get(role.getSymNameAttr()));
    }
    load.getBarrierMutable().assign(barrier.getBarrier());
    load.getBarrierSlotMutable().assign(load.getSlot());
  }
  for (Operation *op : old)
    op->erase();
  return success();
}

Value protocol::getSlotOperand(Operation *op, unsigned touched) {
  if (auto mma = dyn_cast<MmaOp>(op))
    return touched == 0   ? mma.getASlot()
           : touched == 1 ? mma.getBSlot()
                          : mma.getDSlot();
  if (auto mma = dyn_cast<WarpgroupMmaOp>(op))
    return touched == 0 && mma.getASlot() ? mma.getASlot() : mma.getBSlot();
  return TypeSwitch<Operation *, Value>(op)
      .Case<LoadOp, StoreOp, ReadTileOp, WriteTileOp, RescaleOp, PublishOp,
            CollectOp>([](auto op) { return op.getSlot(); })
      .Default([](Operation *) { return Value(); });
}

namespace {
class Sampler final : public Observer {
public:
  explicit Sampler(const Program &program) : program(program) {
    sample.byAgent.resize(program.agents.size());
  }

  Sample sample;

  void next(const Occurrence &here, int32_t ring) override {
    moved[{here.agent, program.sites[here.site]}] =
        ++cursors[{here.agent, ring}];
  }
  void access(const Access &access, int32_t slot, const Record &record,
              const int32_t *knowledge, bool async) override;

private:
  const Program &program;
  std::map<std::pair<int32_t, int32_t>, int32_t> cursors;
  std::map<std::pair<int32_t, Operation *>, int32_t> moved;
  Mark issued;
};
} // namespace

void Sampler::access(const Access &access, int32_t slot, const Record &record,
                     const int32_t *knowledge, bool async) {
  std::vector<Step> &steps = sample.steps;
  if (steps.empty() || record.issued.component != issued.component ||
      record.issued.index != issued.index) {
    std::vector<int32_t> &own = sample.byAgent[record.by.agent];
    Step step{program.sites[record.by.site],
              record.by.agent,
              static_cast<int32_t>(own.size()),
              record.by.when,
              {},
              {},
              {}};
    own.push_back(steps.size());
    steps.push_back(std::move(step));
    issued = record.issued;
  }
  Step &step = steps.back();
  Value operand = getSlotOperand(step.op, step.touched.size());
  auto cursor = operand ? operand.getDefiningOp<NextOp>() : NextOp();
  step.touched.push_back({&access, slot, access.reads, access.writes});
  step.versions.push_back(cursor ? moved[{step.agent, cursor}] : -1);
}

static int32_t getRank(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op))
    return mma.getTransposeB() ? kScores : kProduct;
  if (auto mma = dyn_cast<WarpgroupMmaOp>(op))
    return mma.getTransposeB() ? kScores : kProduct;
  if (auto write = dyn_cast<WriteTileOp>(op))
    return write.getRing().getType().getSpace() == MemorySpace::TMEM ? kWeights
                                                                     : kStage;
  return isa<LoadOp>(op)       ? kLoad
         : isa<ReadTileOp>(op) ? kRead
         : isa<PublishOp>(op)  ? kPublish
         : isa<CollectOp>(op)  ? kCollect
         : isa<RescaleOp>(op)  ? kRescale
                               : kStore;
}

/// The block that an op outside of the loops over blocks belongs to: the first,
/// or behind the last.
static int32_t getOuterBlock(Operation *op, int32_t blocks) {
  auto task = op->getParentOfType<ForTaskOp>();
  Operation *inTask = task.getBody().front().findAncestorOpInBlock(*op);
  auto loops = task.getBody().front().getOps<ForKvOp>();
  if (loops.empty())
    return isa<LoadOp>(op) ? 1 : blocks + 1;
  return inTask->isBeforeInBlock(*loops.begin()) ? 1 : blocks + 1;
}

namespace {
/// Gives each step its place.
class Placer {
public:
  Placer(Sample &sample, ArrayRef<int32_t> blocks)
      : sample(sample), blocks(blocks) {}

  LogicalResult run();

private:
  LogicalResult placeMma(Step &step);

  Sample &sample;
  ArrayRef<int32_t> blocks; ///< By task.
  /// Loads by ring and value of the cursor.
  std::map<std::pair<int32_t, int32_t>, Place> loads;
};
} // namespace

/// An MMA works on the block of its K or V.
LogicalResult Placer::placeMma(Step &step) {
  // B is read last, but for the accumulator of an MMA in tensor memory.
  size_t b = isa<MmaOp>(step.op) ? 1 : step.touched.size() - 1;
  auto load = loads.end();
  if (b < step.touched.size() && step.versions[b] >= 0)
    load = loads.find({step.touched[b].access->ring, step.versions[b]});
  if (load == loads.end())
    return step.op->emitOpError(
        "incomplete: expected K or V in a ring that 'fa4.next' moves, in the "
        "order of its loads");
  step.place = {load->second.task, load->second.block, getRank(step.op)};
  return success();
}

LogicalResult Placer::run() {
  for (Step &step : sample.steps) {
    if (!step.op->getParentOfType<ForTaskOp>())
      return step.op->emitOpError(
          "incomplete: expected it in a loop over tasks, to derive contracts");
    if (isa<MmaOp, WarpgroupMmaOp>(step.op))
      continue;
    int32_t task = step.when.task, block = step.when.block;
    if (block == 0 || !step.op->getParentOfType<ForKvOp>())
      block = getOuterBlock(step.op, blocks[task - 1]);
    step.place = {task, block, getRank(step.op)};
    if (isa<LoadOp>(step.op) && step.versions[0] >= 0)
      loads[{step.touched[0].access->ring, step.versions[0]}] = step.place;
  }
  for (Step &step : sample.steps)
    if (isa<MmaOp, WarpgroupMmaOp>(step.op) && failed(placeMma(step)))
      return failure();
  return success();
}

FailureOr<Sample> protocol::takeSample(const Program &program) {
  Sampler sampler(program);
  Machine machine(program);
  machine.observer = &sampler;
  if (!program.hasTasks)
    return KernelOp(program.kernel)
               .emitOpError("incomplete: expected a loop over tasks, to derive "
                            "contracts"),
           failure();
  constexpr int32_t maxSlots = 256;
  int32_t slots = 0;
  for (const Ring &ring : program.rings) {
    if (ring.slots > maxSlots)
      return AllocOp(ring.op).emitOpError()
             << "incomplete: expected at most " << maxSlots
             << " slots, to derive contracts, but got " << ring.slots;
    slots = std::max(slots, ring.slots);
  }
  // Tasks of one block and of more, masked and not, and one in which each ring
  // goes round by itself.
  SmallVector<int32_t> blocks = {3, 1, 2, 5, 2, 1, 2 * slots + 2, 3, 6};
  SmallVector<int32_t> masked = {1, 0, 0, 2, 1, 0, 3, 2, 1};
  if (!program.hasBlocks)
    blocks.assign(slots + 4, 1), masked.assign(slots + 4, 0);
  machine.run();
  for (size_t task = 0; task < blocks.size() && !machine.fault; ++task) {
    if (task != 0)
      machine.decide(Decision::Task);
    for (int32_t block = 1; block < blocks[task]; ++block)
      machine.decide(program.splitsMasked && block <= masked[task]
                         ? Decision::Masked
                         : Decision::Unmasked);
  }
  machine.decide(Decision::End);
  if (machine.fault)
    return KernelOp(program.kernel)
               .emitOpError("incomplete: expected slots that follow from the "
                            "text, to derive contracts"),
           failure();
  if (failed(Placer(sampler.sample, blocks).run()))
    return failure();
  return std::move(sampler.sample);
}
