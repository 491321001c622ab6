// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// How tcgen05.ld and .st spread a block of TMEM over the registers of a warp.

#ifndef PTXSIM_LIB_TCGEN05SHAPES_H
#define PTXSIM_LIB_TCGEN05SHAPES_H

#include <cstdint>
#include <string>

namespace ptxsim {

enum class TmemShape : uint8_t {
  k16x64b,
  k16x128b,
  k16x256b,
  k32x32b,
  k16x32bx2
};

struct TmemPlace {
  unsigned lane;   // from the base lane
  unsigned column; // from the base column of its half
  unsigned half;   // 1: the second half of 16x32bx2
};

/// Shape of a modifier without its dot; false when it is none.
bool tmemShapeByName(const std::string &name, TmemShape &shape);

/// Registers a thread of one repetition.
unsigned tmemRegisters(TmemShape shape);

/// Columns of 32 bits that \p registers a thread fill, in each half.
unsigned tmemColumns(TmemShape shape, unsigned registers);

inline unsigned tmemLanes(TmemShape shape) {
  return shape == TmemShape::k32x32b ? 32 : 16;
}

/// Where register \p r of thread \p t lies.
TmemPlace tmemPlace(TmemShape shape, unsigned t, unsigned r);

} // namespace ptxsim

#endif // PTXSIM_LIB_TCGEN05SHAPES_H
