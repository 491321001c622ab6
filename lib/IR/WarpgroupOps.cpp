// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Products into the registers of a warpgroup.
//
#include "Slots.h"
#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::fa4;

//===----------------------------------------------------------------------===//
// custom<Settled>, custom<Total>: the result's type follows from the operand's
//===----------------------------------------------------------------------===//

namespace mlir::fa4 {
ParseResult parseSettled(OpAsmParser &parser, Type &input, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(input))
    return failure();
  auto pending = dyn_cast<PendingType>(input);
  if (!pending)
    return parser.emitError(loc, "expected a '!fa4.pending' type");
  result = pending.getFragment();
  return success();
}

void printSettled(OpAsmPrinter &printer, Operation *, PendingType input,
                  FragmentType) {
  printer << input;
}

ParseResult parseTotal(OpAsmParser &parser, Type &partial, Type &sum) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(partial))
    return failure();
  auto rows = dyn_cast<RowsType>(partial);
  if (!rows)
    return parser.emitError(loc, "expected a '!fa4.rows' type");
  sum = RowsType::get(rows.getRows(), rows.getElementType());
  return success();
}

void printTotal(OpAsmPrinter &printer, Operation *, RowsType partial,
                RowsType) {
  printer << partial;
}
} // namespace mlir::fa4

//===----------------------------------------------------------------------===//
// WarpgroupMmaOp
//===----------------------------------------------------------------------===//

/// Extents and element type of A, be it a ring's tile or a fragment.
static std::pair<ArrayRef<int64_t>, Type> getTile(Type type) {
  if (auto ring = dyn_cast<RingType>(type))
    return {ring.getShape(), ring.getElementType()};
  auto fragment = cast<FragmentType>(type);
  return {fragment.getShape(), fragment.getElementType()};
}

static LogicalResult verifyPlaces(WarpgroupMmaOp op) {
  Type a = op.getA().getType();
  RingType b = op.getB().getType();
  auto ring = dyn_cast<RingType>(a);
  if (ring && (ring.getSpace() != MemorySpace::SMEM || !op.getASlot()))
    return op.emitOpError()
           << "expected a slot of a ring in 'smem' as A, but got "
           << (op.getASlot() ? "" : "no slot of ") << ring;
  if (!ring && (cast<FragmentType>(a).getLayout() != FragmentLayout::WGMMA ||
                op.getASlot()))
    return op.emitOpError() << "expected a fragment in 'wgmma' layout, without "
                               "a slot, as A, but got "
                            << a;
  if (b.getSpace() != MemorySpace::SMEM)
    return op.emitOpError() << "expected B in 'smem', but got '"
                            << stringifyMemorySpace(b.getSpace()) << "'";
  return success();
}

/// A product has one wait, which hands out its result; that there is no other,
/// the wait checks.
static LogicalResult verifyWait(WarpgroupMmaOp op) {
  if (op.getD().use_empty())
    return op.emitOpError(
        "expected one 'fa4.warpgroup_wait' for the product, but got none");
  for (Operation *user : op.getD().getUsers()) {
    if (isa<WarpgroupWaitOp>(user))
      continue;
    InFlightDiagnostic diag = op.emitOpError(
        "expected a 'fa4.warpgroup_wait' as the only use of the product");
    diag.attachNote(user->getLoc()) << "another is here";
    return diag;
  }
  return success();
}

