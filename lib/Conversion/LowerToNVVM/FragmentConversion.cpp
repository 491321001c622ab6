// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Types and materializations of fragments and row values.
//
#include "FragmentConversion.h"

using namespace mlir;
using namespace mlir::fa4;

static bool isConvertible(FragmentType type) {
  return type.getLayout() == FragmentLayout::WGMMA ||
         type.getColumns() % 2 == 0;
}

static SmallVector<Value> castToRegisters(OpBuilder &builder, TypeRange types,
                                          ValueRange inputs, Location loc) {
  auto cast = UnrealizedConversionCastOp::create(builder, loc, types, inputs);
  return llvm::to_vector_of<Value>(cast.getResults());
}

static Value castFromRegisters(OpBuilder &builder, Type type, ValueRange inputs,
                               Location loc) {
  return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
      .getResult(0);
}

void mlir::fa4::addFragmentConversions(TypeConverter &converter) {
  converter.addConversion(
      [](FragmentType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        if (!isConvertible(type))
          return failure();
        MLIRContext *context = type.getContext();
        if (type.getLayout() == FragmentLayout::WGMMA) {
          // 128 threads; f32 one by one, as the tensor core takes them.
          int64_t elements = type.getRows() * type.getColumns() / 128;
          if (type.getElementType().isF32())
            results.append(elements, type.getElementType());
          else
            results.append(elements / 2, IntegerType::get(context, 32));
          return success();
        }
        Type pair = type.getElementType().isF32()
                        ? Type(VectorType::get({2}, type.getElementType()))
                        : Type(IntegerType::get(context, 32));
        results.append(type.getColumns() / 2, pair);
        return success();
      });
  converter.addConversion(
      [](PendingType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        results.append(type.getShape()[0] * type.getShape()[1] / 128,
                       type.getElementType());
        return success();
      });
  converter.addConversion(
      [](RowsType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        results.append(type.getRows() == 64 ? 2 : 1, type.getElementType());
        return success();
      });
  converter.addSourceMaterialization(castFromRegisters);
  converter.addTargetMaterialization(castToRegisters);
}

static LogicalResult checkConvertible(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto fragment = dyn_cast<FragmentType>(type);
    if (fragment && !isConvertible(fragment))
      return op->emitOpError()
             << "expected a fragment with an even number of columns, but got "
             << fragment;
  }
  return success();
}

/// Tiles in shared memory have the swizzle of rows of 128 bytes.
static LogicalResult checkPanels(WriteTileOp op) {
  constexpr int64_t panelBytes = 128;
  RingType ring = op.getRing().getType();
  if (ring.getSpace() == MemorySpace::TMEM ||
      ring.getColumns() * ring.getElementBytes() % panelBytes == 0)
    return success();
  return op.emitOpError() << "expected a tile in shared memory with rows of "
                             "whole "
                          << panelBytes << "-byte panels, but got " << ring;
}

LogicalResult mlir::fa4::checkFragments(Operation *kernel) {
  WalkResult walk = kernel->walk([](Operation *op) -> WalkResult {
    if (failed(checkConvertible(op)))
      return failure();
    if (auto write = dyn_cast<WriteTileOp>(op))
      return checkPanels(write);
    return success();
  });
  return failure(walk.wasInterrupted());
}
