// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extent.h"
#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fa4;

static constexpr int64_t tmemColumns = 512;

LogicalResult AllocOp::verify() {
  RingType ring = getRing().getType();
  if (ring.getSpace() == MemorySpace::RMEM)
    return emitOpError("expected a ring in 'smem' or 'tmem', but got 'rmem'");
  bool tmem = ring.getSpace() == MemorySpace::TMEM;
  if (tmem) {
    if (ring.getShape().size() != 2 || ring.getRows() != 128)
      return emitOpError(
          "expected a tile of 128 rows and rank 2 in tensor memory");
    if (ring.getTileTmemColumns() > tmemColumns)
      return emitOpError() << "expected a tile of at most " << tmemColumns
                           << " columns of 32 bits in tensor memory, but got "
                           << ring.getTileTmemColumns();
  }
  if (std::optional<int64_t> at = getAt()) {
    int64_t offset = *at;
    int64_t alignment = tmem ? 1 : ring.getShape().size() == 2 ? 1024 : 16;
    if (offset < 0 || offset % alignment != 0)
      return emitOpError() << "expected 'at' to be a multiple of " << alignment
                           << ", but got " << offset;
  }
  return success();
}

LogicalResult AliasOp::verify() {
  RingType base = getBase().getType(), ring = getRing().getType();
  if (base.getSpace() != MemorySpace::TMEM ||
      ring.getSpace() != MemorySpace::TMEM)
    return emitOpError("expected base and result in 'tmem'");
  if (base.getShape().size() != 2 || ring.getShape().size() != 2)
    return emitOpError("expected tiles of rank 2");
  if (base.getSlots() != ring.getSlots() || base.getRows() != ring.getRows())
    return emitOpError() << "expected as many slots and rows as the base has ("
                         << base.getSlots() << " and " << base.getRows()
                         << "), but got " << ring.getSlots() << " and "
                         << ring.getRows();
  int64_t begin = getColumn();
  int64_t end = getEndOf(begin, ring.getTileTmemColumns());
  if (begin < 0 || end > base.getTileTmemColumns())
    return emitOpError() << "expected columns within the base's "
                         << base.getTileTmemColumns() << ", but got " << begin
                         << " to " << end;
  return success();
}
