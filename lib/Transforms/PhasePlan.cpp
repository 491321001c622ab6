// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PhasePlan.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fa4;

/// Slot key of a role's instance argument; constant slots are not negative.
static constexpr int64_t instanceSlot = -1;

static std::string getRingName(Value ring) {
  while (auto alias = ring.getDefiningOp<AliasOp>())
    ring = alias.getBase();
  auto alloc = ring.getDefiningOp<AllocOp>();
  return alloc ? ("ring \"" + alloc.getName() + "\"").str() : "a ring";
}

static std::string getBarrierName(BarrierOp barrier) {
  return ("barrier \"" + barrier.getName() + "\"").str();
}

/// The barrier of a wait that has a phase: one in memory. Null for a named one.
static BarrierOp getPhasedBarrier(WaitOp wait) {
  auto barrier = wait.getBarrier().getDefiningOp<BarrierOp>();
  return barrier && !barrier.getNamed() ? barrier : BarrierOp();
}

static bool isScheduleLoop(Operation *op) {
  return isa<ForTaskOp, ForKvOp>(op);
}

/// Whether an op runs whenever the loops around it do; else says why not.
static LogicalResult checkUnconditional(Operation *op, RoleOp role) {
  for (Operation *parent = op->getParentOp(); parent != role;
       parent = parent->getParentOp())
    if (!isScheduleLoop(parent))
      return op->emitOpError()
             << "expected to lie in no region but those of 'fa4.role', "
                "'fa4.for_task' and "
                "'fa4.for_kv', but lies in '"
             << parent->getName()
             << "', under which its phase does not follow from the text";
  return success();
}

/// How a wait names the slot: a cursor's ring, the instance or a constant.
static FailureOr<std::string> describeSlot(WaitOp wait, RoleOp role) {
  APInt constant;
  if (auto next = wait.getSlot().getDefiningOp<NextOp>())
    return "by 'fa4.next' on " + getRingName(next.getRing());
  if (role.getInstance() && wait.getSlot() == role.getInstance())
    return std::string("by the role's instance");
  if (matchPattern(wait.getSlot(), m_ConstantInt(&constant)))
    return std::string("by constants");
  return wait.emitOpError(
      "expected a slot that is a constant, the role's instance or the "
      "result of 'fa4.next', so that its phase follows from the text");
}

//===----------------------------------------------------------------------===//
// What moves
//===----------------------------------------------------------------------===//

void PhasePlan::addMove(Operation *op, unsigned counter) {
  moves[op] = counter;
  for (Operation *parent = op->getParentOp(); parent != role;
       parent = parent->getParentOp())
    carried[parent].insert(counter);
}

LogicalResult PhasePlan::addNext(NextOp next) {
  if (failed(checkUnconditional(next, role)))
    return failure();
  auto [it, isNew] = cursorOfRing.try_emplace(next.getRing(), counters.size());
  if (isNew)
    counters.emplace_back().slots = next.getRing().getType().getSlots();
  addMove(next, it->second);
  return success();
}

LogicalResult PhasePlan::addWait(WaitOp wait, BarrierOp barrier) {
  if (failed(checkUnconditional(wait, role)))
    return failure();
  FailureOr<std::string> how = describeSlot(wait, role);
  if (failed(how))
    return failure();
  SmallVector<WaitOp> &others = waits[barrier];
  if (!others.empty()) {
    std::string before = *describeSlot(others.front(), role);
    auto next = wait.getSlot().getDefiningOp<NextOp>();
    auto first = others.front().getSlot().getDefiningOp<NextOp>();
    bool oneRing = !next || !first || next.getRing() == first.getRing();
    if (before != *how || !oneRing) {
      InFlightDiagnostic diag = wait.emitOpError()
                                << "expected role @" << role.getSymName()
                                << " to name the slots of "
                                << getBarrierName(barrier) << " in one way, "
                                << before << ", but got " << *how;
      diag.attachNote(others.front().getLoc()) << "another wait is here";
      return diag;
    }
  }
  others.push_back(wait);

  if (auto next = wait.getSlot().getDefiningOp<NextOp>()) {
    int64_t slots = next.getRing().getType().getSlots();
    if (barrier.getSlots() != slots) {
      InFlightDiagnostic diag = wait.emitOpError()
                                << "expected " << getBarrierName(barrier)
                                << " to have " << slots << " slots, as "
                                << getRingName(next.getRing())
                                << " has, but got " << barrier.getSlots();
      diag.attachNote(barrier.getLoc()) << "the barrier is here";
      return diag;
    }
    cursors[wait] = next;
    return success();
  }
  APInt constant;
  int64_t slot = instanceSlot;
  if (matchPattern(wait.getSlot(), m_ConstantInt(&constant)))
    slot = constant.getSExtValue();
  auto [it, isNew] = bitOfSlot.try_emplace({barrier, slot}, counters.size());
  if (isNew)
    counters.emplace_back();
  addMove(wait, it->second);
  return success();
}

