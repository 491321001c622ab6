// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutants that are as good as the schedule, and why.

#include "Verdict.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::mutation;

namespace {
constexpr Rule kTwice = {"twice",
                         "who waits or fences again finds nothing left to do"};
constexpr Rule kAgain = {"again",
                         "the same is read or written once more, by "
                         "whom and when it is read and written anyway"};
constexpr Rule kUnused = {"unused slot", "nobody names the slot"};
constexpr Rule kLonger = {"longer wait", "waiting for both covers the one"};
constexpr Rule kWarp = {"any warp",
                        "the block waits for whichever warp does it"};
constexpr Rule kUnder = {"P elsewhere",
                         "softmax has read all of S by then, and "
                         "P lies within the columns of S"};
constexpr Rule kElsewhere = {"another role waits",
                             "the role hands on what it knows before the other "
                             "touches the buffer"};
constexpr Rule kLastStore = {
    "last store", "the role of the stores arrives there when it has waited for "
                  "all of them"};
constexpr Rule kRegisters = {
    "registers", "warned: consumed registers were read, though PTX promises "
                 "that behind the wait only"};
constexpr Rule kWaits = {"two waits", "what follows still follows both"};
constexpr Rule kArrivals = {"two arrivals",
                            "both still follow what came before"};
constexpr Rule kCursor = {
    "cursor", "a cursor is the role's own, and the op names another "
              "of its slots"};
constexpr Rule kLateArrival = {
    "late arrival", "it says more, and nothing that it lets go on is "
                    "needed in between"};
constexpr Rule kEarlyWait = {"early wait",
                             "what it waits for does not need the op"};
constexpr Rule kLateWait = {"late wait",
                            "the op does not touch what the wait is for"};
constexpr Rule kColumns = {"columns", "the two touch different columns"};
constexpr Rule kMailbox = {"mailbox", "the sender's next message comes behind "
                                      "a later arrival of the reader too"};
constexpr Rule kTwoMailboxes = {"two mailboxes",
                                "both are announced and given back together"};
constexpr Rule kLse = {"LSE", "it goes from registers to memory of its own"};
constexpr Rule kTwoSlots = {
    "two slots", "of two slots K is always in the first and V in the second, "
                 "and the last V waits for all but the last product with K"};
constexpr Rule kTurn = {"turn", "whose products come first is a matter of "
                                "speed, not of what they touch"};
constexpr Rule kSetUp = {"set-up",
                         "the two have nothing to do with each other"};
} // namespace

static bool isLoadWait(Operation *op) {
  auto wait = dyn_cast<TmemWaitOp>(op);
  return wait && wait.getAccess() == TmemAccess::Load;
}

/// Whether the ring of K and V has two slots only.
static bool hasTwoSlots(Operation *op) {
  for (auto alloc : op->getParentOfType<KernelOp>().getBody().getOps<AllocOp>())
    if (alloc.getName() == "kv")
      return alloc.getRing().getType().getSlots() == 2;
  return false;
}

/// The barrier that a wait or an arrival names.
static BarrierOp getBarrier(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  auto arrive = dyn_cast<ArriveOp>(op);
  Value barrier = wait     ? wait.getBarrier()
                  : arrive ? arrive.getBarrier()
                           : Value();
  return barrier ? barrier.getDefiningOp<BarrierOp>() : BarrierOp();
}

/// Of a wait or an arrival: whether it hands a turn on.
static bool isTurn(Operation *op) {
  BarrierOp barrier = getBarrier(op);
  return barrier && barrier.getName().starts_with("turn_");
}

