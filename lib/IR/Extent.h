// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_LIB_IR_EXTENT_H
#define FA4_LIB_IR_EXTENT_H

#include "llvm/Support/MathExtras.h"
#include <cstdint>
#include <limits>

namespace mlir::fa4 {

/// The place behind `extent` units from `begin`, which the text may put
/// anywhere in 64 bits: it stops at the largest place instead of wrapping
/// round.
inline int64_t getEndOf(int64_t begin, int64_t extent) {
  int64_t end;
  return llvm::AddOverflow(begin, extent, end)
             ? std::numeric_limits<int64_t>::max()
             : end;
}

} // namespace mlir::fa4

#endif // FA4_LIB_IR_EXTENT_H
