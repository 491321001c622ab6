// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which phases and cursors a role has to keep, and which of them move in step.

#ifndef FA4_LIB_TRANSFORMS_PHASEPLAN_H
#define FA4_LIB_TRANSFORMS_PHASEPLAN_H

#include "fa4/IR/FA4.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fa4 {

/// Something that a role counts: its passes over a ring, or its waits on one
/// slot of one barrier.
struct PhaseCounter {
  /// Slots that it runs through: the ring's for a cursor, 0 for a bit that
  /// waits flip.
  int64_t slots = 0;
  /// How often it moves between the ends of the role's loops, in program order.
  /// Counters with one history have one value wherever a loop begins or ends.
  std::string history;
  /// Counters with one history share a group.
  unsigned group = 0;

  bool isCursor() const { return slots > 0; }
};

/// What `--fa4-materialize-phases` has to do in one role.
class PhasePlan {
public:
  /// Derives the plan; where the text does not determine a wait's phase, says
  /// so at the op and fails. A role whose waits have their parities has an
  /// empty plan.
  static FailureOr<PhasePlan> get(RoleOp role);

  bool isEmpty() const { return moves.empty(); }
  ArrayRef<PhaseCounter> getCounters() const { return counters; }

  /// The counter that an op moves: that of the cursor for a `fa4.next`, that of
  /// the barrier's slot for a wait on it.
  std::optional<unsigned> getMoved(Operation *op) const {
    auto it = moves.find(op);
    return it == moves.end() ? std::nullopt
                             : std::optional<unsigned>(it->second);
  }

  /// The `fa4.next` whose phase a wait takes, or null.
  NextOp getCursorOf(WaitOp wait) const { return cursors.lookup(wait); }

  /// The counters that move within a loop.
  ArrayRef<unsigned> getCarried(Operation *loop) const {
    auto it = carried.find(loop);
    return it == carried.end() ? ArrayRef<unsigned>()
                               : it->second.getArrayRef();
  }

private:
  explicit PhasePlan(RoleOp role) : role(role) {}

  LogicalResult collect();
  LogicalResult addNext(NextOp next);
  LogicalResult addWait(WaitOp wait, BarrierOp barrier);
  LogicalResult checkCursors();
  void group();
  void writeHistory(Block &block, ArrayRef<unsigned> within, unsigned &loops);
  void addMove(Operation *op, unsigned counter);

  RoleOp role;
  SmallVector<PhaseCounter> counters;
  DenseMap<Operation *, unsigned> moves;
  DenseMap<Operation *, NextOp> cursors;
  DenseMap<Operation *, llvm::SmallSetVector<unsigned, 4>> carried;

  /// Cursors by ring, bits by barrier and slot.
  DenseMap<Value, unsigned> cursorOfRing;
  DenseMap<std::pair<Operation *, int64_t>, unsigned> bitOfSlot;
  /// The waits on each barrier, in program order.
  llvm::MapVector<Operation *, SmallVector<WaitOp>> waits;
};

} // namespace mlir::fa4

#endif // FA4_LIB_TRANSFORMS_PHASEPLAN_H
