// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles between tensors in global memory and boxes in shared memory.

#ifndef PTXSIM_LIB_TENSORCOPY_H
#define PTXSIM_LIB_TENSORCOPY_H

#include "Machine.h"

namespace ptxsim {

/// Where the byte at \p address of an unswizzled tile really is. The pattern
/// is a function of the absolute shared-memory address.
inline uint32_t swizzled(uint32_t address, Swizzle s) {
  switch (s) {
  case Swizzle::None:
    return address;
  case Swizzle::B32:
    return address ^ (address >> 7 & 1) << 4;
  case Swizzle::B64:
    return address ^ (address >> 7 & 3) << 4;
  case Swizzle::B128:
    return address ^ (address >> 7 & 7) << 4;
  case Swizzle::B128Atom32:
    return address ^ (address >> 7 & 3) << 5;
  }
  return address;
}

uint64_t boxBytes(const TensorMap &map);

/// Faults when the instruction's rank is not the map's.
bool checkRank(Warp &w, const Op &op, const TensorMap &map);

/// The box at \p at, packed, with elements outside the tensor filled.
bool gatherBox(Cta &cta, const Op &op, unsigned warp, const TensorMap &map,
               const std::vector<int32_t> &at, std::vector<uint8_t> &box);

/// Writes the elements of the packed box that lie inside the tensor.
bool scatterBox(Cta &cta, const Op &op, unsigned warp, const TensorMap &map,
                const std::vector<int32_t> &at, const std::vector<uint8_t> &box,
                bool add);

/// True when every element of the box inside the tensor is initialised in
/// shared memory at \p base; faults otherwise.
bool checkSource(Cta &cta, const Op &op, unsigned warp, const TensorMap &map,
                 const std::vector<int32_t> &at, uint32_t base);

} // namespace ptxsim

#endif // PTXSIM_LIB_TENSORCOPY_H
