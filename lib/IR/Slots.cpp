// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Slots of rings and barriers: those that the text tells must exist.
//
#include "Slots.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fa4;

/// The slot that `slot` names if it is outside 0..slots-1: a constant, or the
/// last instance of a role where the instance is the slot.
static std::optional<int64_t> findOutside(Operation *op, Value slot,
                                          int64_t slots) {
  APInt constant;
  int64_t last = 0;
  if (matchPattern(slot, m_ConstantInt(&constant)))
    last = constant.getSExtValue();
  else if (auto role = op->getParentOfType<RoleOp>();
           role && slot == role.getInstance())
    last = role.getInstances() - 1;
  if (last >= 0 && last < slots)
    return std::nullopt;
  return last;
}

LogicalResult mlir::fa4::verifyRingSlot(Operation *op, Value ring, Value slot) {
  int64_t slots = cast<RingType>(ring.getType()).getSlots();
  std::optional<int64_t> outside = findOutside(op, slot, slots);
  if (!outside)
    return success();
  Value base = ring;
  while (auto alias = base.getDefiningOp<AliasOp>())
    base = alias.getBase();
  auto alloc = base.getDefiningOp<AllocOp>();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected a slot below " << slots;
  if (alloc)
    diag << " of ring \"" << alloc.getName() << '"';
  else
    diag << " of the ring";
  diag << ", but got " << *outside;
  if (alloc)
    diag.attachNote(alloc.getLoc()) << "the ring is here";
  return diag;
}

FailureOr<BarrierOp> mlir::fa4::verifyBarrierSlot(Operation *op, Value barrier,
                                                  Value slot) {
  auto declaration = barrier.getDefiningOp<BarrierOp>();
  if (!declaration)
    return op->emitOpError("expected a barrier that 'fa4.barrier' declares");
  std::optional<int64_t> outside =
      findOutside(op, slot, declaration.getSlots());
  if (!outside)
    return declaration;
  InFlightDiagnostic diag =
      op->emitOpError() << "expected a slot below " << declaration.getSlots()
                        << " of barrier \"" << declaration.getName()
                        << "\", but got " << *outside;
  diag.attachNote(declaration.getLoc()) << "the barrier is here";
  return diag;
}
