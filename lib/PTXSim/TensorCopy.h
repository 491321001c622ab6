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

/// Bytes of a row of the box.
uint32_t rowLength(const TensorMap &map);

/// Bytes from one row of the box to the next in shared memory: with a swizzle
/// each row takes the swizzle's whole span, however narrow the box.
uint32_t rowPitch(const TensorMap &map);

/// Bytes of shared memory from the first row to the end of the last one. The
/// gaps behind narrow rows are neither written nor read.
uint64_t sharedExtent(const TensorMap &map);

/// Where byte \p offset of the packed box lies, for a box at \p base.
inline uint32_t placeInShared(const TensorMap &map, uint32_t base,
                              uint64_t offset, uint32_t rowBytes,
                              uint32_t pitch) {
  uint64_t row = offset / rowBytes;
  return swizzled(base + uint32_t(row * pitch + offset % rowBytes),
                  map.swizzle);
}

/// Calls fn(offset in the packed box, address in shared memory) for each 16
/// bytes of a box at \p base; fn returns false to stop.
template <class Fn> bool forChunks(const TensorMap &map, uint32_t base, Fn fn) {
  const uint64_t bytes = boxBytes(map);
  const uint32_t rowBytes = rowLength(map), pitch = rowPitch(map);
  for (uint64_t i = 0; i < bytes; i += 16)
    if (!fn(i, placeInShared(map, base, i, rowBytes, pitch)))
      return false;
  return true;
}

/// Faults when the instruction's rank is not the map's.
bool checkRank(Warp &w, const Op &op, const TensorMap &map);

/// Faults at coordinates that stop the hardware: a first one that is no
/// multiple of 16 bytes, and a store whose box begins before the tensor.
bool checkCoordinates(Warp &w, const Op &op, const TensorMap &map,
                      const std::vector<int32_t> &at, bool store);

/// The box at \p at, packed, with elements outside the tensor filled.
bool gatherBox(Cta &cta, const Op &op, unsigned warp, const TensorMap &map,
               const std::vector<int32_t> &at, std::vector<uint8_t> &box);

/// Writes the elements of the packed box that lie inside the tensor, its first
/// dimension rounded up to whole 16 bytes, or combines them by a Reduction when
/// \p reduction is not negative.
bool scatterBox(Cta &cta, const Op &op, unsigned warp, const TensorMap &map,
                const std::vector<int32_t> &at, const std::vector<uint8_t> &box,
                int reduction);

/// True when every element that a store would write is initialised in
/// shared memory at \p base; faults otherwise.
bool checkSource(Cta &cta, const Op &op, unsigned warp, const TensorMap &map,
                 const std::vector<int32_t> &at, uint32_t base);

} // namespace ptxsim

#endif // PTXSIM_LIB_TENSORCOPY_H
