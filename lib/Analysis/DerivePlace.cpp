// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contracts as barriers, waits and arrivals in the text.

#include "Derive.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
class Placer {
public:
  Placer(const Program &program, const std::vector<Contract> &contracts,
         bool perWarp)
      : program(program), contracts(contracts), perWarp(perWarp),
        builder(KernelOp(program.kernel).getContext()) {}

  void run();

private:
  Value declare(const Contract &contract);
  ArrivalAttr getArrival(int32_t role, const Handoff &part, bool named) const;
  void addWaits(const Contract &contract, Value barrier);
  void addArrivals(const Contract &contract, Value barrier);
  void drain(const Contract &contract, Value barrier);
  Operation *getCompletion(Operation *op, bool async);
  Value getSlot(const Contract &contract, Value slot);

  RoleOp getRole(int32_t role) const { return program.roles[role].op; }
  AllocOp getRing(const Handoff &handoff) const {
    return program.rings[handoff.ring].op;
  }

  const Program &program;
  const std::vector<Contract> &contracts;
  bool perWarp;
  OpBuilder builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// The product of a role's own registers reads shared memory, and arrivals are
/// accesses to it: then one a warp is enough.
static int64_t countArrivals(RoleOp role) {
  bool multiplies =
      role.walk([](WarpgroupMmaOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return multiplies ? role.getThreads() / 32 : role.getThreads();
}

ArrivalAttr Placer::getArrival(int32_t role, const Handoff &part,
                               bool named) const {
  RoleOp op = getRole(role);
  Engine engine = Engine::Threads;
  int64_t count = countArrivals(op);
  if (named)
    count = perWarp ? 32 : op.getThreads();
  else if (part.commits)
    engine = Engine::Commit, count = 1;
  return ArrivalAttr::get(builder.getContext(),
                          FlatSymbolRefAttr::get(op.getSymNameAttr()), engine,
                          count);
}

Value Placer::declare(const Contract &contract) {
  const Handoff &first = *contract.parts.front();
  if (first.fromRank == kLoad) {
    auto load = cast<LoadOp>(first.arrivals.front().op);
    auto barrier = load.getBarrier().getDefiningOp<BarrierOp>();
    barrier.setName(contract.name);
    barrier->remove();
    builder.insert(barrier);
    return barrier.getBarrier();
  }
  SmallVector<Attribute> arrivals;
  for (const Handoff *part : contract.parts)
    if (part == &first || part->from != first.from)
      arrivals.push_back(getArrival(part->from, *part, contract.named));
  if (contract.named)
    arrivals.push_back(getArrival(first.to, first, /*named=*/true));
  return BarrierOp::create(builder, getRing(first).getLoc(),
                           BarrierType::get(builder.getContext()),
                           contract.name, contract.named, contract.slots.size(),
                           /*per_warp=*/contract.named && perWarp,
                           builder.getArrayAttr(arrivals), first.free,
                           /*at=*/IntegerAttr())
      .getBarrier();
}

/// The slot of the barrier that has one for a slot of the ring.
Value Placer::getSlot(const Contract &contract, Value slot) {
  if (static_cast<int32_t>(contract.slots.size()) ==
      contract.parts.front()->slots)
    return slot;
  // Only constants name some of the slots.
  int64_t index = llvm::find(contract.slots, *getConstantSlot(slot)) -
                  contract.slots.begin();
  KernelOp kernel = program.kernel;
  for (auto constant : kernel.getBody().getOps<arith::ConstantIndexOp>())
    if (constant.value() == index)
      return constant;
  OpBuilder atStart = OpBuilder::atBlockBegin(kernel.getBodyBlock());
  return arith::ConstantIndexOp::create(atStart, slot.getLoc(), index);
}

//===----------------------------------------------------------------------===//
// Arrivals and waits
//===----------------------------------------------------------------------===//

/// The op behind which an access is done, for who arrives in its role's name.
Operation *Placer::getCompletion(Operation *op, bool async) {
  bool tmem = isa<ReadTileOp>(op);
  if (auto write = dyn_cast<WriteTileOp>(op))
    tmem = write.getRing().getType().getSpace() == MemorySpace::TMEM;
  bool product = isa<WarpgroupMmaOp>(op);
  int64_t stores = 0, products = 0;
  auto completes = [&](Operation *next) {
    if (auto wait = dyn_cast<TmemWaitOp>(next))
      return tmem &&
             (wait.getAccess() == TmemAccess::Load) == isa<ReadTileOp>(op);
    if (auto wait = dyn_cast<WarpgroupWaitOp>(next))
      return product && static_cast<int64_t>(wait.getPending()) <= products;
    if (auto wait = dyn_cast<StoreWaitOp>(next))
      return isa<StoreOp>(op) &&
             static_cast<int64_t>(wait.getPending()) <= stores;
    return isa<FenceOp>(next) && !tmem && async;
  };
  bool needed = tmem || product || isa<StoreOp>(op) ||
                (async && isa<WriteTileOp, PublishOp, CollectOp>(op));
  if (!needed)
    return op;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    if (completes(next))
      return next;
    // Behind another access of the kind, the arrival would come late.
    bool another = next->getName() == op->getName();
    stores += isa<StoreOp>(next);
    products += isa<WarpgroupMmaOp>(next);
    if (next->getNumRegions() != 0 ||
        (another && !isa<StoreOp>(op) && !product))
      break;
  }
  // A product without a wait is refused by the proof.
  if (product)
    return op;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  if (isa<StoreOp>(op))
    return StoreWaitOp::create(builder, loc, 0);
  if (tmem)
    return TmemWaitOp::create(builder, loc,
                              isa<ReadTileOp>(op) ? TmemAccess::Load
                                                  : TmemAccess::Store);
  return FenceOp::create(builder, loc, FenceKind::AsyncShared);
}

void Placer::addArrivals(const Contract &contract, Value barrier) {
  SmallVector<Point> done;
  for (const Handoff *part : contract.parts) {
    if (part->fromRank == kLoad)
      continue;
    bool async =
        isa<LoadOp, StoreOp, MmaOp, WarpgroupMmaOp>(part->waits.front().op);
    for (const Point &point : part->arrivals) {
      if (llvm::is_contained(done, point))
        continue;
      done.push_back(point);
      Operation *behind = getCompletion(point.op, async);
      while (isa_and_nonnull<ArriveOp>(behind->getNextNode()))
        behind = behind->getNextNode();
      builder.setInsertionPointAfter(behind);
      ArriveOp::create(builder, point.op->getLoc(), barrier,
                       getSlot(contract, point.slot));
    }
  }
}

/// The last arrival behind a point, before the next of the points and on the
/// same path.
static Operation *getLastArrival(const Point &point, ArrayRef<Point> points) {
  Operation *last = point.op;
  for (Operation *next = last->getNextNode();
       next && next->getNumRegions() == 0 &&
       llvm::none_of(points,
                     [&](const Point &other) { return other.op == next; });
       next = next->getNextNode())
    if (isa<ArriveOp>(next))
      last = next;
  return last;
}

void Placer::addWaits(const Contract &contract, Value barrier) {
  SmallVector<Point> done;
  for (const Handoff *part : contract.parts)
    for (const Point &point : part->waits) {
      if (llvm::is_contained(done, point))
        continue;
      done.push_back(point);
      // Behind the access, nobody is to wait for this role longer for it.
      if (point.behind)
        builder.setInsertionPointAfter(getLastArrival(point, part->waits));
      else
        builder.setInsertionPoint(point.op);
      WaitOp::create(builder, point.op->getLoc(), barrier,
                     getSlot(contract, point.slot));
    }
}

/// A commit that nothing waits for may come when the block has ended: who waits
/// for the others waits for the last ones, behind its tasks.
void Placer::drain(const Contract &contract, Value barrier) {
  const Handoff &first = *contract.parts.front();
  if (!first.free || llvm::none_of(contract.parts, [&](const Handoff *part) {
        return part->commits;
      }))
    return;
  Location loc = getRing(first).getLoc();
  for (const Handoff *part : contract.parts) {
    if (part != &first && part->to == first.to)
      continue;
    builder.setInsertionPointToEnd(&getRole(part->to).getBody().front());
    if (first.cursor) {
      Value ring = getRing(first).getRing();
      for (int32_t i = 0; i < first.slots; ++i) {
        auto next = NextOp::create(builder, loc, ring);
        WaitOp::create(builder, loc, barrier, next.getSlot());
      }
      continue;
    }
    SmallVector<Value> slots;
    for (const Point &point : part->waits)
      if (!llvm::is_contained(slots, point.slot))
        slots.push_back(point.slot);
    for (Value slot : slots)
      WaitOp::create(builder, loc, barrier, getSlot(contract, slot));
  }
}

void Placer::run() {
  // Behind the storage and the barriers that only copies know.
  KernelOp kernel = program.kernel;
  Operation *last = nullptr;
  for (Operation &op : *kernel.getBodyBlock())
    if (isa<AllocOp, AliasOp, BarrierOp>(op))
      last = &op;
  if (!last)
    return;
  // Barriers move, and so might this one.
  builder.setInsertionPointAfter(last);
  if (Operation *next = last->getNextNode())
    builder.setInsertionPoint(next);
  std::vector<Value> barriers;
  for (const Contract &contract : contracts)
    barriers.push_back(declare(contract));
  // Data are handed on first, then tiles handed back.
  for (bool flow : {true, false})
    for (auto [contract, barrier] : llvm::zip(contracts, barriers))
      if (contract.parts.front()->flow == flow)
        addArrivals(contract, barrier);
  for (auto [contract, barrier] : llvm::zip(contracts, barriers))
    addWaits(contract, barrier);
  for (auto [contract, barrier] : llvm::zip(contracts, barriers))
    drain(contract, barrier);
}

void protocol::placeContracts(const Program &program,
                              const std::vector<Contract> &contracts,
                              bool perWarp) {
  Placer(program, contracts, perWarp).run();
}
