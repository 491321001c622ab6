// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 64-bit shared-memory matrix descriptors of tcgen05.mma and
// wgmma.mma_async.
//
// Units: every field is in bytes; the encoding divides by 16.
// Errors: every refusal names the field, its value and what is legal.
// Sources: PTX ISA, "Shared memory descriptor" of tcgen05 and "Matrix
// descriptor format" of wgmma.

#ifndef FA4_ENCODING_SMEMDESCRIPTOR_H
#define FA4_ENCODING_SMEMDESCRIPTOR_H

#include "fa4/Encoding/Swizzle.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace fa4 {

/// The two instruction families. For equal layouts their descriptors differ in
/// bit 46 alone: the swizzle codes differ (none, 128B, 64B, 32B are 0, 2, 4, 6
/// in bits 61-63 for tcgen05 and 0, 1, 2, 3 in bits 62-63 for wgmma), but a
/// bit further right, so the bits coincide.
enum class MmaFlavour { Tcgen05, Wgmma };

/// | bits  | field                        | unit                             |
/// |-------|------------------------------|----------------------------------|
/// | 0-13  | startAddress                 | 16 bytes                         |
/// | 16-29 | leadingByteOffset            | 16 bytes                         |
/// | 32-45 | strideByteOffset             | 16 bytes                         |
/// | 46-48 | tcgen05: 0b001; wgmma: 0     |                                  |
/// | 49-51 | baseOffset                   | 128 bytes                        |
/// | 52    | 0 (leading offset is relative) |                                |
/// | 61-63 | swizzle, tcgen05             | none 0, 128B 2, 64B 4, 32B 6     |
/// | 62-63 | swizzle, wgmma               | none 0, 128B 1, 64B 2, 32B 3     |
struct SmemDescriptor {
  /// Address in the CTA's shared window; a multiple of 16 below 2^18.
  int64_t startAddress = 0;
  /// What the offset means depends on the layout: see MatrixTile.
  int64_t leadingByteOffset = 0;
  int64_t strideByteOffset = 0;
  /// 0 where the swizzle pattern starts on a multiple of its length, else bits
  /// 7-9 of the address at which the pattern starts.
  int64_t baseOffset = 0;
  Swizzle swizzle = Swizzle::None;

  llvm::Error verify() const;
  llvm::Expected<uint64_t> encode(MmaFlavour flavour) const;
  /// Refuses reserved bits that are set, a wrong constant in bits 46-48, the
  /// absolute-address mode and swizzle codes that are not modelled.
  static llvm::Expected<SmemDescriptor> decode(uint64_t bits,
                                               MmaFlavour flavour);

  bool operator==(const SmemDescriptor &other) const;
};

} // namespace fa4

#endif // FA4_ENCODING_SMEMDESCRIPTOR_H
