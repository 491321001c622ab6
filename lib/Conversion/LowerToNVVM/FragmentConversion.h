// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fragments and row values become in one thread's registers.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_FRAGMENTCONVERSION_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_FRAGMENTCONVERSION_H

#include "fa4/IR/FA4.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::fa4 {

/// Adds the conversions of fragments and row values, thread t holding row t:
///   !fa4.fragment<128xNxf32>       N/2 x vector<2xf32>, a pair of columns each
///   !fa4.fragment<128xNxf16|bf16>  N/2 x i32, the even column in the low half
///   !fa4.rows<128xf32>             f32
/// and the materializations between the two worlds.
void addFragmentConversions(TypeConverter &converter);

/// Refuses, at the op that makes or writes it, a fragment for which there is no
/// lowering: another layout, an odd number of columns, or a place in a tile in
/// shared memory that is not made of swizzled panels.
LogicalResult checkFragments(Operation *kernel);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_FRAGMENTCONVERSION_H
