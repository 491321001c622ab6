// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Addresses and small values that many patterns need.
//
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fa4;

Value mlir::fa4::i32Constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value mlir::fa4::f32Constant(OpBuilder &builder, Location loc, float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

Value mlir::fa4::getWarp(OpBuilder &builder, Location loc) {
  Value thread = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  Value warp = arith::ShRUIOp::create(builder, loc, thread,
                                      i32Constant(builder, loc, 5));
  // Broadcast, so that ptxas sees that it is uniform.
  return NVVM::ShflOp::create(
      builder, loc, builder.getI32Type(), i32Constant(builder, loc, -1), warp,
      i32Constant(builder, loc, 0), i32Constant(builder, loc, 31),
      NVVM::ShflKind::idx, UnitAttr());
}

Value mlir::fa4::toI32(OpBuilder &builder, Location loc, Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return i32Constant(builder, loc, constant.getSExtValue());
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}

static AllocOp getAlloc(Value ring) {
  if (auto alias = ring.getDefiningOp<AliasOp>())
    return getAlloc(alias.getBase());
  return ring.getDefiningOp<AllocOp>();
}

int64_t mlir::fa4::getRingAt(Value ring) {
  if (auto alias = ring.getDefiningOp<AliasOp>())
    return getRingAt(alias.getBase()) + static_cast<int64_t>(alias.getColumn());
  return static_cast<int64_t>(*ring.getDefiningOp<AllocOp>().getAt());
}

int64_t mlir::fa4::getRingStride(Value ring) {
  RingType type = getAlloc(ring).getRing().getType();
  return type.getSpace() == MemorySpace::TMEM ? type.getTileTmemColumns()
                                              : type.getTileBytes();
}

/// base + slot * stride as a constant part and an i32 part (null if constant).
static std::pair<int64_t, Value> getSlotOffset(OpBuilder &builder, Location loc,
                                               int64_t base, int64_t stride,
                                               Value slot) {
  APInt constant;
  if (matchPattern(slot, m_ConstantInt(&constant)))
    return {base + stride * constant.getSExtValue(), Value()};
  Value dynamic = arith::MulIOp::create(builder, loc, toI32(builder, loc, slot),
                                        i32Constant(builder, loc, stride));
  return {base, dynamic};
}

Value mlir::fa4::getSmemPointer(OpBuilder &builder, Location loc,
                                const KernelLowering &kernel, int64_t offset,
                                Value dynamic) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  if (!dynamic) {
    // Becomes the offset field of the instruction.
    if (offset == 0)
      return kernel.smem;
    return LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI8Type(), kernel.smem,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  }
  // In 32 bits, which is all that shared memory needs: a dynamic GEP would be
  // computed in 64.
  Value address =
      arith::AddIOp::create(builder, loc, kernel.smemAddress, dynamic);
  if (offset != 0)
    address = arith::AddIOp::create(builder, loc, address,
                                    i32Constant(builder, loc, offset));
  return LLVM::IntToPtrOp::create(builder, loc, pointer, address);
}

Value mlir::fa4::getSlotPointer(OpBuilder &builder, Location loc,
                                const KernelLowering &kernel, Value ring,
                                Value slot, int64_t offset, Value dynamic) {
  auto [constant, slotPart] =
      getSlotOffset(builder, loc, getRingAt(ring), getRingStride(ring), slot);
  if (slotPart && dynamic)
    dynamic = arith::AddIOp::create(builder, loc, slotPart, dynamic);
  else if (slotPart)
    dynamic = slotPart;
  return getSmemPointer(builder, loc, kernel, constant + offset, dynamic);
}

Value mlir::fa4::getBarrierPointer(OpBuilder &builder, Location loc,
                                   const KernelLowering &kernel,
                                   BarrierOp barrier, Value slot) {
  auto [constant, dynamic] = getSlotOffset(
      builder, loc, static_cast<int64_t>(*barrier.getAt()), /*stride=*/8, slot);
  return getSmemPointer(builder, loc, kernel, constant, dynamic);
}

Value mlir::fa4::getSlotColumn(OpBuilder &builder, Location loc,
                               const KernelLowering &kernel, Value ring,
                               Value slot, int64_t column) {
  auto [constant, dynamic] =
      getSlotOffset(builder, loc, getRingAt(ring), getRingStride(ring), slot);
  Value address = kernel.tmem;
  if (dynamic)
    address = arith::AddIOp::create(builder, loc, address, dynamic);
  if (constant + column == 0)
    return address;
  return arith::AddIOp::create(builder, loc, address,
                               i32Constant(builder, loc, constant + column));
}

Value mlir::fa4::toTmemPointer(OpBuilder &builder, Location loc,
                               Value address) {
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), tmemSpace),
      address);
}

Value mlir::fa4::getTaskRow(OpBuilder &builder, Location loc,
                            const KernelLowering &kernel, Value stage) {
  Value first =
      arith::MulIOp::create(builder, loc, toI32(builder, loc, stage),
                            i32Constant(builder, loc, kernel.tileRows));
  return arith::AddIOp::create(builder, loc, first, kernel.thread);
}

Value mlir::fa4::getPackedRow(OpBuilder &builder, Location loc,
                              const KernelLowering &kernel, Value mBlock,
                              Value stage) {
  Value first =
      arith::MulIOp::create(builder, loc, toI32(builder, loc, mBlock),
                            i32Constant(builder, loc, kernel.taskRows()));
  return arith::AddIOp::create(builder, loc, first,
                               getTaskRow(builder, loc, kernel, stage));
}