LogicalResult PhasePlan::collect() {
  WaitOp withParity;
  role.walk([&](WaitOp wait) {
    if (!withParity && getPhasedBarrier(wait) && wait.getParity())
      withParity = wait;
  });
  WalkResult result =
      role.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        auto next = dyn_cast<NextOp>(op);
        auto wait = dyn_cast<WaitOp>(op);
        BarrierOp barrier = wait ? getPhasedBarrier(wait) : BarrierOp();
        if (!next && !barrier)
          return WalkResult::advance();
        if (!withParity)
          return next ? addNext(next) : addWait(wait, barrier);
        if (wait && wait.getParity())
          return WalkResult::advance();
        InFlightDiagnostic diag =
            op->emitOpError()
            << "expected every wait of role @" << role.getSymName()
            << " to have a parity and no cursor to be left, or no parity "
               "at all";
        diag.attachNote(withParity.getLoc()) << "a wait with a parity is here";
        return WalkResult(diag);
      });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Waits with a cursor's phase: one for every move of the cursor
//===----------------------------------------------------------------------===//

namespace {
/// Checks one barrier whose slots come from one ring's cursor.
struct CursorCheck {
  const PhasePlan &plan;
  BarrierOp barrier;
  Value ring;
  unsigned counter;

  LogicalResult checkWait(WaitOp wait, ArrayRef<NextOp> moved,
                          DenseMap<Operation *, WaitOp> &waited) const;
  LogicalResult checkBlock(Block &block) const;
};
} // namespace

LogicalResult
CursorCheck::checkWait(WaitOp wait, ArrayRef<NextOp> moved,
                       DenseMap<Operation *, WaitOp> &waited) const {
  NextOp own = plan.getCursorOf(wait);
  if (own->getBlock() != wait->getBlock()) {
    InFlightDiagnostic diag =
        wait.emitOpError() << "expected the wait on " << getBarrierName(barrier)
                           << " in the block of its 'fa4.next' on "
                           << getRingName(ring);
    diag.attachNote(own.getLoc()) << "the 'fa4.next' is here";
    return diag;
  }
  if (WaitOp other = waited.lookup(own)) {
    InFlightDiagnostic diag =
        wait.emitOpError() << "expected one wait on " << getBarrierName(barrier)
                           << " for each 'fa4.next' on " << getRingName(ring)
                           << ", but got another";
    diag.attachNote(other.getLoc()) << "the other wait is here";
    return diag;
  }
  // Moves that give the same slot must be waited for in their order.
  int64_t slots = plan.getCounters()[counter].slots;
  int64_t position = llvm::find(moved, own) - moved.begin();
  for (int64_t earlier = position - slots; earlier >= 0; earlier -= slots)
    if (!waited.lookup(moved[earlier])) {
      InFlightDiagnostic diag =
          wait.emitOpError()
          << "expected waits on one slot of " << getBarrierName(barrier)
          << " in the order of 'fa4.next' on " << getRingName(ring);
      NextOp skipped = moved[earlier];
      diag.attachNote(skipped.getLoc())
          << "an earlier 'fa4.next' that gave the slot is here";
      return diag;
    }
  waited[own] = wait;
  return success();
}