/// Whether the role waits for its turn behind another role, which has waited
/// for the same tiles by then.
static bool waitsForTurn(Operation *op) {
  auto role = op->getParentOfType<RoleOp>();
  return role
      ->walk([](WaitOp wait) {
        return isTurn(wait) && !getBarrier(wait).getInitiallyFree()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static const Rule *findSwapRule(Operation *first, Operation *second) {
  if (isLoadWait(first) || isLoadWait(second))
    return &kRegisters;
  if ((isTurn(first) && isa<WarpgroupMmaOp>(second)) ||
      (isTurn(second) && isa<WarpgroupMmaOp>(first)))
    return &kTurn;
  if (isa<WaitOp>(first) && isa<WarpgroupMmaOp>(second) && waitsForTurn(first))
    return &kElsewhere;
  if (isa<InitBarriersOp>(first) && isa<TmemAcquireOp, BarrierOp>(second))
    return &kSetUp;
  if (isa<NextOp>(first) || isa<NextOp>(second))
    return &kCursor;
  if (isa<WaitOp>(first))
    return isa<WaitOp>(second)               ? &kWaits
           : isa<ReadTileOp, LoadOp>(second) ? &kLateWait
                                             : nullptr;
  if (isa<CollectOp>(first) && isa<ArriveOp>(second))
    return &kMailbox;
  if (isa<PublishOp>(first) && isa<PublishOp>(second))
    return &kTwoMailboxes;
  if (isa<CollectOp>(first) && isa<CollectOp>(second))
    return &kTwoMailboxes;
  if (isa<StoreLseOp>(first) || isa<StoreLseOp>(second))
    return &kLse;
  if (isa<ArriveOp>(first) && isa<ForKvOp>(second))
    return hasTwoSlots(first) ? &kTwoSlots : nullptr;
  if (isa<ArriveOp>(first)) {
    if (isa<ArriveOp>(second))
      return &kArrivals;
    return isa<WaitOp, StoreWaitOp, MmaOp, WriteTileOp, RescaleOp,
               WarpgroupMmaOp, WarpgroupWaitOp>(second)
               ? &kLateArrival
               : nullptr;
  }
  if (isa<WaitOp>(second))
    return isa<LoadOp, StoreOp, MmaOp>(first) ? &kEarlyWait : nullptr;
  if (isa<ReadTileOp, WriteTileOp>(first) &&
      isa<ReadTileOp, WriteTileOp>(second))
    return &kColumns;
  return nullptr;
}

const Rule *mutation::findRule(const Mutant &mutant) {
  Operation *op = mutant.op;
  StringRef kind = mutant.kind;
  if (kind == "swap")
    return findSwapRule(op, mutant.other);
  if (kind == "delete" || (kind == "role" && isLoadWait(op)))
    return isLoadWait(op) ? &kRegisters : nullptr;
  if (kind == "duplicate") {
    if (isa<FenceOp, TmemWaitOp, StoreWaitOp, CtaSyncOp>(op))
      return &kTwice;
    return isa<ReadTileOp, WriteTileOp, CollectOp, PublishOp, MmaOp>(op)
               ? &kAgain
               : nullptr;
  }
  if (kind == "count") {
    if (isa<StoreWaitOp, WarpgroupWaitOp>(op))
      return &kLonger;
    return StringRef(mutant.detail).starts_with("slots") ? &kUnused : nullptr;
  }
  if (kind == "flag")
    return isa<InitBarriersOp, TmemAcquireOp, TmemReleaseOp>(op) ? &kWarp
                                                                 : nullptr;
  if (kind == "geometry")
    return &kUnder;
  BarrierOp barrier = isa<WaitOp>(op) ? getBarrier(op) : BarrierOp();
  bool staging = barrier && barrier.getName() == "o_empty";
  bool query = barrier && barrier.getName() == "q_full" && waitsForTurn(op);
  if (kind == "role")
    return staging || query ? &kElsewhere : nullptr;
  if (kind == "slot" && staging)
    return &kLastStore;
  if (kind == "slot" && isa<MmaOp, LoadOp, ArriveOp>(op))
    return hasTwoSlots(op) ? &kTwoSlots : nullptr;
  return nullptr;
}
