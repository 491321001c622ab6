// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs of f32, packed 16-bit pairs and runs of 32-bit registers.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_REGISTERS_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_REGISTERS_H

#include "KernelLowering.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fa4 {

/// A pattern that knows the kernel it lowers.
template <typename SourceOp>
struct KernelPattern : OpConversionPattern<SourceOp> {
  KernelPattern(const TypeConverter &converter, MLIRContext *context,
                const KernelLowering &kernel)
      : OpConversionPattern<SourceOp>(converter, context), kernel(kernel) {}

  const KernelLowering &kernel;
};

/// vector<2xf32>: what packed arithmetic works on.
VectorType getPairType(MLIRContext *context);
/// A pair of equal constants.
Value createPairConstant(ImplicitLocOpBuilder &b, float value);
/// A pair of two f32 values.
Value createPair(ImplicitLocOpBuilder &b, Value low, Value high);
/// A pair of one f32 value twice.
Value createSplat(ImplicitLocOpBuilder &b, Value value);
/// The first and the second value of a pair.
Value getLow(ImplicitLocOpBuilder &b, Value pair);
Value getHigh(ImplicitLocOpBuilder &b, Value pair);
/// A call of an LLVM intrinsic that NVVM has no op for.
Value callIntrinsic(ImplicitLocOpBuilder &b, StringRef name, Type result,
                    ValueRange operands);

/// Position of Q that this thread's row holds, i32 to be read as unsigned.
/// `pack` divides the rows of a tile, so that no product of positions and heads
/// is needed, which might not fit.
Value getPosition(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                  Value mBlock, Value stage);
/// The same for row `row` of the tile.
Value getPositionOfRow(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                       Value mBlock, Value stage, Value row);

/// The 32-bit words (i32) that a converted fragment fills, in column order.
SmallVector<Value> getWords(ImplicitLocOpBuilder &b, ValueRange fragment);
/// Words as one operand of a vector instruction: vector<nxi32>, or i32 if n
/// is 1.
Value joinWords(ImplicitLocOpBuilder &b, ArrayRef<Value> words);
/// The converted fragment that n loaded words (vector<nxi32>, or i32) hold.
SmallVector<Value> splitWords(ImplicitLocOpBuilder &b, Value words,
                              Type elementType);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_REGISTERS_H
