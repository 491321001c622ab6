// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handoffs as barriers, waits and arrivals in the text.

#include "Derive.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// Ids of named barriers that a kernel has for its own.
static constexpr int64_t kNamedBarriers = 15;

namespace {
class Placer {
public:
  Placer(const Program &program, const std::vector<Handoff> &handoffs,
         bool perWarp)
      : program(program), handoffs(handoffs), perWarp(perWarp),
        builder(KernelOp(program.kernel).getContext()) {}

  void run();

private:
  void merge();
  void nameContracts();
  void declare(Contract &contract);
  void addWaits(const Contract &contract);
  void addArrivals(const Handoff &handoff, Value barrier);
  void drain(const Contract &contract);
  Operation *getCompletion(Operation *op, bool async);

  RoleOp getRole(int32_t role) const { return program.roles[role].op; }
  AllocOp getRing(const Handoff &handoff) const {
    return program.rings[handoff.ring].op;
  }

  const Program &program;
  const std::vector<Handoff> &handoffs;
  bool perWarp;
  OpBuilder builder;
  std::vector<Contract> contracts;
  std::vector<Value> barriers;
  int64_t named = 0;
};
} // namespace

/// Handoffs of different roles that are waited for at the same points, phase by
/// phase, need one barrier that counts all.
void Placer::merge() {
  for (const Handoff &handoff : handoffs) {
    auto same = llvm::find_if(contracts, [&](const Contract &contract) {
      const Handoff &other = *contract.parts.front();
      return handoff.fromRank != kLoad && other.fromRank != kLoad &&
             handoff.to == other.to && handoff.free == other.free &&
             handoff.waits.size() == other.waits.size() &&
             program.rings[handoff.ring].slots ==
                 program.rings[other.ring].slots &&
             llvm::all_of(handoff.waits,
                          [&](const Point &point) {
                            return llvm::is_contained(other.waits, point);
                          }) &&
             llvm::none_of(contract.parts, [&](const Handoff *part) {
               return part->from == handoff.from;
             });
    });
    if (same == contracts.end())
      contracts.push_back({{&handoff}, ""});
    else
      same->parts.push_back(&handoff);
  }
}

void Placer::nameContracts() {
  llvm::StringSet<> taken;
  for (Contract &contract : contracts) {
    std::string name;
    for (const Handoff *part : contract.parts)
      name += (getRing(*part).getName() + "_").str();
    name += contract.parts.front()->flow ? "full" : "empty";
    contract.name = name;
    for (int64_t number = 2; !taken.insert(contract.name).second; ++number)
      contract.name = name + "_" + std::to_string(number);
    // Between two warpgroups, one of the hardware's own barriers does.
    const Handoff &part = *contract.parts.front();
    int64_t slots = program.rings[part.ring].slots * (perWarp ? 4 : 1);
    contract.named = contract.parts.size() == 1 && !part.free &&
                     getRole(part.from).getThreads() == 128 &&
                     getRole(part.to).getThreads() == 128 &&
                     named + slots <= kNamedBarriers;
    if (contract.named)
      named += slots;
  }
}

void Placer::declare(Contract &contract) {
  MLIRContext *context = builder.getContext();
  const Handoff &first = *contract.parts.front();
  if (first.fromRank == kLoad) {
    barriers.push_back(cast<LoadOp>(first.arrivals.front().op).getBarrier());
    return;
  }
  SmallVector<Attribute> arrivals;
  bool inPairs = contract.named && perWarp;
  auto add = [&](int32_t role, Engine engine, int64_t count) {
    arrivals.push_back(ArrivalAttr::get(
        context, FlatSymbolRefAttr::get(getRole(role).getSymNameAttr()), engine,
        count));
  };
  for (const Handoff *part : contract.parts) {
    if (part->commits)
      add(part->from, Engine::Commit, 1);
    else
      add(part->from, Engine::Threads,
          inPairs ? 32 : getRole(part->from).getThreads());
  }
  if (contract.named)
    add(first.to, Engine::Threads,
        inPairs ? 32 : getRole(first.to).getThreads());
  auto barrier = BarrierOp::create(
      builder, getRing(first).getLoc(), BarrierType::get(context),
      contract.name, contract.named, program.rings[first.ring].slots, inPairs,
      builder.getArrayAttr(arrivals), first.free,
      /*at=*/IntegerAttr());
  barriers.push_back(barrier.getBarrier());
}

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

void Placer::addArrivals(const Handoff &handoff, Value barrier) {
  bool async =
      isa<LoadOp, StoreOp, MmaOp, WarpgroupMmaOp>(handoff.waits.front().op);
  for (const Point &point : handoff.arrivals) {
    Operation *behind = getCompletion(point.op, async);
    while (isa_and_nonnull<ArriveOp>(behind->getNextNode()))
      behind = behind->getNextNode();
    builder.setInsertionPointAfter(behind);
    ArriveOp::create(builder, point.op->getLoc(), barrier, point.slot);
  }
}

void Placer::addWaits(const Contract &contract) {
  for (const Point &point : contract.parts.front()->waits) {
    builder.setInsertionPoint(point.op);
    WaitOp::create(builder, point.op->getLoc(),
                   barriers[&contract - contracts.data()], point.slot);
  }
}

/// A commit that nothing waits for may come when the block has ended: who waits
/// for the others waits for the last ones, behind its tasks.
void Placer::drain(const Contract &contract) {
  const Handoff &first = *contract.parts.front();
  if (!first.free || llvm::none_of(contract.parts, [&](const Handoff *part) {
        return part->commits;
      }))
    return;
  Location loc = getRing(first).getLoc();
  Value barrier = barriers[&contract - contracts.data()];
  builder.setInsertionPointToEnd(&getRole(first.to).getBody().front());
  if (first.cursor) {
    Value ring = getRing(first).getRing();
    for (int32_t i = 0; i < program.rings[first.ring].slots; ++i) {
      auto next = NextOp::create(builder, loc, ring);
      WaitOp::create(builder, loc, barrier, next.getSlot());
    }
    return;
  }
  SmallVector<Value> slots;
  for (const Point &point : first.waits)
    if (!llvm::is_contained(slots, point.slot))
      slots.push_back(point.slot);
  for (Value slot : slots)
    WaitOp::create(builder, loc, barrier, slot);
}

void Placer::run() {
  merge();
  nameContracts();
  // Barriers stand where those of the copies do, before the set-up.
  KernelOp kernel = program.kernel;
  auto old = kernel.getBody().getOps<BarrierOp>();
  if (!old.empty()) {
    Operation *last = nullptr;
    for (BarrierOp barrier : old)
      last = barrier;
    builder.setInsertionPointAfter(last);
  } else if (!program.rings.empty()) {
    Operation *last = nullptr;
    kernel.getBodyBlock()->walk([&](Operation *op) {
      if (isa<AllocOp, AliasOp>(op))
        last = op;
    });
    builder.setInsertionPointAfter(last);
  }
  for (Contract &contract : contracts)
    declare(contract);
  for (auto [contract, barrier] : llvm::zip(contracts, barriers)) {
    addWaits(contract);
    for (const Handoff *part : contract.parts)
      if (part->fromRank != kLoad)
        addArrivals(*part, barrier);
    drain(contract);
  }
}

void protocol::placeContracts(const Program &program,
                              const std::vector<Handoff> &handoffs,
                              bool perWarp) {
  Placer(program, handoffs, perWarp).run();
}
