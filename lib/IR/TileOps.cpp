// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Tile ops that move tiles between memories.
//
#include "Extent.h"
#include "Slots.h"
#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fa4;

/// Checks that a tile ring in shared memory can hold tiles of a global tensor.
static LogicalResult verifyGlobalTile(Operation *op, RingType ring,
                                      MemRefType tensor, int64_t rows) {
  if (ring.getSpace() != MemorySpace::SMEM)
    return op->emitOpError() << "expected a ring in 'smem', but got '"
                             << stringifyMemorySpace(ring.getSpace()) << "'";
  int64_t columns = tensor.getDimSize(tensor.getRank() - 1);
  if (ring.getShape() != ArrayRef<int64_t>{rows, columns} ||
      ring.getElementType() != tensor.getElementType())
    return op->emitOpError()
           << "expected a ring of " << rows << 'x' << columns << 'x'
           << tensor.getElementType() << " tiles, but got " << ring;
  return success();
}

LogicalResult LoadOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  auto role = (*this)->getParentOfType<RoleOp>();
  bool isQ = getSource() == kernel.getQ();
  bool isKv = getSource() == kernel.getK() || getSource() == kernel.getV();
  if (!isQ && !isKv)
    return emitOpError("expected the kernel's Q, K or V as the source");
  size_t coordinates = isQ ? 4 : 3;
  if (getCoordinates().size() != coordinates)
    return emitOpError() << "expected coordinates ("
                         << (isQ ? "batch, tile head, M block, stage"
                                 : "batch, tile head, K/V block")
                         << "), but got " << getCoordinates().size();
  RingType ring = getRing().getType();
  int64_t rows = isQ ? kernel.getTileRows() : kernel.getTileKeys();
  if (failed(verifyGlobalTile(*this, ring,
                              cast<MemRefType>(getSource().getType()), rows)))
    return failure();
  if (failed(verifyRingSlot(*this, getRing(), getSlot())))
    return failure();
  FailureOr<BarrierOp> declaration =
      verifyBarrierSlot(*this, getBarrier(), getBarrierSlot());
  if (failed(declaration))
    return failure();
  BarrierOp barrier = *declaration;
  ArrivalAttr arrival = barrier.getArrivalOf(role.getSymName());
  int64_t bytes = ring.getTileBytes();
  if (!arrival || arrival.getEngine() != Engine::Bytes ||
      arrival.getCount() != bytes) {
    InFlightDiagnostic diag = emitOpError()
                              << "expected barrier \"" << barrier.getName()
                              << "\" to declare @" << role.getSymName()
                              << " bytes " << bytes << ", the size of the tile";
    diag.attachNote(barrier.getLoc()) << "the barrier is here";
    return diag;
  }
  return success();
}

LogicalResult StoreOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (getTarget() != kernel.getO())
    return emitOpError("expected the kernel's O as the target");
  if (getCoordinates().size() != 4)
    return emitOpError() << "expected coordinates (batch, tile head, M block, "
                            "stage), but got "
                         << getCoordinates().size();
  if (failed(verifyGlobalTile(*this, getRing().getType(),
                              cast<MemRefType>(getTarget().getType()),
                              kernel.getTileRows())))
    return failure();
  return verifyRingSlot(*this, getRing(), getSlot());
}

LogicalResult MmaOp::verify() {
  RingType a = getA().getType(), b = getB().getType(), d = getD().getType();
  if (a.getSpace() == MemorySpace::RMEM || b.getSpace() != MemorySpace::SMEM ||
      d.getSpace() != MemorySpace::TMEM)
    return emitOpError() << "expected A in 'smem' or 'tmem', B in 'smem' and D "
                            "in 'tmem', but got '"
                         << stringifyMemorySpace(a.getSpace()) << "', '"
                         << stringifyMemorySpace(b.getSpace()) << "' and '"
                         << stringifyMemorySpace(d.getSpace()) << "'";
  if (a.getShape().size() != 2 || b.getShape().size() != 2 ||
      d.getShape().size() != 2)
    return emitOpError("expected tiles of rank 2");
  if (a.getElementType() != b.getElementType() || a.getElementBytes() != 2)
    return emitOpError() << "expected A and B of one 16-bit type, but got "
                         << a.getElementType() << " and " << b.getElementType();
  if (!d.getElementType().isF32())
    return emitOpError() << "expected D of f32, but got " << d.getElementType();
  int64_t bK = getTransposeB() ? b.getColumns() : b.getRows();
  int64_t bN = getTransposeB() ? b.getRows() : b.getColumns();
  if (d.getRows() != a.getRows() || d.getColumns() != bN ||
      a.getColumns() != bK)
    return emitOpError() << "expected A, B and D of " << d.getRows() << 'x'
                         << bK << ", " << bK << 'x' << d.getColumns() << " and "
                         << d.getRows() << 'x' << d.getColumns() << ", but got "
                         << a.getRows() << 'x' << a.getColumns() << ", " << bK
                         << 'x' << bN << " and " << d.getRows() << 'x'
                         << d.getColumns();
  if (getKBegin().has_value() != getKEnd().has_value())
    return emitOpError("expected 'k_begin' and 'k_end' together");
  int64_t begin = getSegmentBegin(), end = getSegmentEnd();
  if (begin < 0 || end > getKExtent() || begin >= end || begin % 16 != 0 ||
      end % 16 != 0)
    return emitOpError() << "expected a K segment within 0 to " << getKExtent()
                         << " at multiples of 16, but got " << begin << " to "
                         << end;
  if (a.getRows() != 128 || d.getColumns() > 256 || d.getColumns() % 16 != 0)
    return emitOpError() << "expected 128 rows of A and a multiple of 16 up to "
                            "256 columns of D, but got "
                         << a.getRows() << " and " << d.getColumns();
  return failure(failed(verifyRingSlot(*this, getA(), getASlot())) ||
                 failed(verifyRingSlot(*this, getB(), getBSlot())) ||
                 failed(verifyRingSlot(*this, getD(), getDSlot())));
}