LogicalResult CursorCheck::checkBlock(Block &block) const {
  SmallVector<NextOp> moved;
  DenseMap<Operation *, WaitOp> waited;
  auto findOpen = [&]() -> NextOp {
    for (NextOp next : moved)
      if (!waited.lookup(next))
        return next;
    return {};
  };
  for (Operation &op : block) {
    if (auto next = dyn_cast<NextOp>(op); next && next.getRing() == ring) {
      moved.push_back(next);
    } else if (auto wait = dyn_cast<WaitOp>(op);
               wait && wait.getBarrier().getDefiningOp() == barrier) {
      if (failed(checkWait(wait, moved, waited)))
        return failure();
    } else if (isScheduleLoop(&op)) {
      bool moves = llvm::is_contained(plan.getCarried(&op), counter);
      if (NextOp open = findOpen(); open && moves) {
        InFlightDiagnostic diag =
            open.emitOpError()
            << "expected its wait on " << getBarrierName(barrier)
            << " before a loop moves " << getRingName(ring) << " on";
        diag.attachNote(op.getLoc()) << "the loop is here";
        return diag;
      }
      if (moves)
        moved.clear();
      if (failed(checkBlock(op.getRegion(0).front())))
        return failure();
    }
  }
  if (NextOp open = findOpen())
    return open.emitOpError()
           << "expected a wait on " << getBarrierName(barrier)
           << " in this block, as role @"
           << open->getParentOfType<RoleOp>().getSymName()
           << " waits for other slots of " << getRingName(ring);
  return success();
}

LogicalResult PhasePlan::checkCursors() {
  for (auto &[op, all] : waits) {
    auto next = all.front().getSlot().getDefiningOp<NextOp>();
    if (!next)
      continue;
    CursorCheck check{*this, cast<BarrierOp>(op), next.getRing(),
                      cursorOfRing.lookup(next.getRing())};
    if (failed(check.checkBlock(role.getBody().front())))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What moves in step
//===----------------------------------------------------------------------===//

/// Appends to the history of each counter `within` the block's moves, with the
/// loops that move it in place and numbered.
void PhasePlan::writeHistory(Block &block, ArrayRef<unsigned> within,
                             unsigned &loops) {
  DenseMap<unsigned, int64_t> moved;
  auto flush = [&](unsigned counter) {
    // Of a bit only the parity can tell.
    int64_t count = std::exchange(moved[counter], 0);
    counters[counter].history +=
        llvm::itostr(counters[counter].isCursor() ? count : count % 2);
  };
  for (Operation &op : block) {
    if (std::optional<unsigned> counter = getMoved(&op))
      ++moved[*counter];
    ArrayRef<unsigned> inside = getCarried(&op);
    if (inside.empty())
      continue;
    std::string opening = "(" + llvm::utostr(loops++) + ":";
    for (unsigned counter : inside) {
      flush(counter);
      counters[counter].history += opening;
    }
    writeHistory(op.getRegion(0).front(), inside, loops);
  }
  for (unsigned counter : within) {
    flush(counter);
    counters[counter].history += ")";
  }
}

void PhasePlan::group() {
  SmallVector<unsigned> all =
      llvm::to_vector(llvm::seq<unsigned>(0, counters.size()));
  unsigned loops = 0;
  writeHistory(role.getBody().front(), all, loops);
  for (auto [index, counter] : llvm::enumerate(counters)) {
    counter.group = index;
    for (unsigned earlier = 0; earlier < index; ++earlier)
      if (counters[earlier].slots == counter.slots &&
          counters[earlier].history == counter.history) {
        counter.group = counters[earlier].group;
        break;
      }
  }
}

FailureOr<PhasePlan> PhasePlan::get(RoleOp role) {
  PhasePlan plan(role);
  if (failed(plan.collect()) || failed(plan.checkCursors()))
    return failure();
  plan.group();
  return plan;
}
