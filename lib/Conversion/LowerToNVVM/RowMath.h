// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of a row of logits, whichever threads hold it. All values are
// f32 or i32 scalars of one row.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_ROWMATH_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_ROWMATH_H

#include "Registers.h"

namespace mlir::fa4 {

struct RowReference {
  Value reference, factor;
};

/// The reference after a block whose largest scaled logit is `largest`, and
/// 2^(old - new), as `fa4.row_max` defines them; `old` is null in a first
/// block.
/// Whether a row leaves its old reference, i1.
Value getReferenceMoves(ImplicitLocOpBuilder &b, Value largest, Value old,
                        float threshold);

RowReference getRowReference(ImplicitLocOpBuilder &b, Value largest, Value old,
                             float threshold);

/// What is added to a scaled logit: -reference, or 0 if nothing was seen yet
/// (every logit is -inf). For a reference of +inf or NaN it is NaN, so that no
/// element of the row can look like a number.
Value getExp2Offset(ImplicitLocOpBuilder &b, Value reference);

Value createExp2Polynomial(ImplicitLocOpBuilder &b, Value exponent);

/// Keys that the row of `position` (null in a kernel that is not causal) sees,
/// 0 to Skv.
Value getVisibleKeys(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                     Value position);

/// ln(2) * (reference + log2(sum)). A row that saw no key has sum 0; its
/// reference may be anything, so that the sum decides. NaN fails the
/// comparison.
Value getLogSumExp(ImplicitLocOpBuilder &b, Value reference, Value sum);

/// Element (batch, head, position) of the contiguous [B, Hq, Sq], in 64 bits,
/// for row `row` of a tile.
Value getLsePointer(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                    Value base, Value batch, Value tileHead, Value row,
                    Value position);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_ROWMATH_H