LogicalResult ReadTileOp::verify() {
  RingType ring = getRing().getType();
  FragmentType fragment = getFragment().getType();
  if (ring.getSpace() != MemorySpace::TMEM)
    return emitOpError() << "expected a ring in 'tmem', but got '"
                         << stringifyMemorySpace(ring.getSpace()) << "'";
  if (ring.getShape().size() != 2 || ring.getRows() != fragment.getRows() ||
      ring.getElementType() != fragment.getElementType())
    return emitOpError()
           << "expected a fragment with the rows and element type of " << ring
           << ", but got " << fragment;
  int64_t begin = getColumn(), end = getEndOf(begin, fragment.getColumns());
  if (begin < 0 || end > ring.getColumns())
    return emitOpError() << "expected columns within the tile's "
                         << ring.getColumns() << ", but got " << begin << " to "
                         << end;
  int64_t words = fragment.getColumns() * ring.getElementBytes() / 4;
  if (words * 4 != fragment.getColumns() * ring.getElementBytes() ||
      begin * ring.getElementBytes() % 4 != 0 || !llvm::isPowerOf2_64(words) ||
      words > 128)
    return emitOpError()
           << "expected a power of two of at most 128 32-bit columns, but got "
           << fragment.getColumns() << " columns of " << ring.getElementType();
  return verifyRingSlot(*this, getRing(), getSlot());
}

LogicalResult WriteTileOp::verify() {
  RingType ring = getRing().getType();
  FragmentType fragment = getFragment().getType();
  if (ring.getShape().size() != 2 || ring.getRows() != fragment.getRows() ||
      ring.getElementType() != fragment.getElementType())
    return emitOpError()
           << "expected a fragment with the rows and element type of " << ring
           << ", but got " << fragment;
  int64_t begin = getColumn(), end = getEndOf(begin, fragment.getColumns());
  if (begin < 0 || end > ring.getColumns())
    return emitOpError() << "expected columns within the tile's "
                         << ring.getColumns() << ", but got " << begin << " to "
                         << end;
  int64_t beginBytes = begin * ring.getElementBytes();
  int64_t bytes = fragment.getColumns() * ring.getElementBytes();
  if (ring.getSpace() == MemorySpace::TMEM) {
    if (bytes % 4 != 0 || beginBytes % 4 != 0 ||
        !llvm::isPowerOf2_64(bytes / 4) || bytes / 4 > 128)
      return emitOpError() << "expected a power of two of at most 128 32-bit "
                              "columns, but got "
                           << fragment.getColumns() << " columns of "
                           << ring.getElementType() << " from column " << begin;
  } else if (ring.getSpace() == MemorySpace::SMEM) {
    if (bytes % 16 != 0 || beginBytes % 16 != 0)
      return emitOpError() << "expected whole multiples of 16 bytes in shared "
                              "memory, but got "
                           << bytes << " bytes from byte " << beginBytes;
  } else {
    return emitOpError("expected a ring in 'smem' or 'tmem', but got 'rmem'");
  }
  return verifyRingSlot(*this, getRing(), getSlot());
}

LogicalResult RescaleOp::verify() {
  RingType ring = getRing().getType();
  if (ring.getSpace() != MemorySpace::TMEM || ring.getShape().size() != 2 ||
      !ring.getElementType().isF32() ||
      ring.getRows() != getFactor().getType().getRows())
    return emitOpError() << "expected an f32 tile of "
                         << getFactor().getType().getRows()
                         << " rows in 'tmem', but got " << ring;
  int64_t chunk = getChunk();
  if (chunk < 2 || chunk > 128 || !llvm::isPowerOf2_64(chunk) ||
      ring.getColumns() % chunk != 0)
    return emitOpError() << "expected a chunk that is a power of two from 2 to "
                            "128 and divides the tile's "
                         << ring.getColumns() << " columns, but got " << chunk;
  return verifyRingSlot(*this, getRing(), getSlot());
}

static LogicalResult verifyMailbox(Operation *op, RowsType rows,
                                   TypedValue<RingType> mailbox, Value slot) {
  RingType ring = mailbox.getType();
  if (ring.getSpace() == MemorySpace::SMEM &&
      ring.getShape() == ArrayRef<int64_t>{rows.getRows()} &&
      ring.getElementType() == rows.getElementType())
    return verifyRingSlot(op, mailbox, slot);
  return op->emitOpError() << "expected a ring of " << rows.getRows() << 'x'
                           << rows.getElementType() << " in 'smem', but got "
                           << ring;
}

LogicalResult PublishOp::verify() {
  return verifyMailbox(*this, getValue().getType(), getRing(), getSlot());
}

LogicalResult CollectOp::verify() {
  return verifyMailbox(*this, getValue().getType(), getRing(), getSlot());
}

LogicalResult StoreLseOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel.getLse() || getTarget() != kernel.getLse())
    return emitOpError("expected the kernel's LSE as the target");
  if (getCoordinates().size() != 4)
    return emitOpError() << "expected coordinates (batch, tile head, M block, "
                            "stage), but got "
                         << getCoordinates().size();
  return success();
}
