// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a fragment in wgmma layout lie.
//
// Thread t of the warpgroup, in warp w = t / 32 and lane l = t % 32, holds
// parts of the rows 16 w + l / 4 and 8 more. Its f32 register i has
//
//   row    16 w + l / 4 + 8 (i / 2 % 2)
//   column 8 (i / 4) + 2 (l % 4) + i % 2
//
// Packed 16-bit registers hold the elements 2 i and 2 i + 1 of the same order,
// which is that of an A operand in registers (PTX ISA, wgmma, register
// fragments).

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_WGMMA_LAYOUT_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_WGMMA_LAYOUT_H

#include "../Registers.h"

namespace mlir::fa4::wgmma {

/// Rows that one thread has a part of.
constexpr int64_t kRows = 2;
/// Distance between these rows.
constexpr int64_t kRowStep = 8;
/// Threads that share a row.
constexpr int64_t kQuad = 4;

/// Which of the thread's rows f32 register `index` belongs to.
inline int64_t rowOf(size_t index) { return index / 2 % 2; }

/// The thread's first row, i32.
Value getFirstRow(ImplicitLocOpBuilder &b, const KernelLowering &kernel);
/// Its place in the quad, 0 to 3, i32.
Value getInQuad(ImplicitLocOpBuilder &b, const KernelLowering &kernel);
/// Position of Q that its row `row` (0 or 1) holds, i32 to be read as unsigned.
Value getPosition(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                  Value mBlock, Value stage, int64_t row);
/// `value` of the thread whose number in the quad differs in the bits of
/// `mask`.
Value exchange(ImplicitLocOpBuilder &b, Value value, int64_t mask);

void populateMmaPatterns(const TypeConverter &converter,
                         const KernelLowering &kernel,
                         RewritePatternSet &patterns);
void populateMathPatterns(const TypeConverter &converter,
                          const KernelLowering &kernel,
                          RewritePatternSet &patterns);
void populateRowPatterns(const TypeConverter &converter,
                         const KernelLowering &kernel,
                         RewritePatternSet &patterns);
void populateStorePatterns(const TypeConverter &converter,
                           const KernelLowering &kernel,
                           RewritePatternSet &patterns);

} // namespace mlir::fa4::wgmma

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_WGMMA_LAYOUT_H
