// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The four shared-memory swizzle modes that TMA and the matrix descriptors of
// tcgen05 and wgmma agree on.
//
// Units: addresses and sizes are bytes.
// Sources: CUDA driver API, CUtensorMapSwizzle; PTX ISA, "Shared memory matrix
// layout and swizzling modes".

#ifndef FA4_ENCODING_SWIZZLE_H
#define FA4_ENCODING_SWIZZLE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace fa4 {

/// How 16-byte chunks are permuted within a shared-memory tile. The 128-byte
/// modes with wider atoms (tensor-map codes 4 to 6) are not modelled.
enum class Swizzle { None, B32, B64, B128 };

/// All modes, for iteration.
inline constexpr Swizzle allSwizzles[] = {Swizzle::None, Swizzle::B32,
                                          Swizzle::B64, Swizzle::B128};

/// Bytes of one row of a tile in this mode: 32, 64 or 128; 16, the width of
/// one core-matrix row, without a swizzle.
int64_t getSpanBytes(Swizzle swizzle);

/// Bytes after which the permutation repeats (256, 512, 1024) and to which a
/// tile must be aligned for its pattern to start at phase 0. Without a swizzle
/// it is 16, the granularity of a descriptor's start address.
int64_t getPatternBytes(Swizzle swizzle);

/// The physical shared-memory address of a logical one. The exclusive or acts
/// on bits of the absolute address, not of the offset in the tile:
///   128B: addr[6:4] ^= addr[9:7]; 64B: addr[5:4] ^= addr[8:7];
///   32B: addr[4] ^= addr[7].
/// The function is its own inverse.
uint64_t applySwizzle(uint64_t address, Swizzle swizzle);

/// "none", "32B", "64B" or "128B", as in launch descriptors.
llvm::StringRef stringifySwizzle(Swizzle swizzle);
std::optional<Swizzle> symbolizeSwizzle(llvm::StringRef name);

} // namespace fa4

#endif // FA4_ENCODING_SWIZZLE_H
