// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Types and materializations of fragments and row values.
//
#include "FragmentConversion.h"

using namespace mlir;
using namespace mlir::fa4;

static bool isConvertible(FragmentType type) {
  return type.getLayout() == FragmentLayout::RowPerThread &&
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
        Type pair = type.getElementType().isF32()
                        ? Type(VectorType::get({2}, type.getElementType()))
                        : Type(IntegerType::get(context, 32));
        results.append(type.getColumns() / 2, pair);
        return success();
      });
  converter.addConversion([](RowsType type) { return type.getElementType(); });
  converter.addSourceMaterialization(castFromRegisters);
  converter.addTargetMaterialization(castToRegisters);
}

LogicalResult mlir::fa4::checkFragments(Operation *kernel) {
  WalkResult walk = kernel->walk([](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto fragment = dyn_cast<FragmentType>(type);
      if (!fragment || isConvertible(fragment))
        continue;
      op->emitOpError() << "expected a row_per_thread fragment with an even "
                           "number of columns, but got "
                        << fragment;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
