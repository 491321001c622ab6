// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimension of an MMA operand is contiguous in shared memory.

#ifndef FA4_ENCODING_MAJORMODE_H
#define FA4_ENCODING_MAJORMODE_H

namespace fa4 {

/// K: the reduction dimension is contiguous (Q and K of attention). MN: the M
/// or N dimension is (V as it lies in memory).
enum class MajorMode { K, MN };

} // namespace fa4

#endif // FA4_ENCODING_MAJORMODE_H