LogicalResult WarpgroupMmaOp::verify() {
  auto role = (*this)->getParentOfType<RoleOp>();
  if (role.getThreads() != 128)
    return emitOpError() << "expected a role of 128 threads, but @"
                         << role.getSymName() << " has " << role.getThreads();
  if (failed(verifyPlaces(*this)))
    return failure();
  auto [a, element] = getTile(getA().getType());
  RingType b = getB().getType();
  ArrayRef<int64_t> d = getD().getType().getShape();
  if (a.size() != 2 || b.getShape().size() != 2)
    return emitOpError("expected tiles of rank 2");
  if (element != b.getElementType() || !(element.isF16() || element.isBF16()))
    return emitOpError() << "expected A and B of one 16-bit type, but got "
                         << element << " and " << b.getElementType();
  int64_t bK = getTransposeB() ? b.getColumns() : b.getRows();
  int64_t bN = getTransposeB() ? b.getRows() : b.getColumns();
  if (a[0] != d[0] || a[1] != bK || bN != d[1])
    return emitOpError() << "expected A, B and D of " << d[0] << 'x' << bK
                         << ", " << bK << 'x' << d[1] << " and " << d[0] << 'x'
                         << d[1] << ", but got " << a[0] << 'x' << a[1] << ", "
                         << bK << 'x' << bN << " and " << d[0] << 'x' << d[1];
  if (bK % 16 != 0)
    return emitOpError()
           << "expected a K extent that is a multiple of 16, but got " << bK;
  if (getC() && getC().getType() != getD().getType().getFragment())
    return emitOpError() << "expected C of " << getD().getType().getFragment()
                         << ", but got " << getC().getType();
  if ((getASlot() && failed(verifyRingSlot(*this, getA(), getASlot()))) ||
      failed(verifyRingSlot(*this, getB(), getBSlot())))
    return failure();
  return verifyWait(*this);
}

//===----------------------------------------------------------------------===//
// WarpgroupWaitOp
//===----------------------------------------------------------------------===//

void WarpgroupWaitOp::build(OpBuilder &builder, OperationState &state,
                            int64_t pending, Value input) {
  build(builder, state, cast<PendingType>(input.getType()).getFragment(),
        pending, input);
}

LogicalResult WarpgroupWaitOp::verify() {
  if (getResult().getType() != getInput().getType().getFragment())
    return emitOpError() << "expected a result of "
                         << getInput().getType().getFragment() << ", but got "
                         << getResult().getType();
  auto product = getInput().getDefiningOp<WarpgroupMmaOp>();
  if (!product || product->getBlock() != (*this)->getBlock())
    return emitOpError("expected a product that was started in the same block");
  if (!getInput().hasOneUse()) {
    InFlightDiagnostic diag = emitOpError("expected one wait for each product");
    for (Operation *user : getInput().getUsers())
      if (user != *this)
        diag.attachNote(user->getLoc()) << "another is here";
    return diag;
  }
  int64_t later = 0;
  for (Operation *op = product->getNextNode(); op && op != *this;
       op = op->getNextNode())
    later += isa<WarpgroupMmaOp>(op);
  if (later >= getPending())
    return success();
  InFlightDiagnostic diag =
      emitOpError()
      << "expected at least " << getPending()
      << " products behind the one waited for, since as many may still "
         "run, but got "
      << later;
  diag.attachNote(product.getLoc()) << "the product is here";
  return diag;
}

//===----------------------------------------------------------------------===//
// FillOp, ScaleRowsOp, RowTotalOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyAccumulator(Operation *op, FragmentType type) {
  if (type.getElementType().isF32() &&
      type.getLayout() == FragmentLayout::WGMMA)
    return success();
  return op->emitOpError()
         << "expected an f32 fragment in 'wgmma' layout, but got " << type;
}

LogicalResult FillOp::verify() {
  auto rows = dyn_cast<RowsType>(getResult().getType());
  if (!rows)
    return verifyAccumulator(*this, cast<FragmentType>(getResult().getType()));
  if (rows.getPartial())
    return success();
  return emitOpError() << "expected partial row values, but got " << rows;
}

LogicalResult ScaleRowsOp::verify() {
  if (failed(verifyAccumulator(*this, getInput().getType())))
    return failure();
  RowsType factor = getFactor().getType();
  if (factor.getRows() == getInput().getType().getRows() &&
      !factor.getPartial())
    return success();
  return emitOpError() << "expected a factor for each of the "
                       << getInput().getType().getRows() << " rows, but got "
                       << factor;
}

void RowTotalOp::build(OpBuilder &builder, OperationState &state,
                       Value partial) {
  auto rows = cast<RowsType>(partial.getType());
  build(builder, state, RowsType::get(rows.getRows(), rows.getElementType()),
        partial);
}

LogicalResult RowTotalOp::verify() {
  RowsType partial = getPartial().getType(), sum = getSum().getType();
  if (partial.getPartial() && !sum.getPartial() &&
      sum.getRows() == partial.getRows())
    return success();
  return emitOpError()
         << "expected partial row values and as many whole ones, but got "
         << partial << " and " << sum;
}
