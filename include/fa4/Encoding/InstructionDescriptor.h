// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 32-bit instruction descriptor of tcgen05.mma for kind::f16 and
// kind::f8f6f4, dense, without block scaling.
//
// Units: m and n are elements.
// Errors: every refusal names the field, its value and what is legal.
// Source: PTX ISA, "Instruction descriptor" and "Matrix shape" of tcgen05.

#ifndef FA4_ENCODING_INSTRUCTIONDESCRIPTOR_H
#define FA4_ENCODING_INSTRUCTIONDESCRIPTOR_H

#include "fa4/Encoding/MajorMode.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace fa4 {

/// The `.kind` of tcgen05.mma; it decides what the type codes mean and how
/// many elements of K one instruction consumes (the descriptor does not say).
enum class MmaKind { F16, F8F6F4 };

/// Element types of A, B and D.
enum class MmaType { F16, BF16, F32, E4M3, E5M2, E2M3, E3M2, E2M1 };

llvm::StringRef stringifyMmaKind(MmaKind kind);
llvm::StringRef stringifyMmaType(MmaType type);

/// Elements of K that one dense instruction consumes: 16 for kind::f16, 32 for
/// kind::f8f6f4.
int64_t getMmaK(MmaKind kind);

/// | bits  | field                         | bits  | field                  |
/// |-------|-------------------------------|-------|------------------------|
/// | 0-3   | 0 (dense, no saturation)      | 14    | negateB                |
/// | 4-5   | dType: 0 f16, 1 f32           | 15    | aMajor: 1 = MN-major   |
/// | 7-9   | aType: f16 0, bf16 1;         | 16    | bMajor: 1 = MN-major   |
/// |       | e4m3 0, e5m2 1, e2m3 3,       | 17-22 | n / 8                  |
/// |       | e3m2 4, e2m1 5                | 24-28 | m / 16                 |
/// | 10-12 | bType, codes of aType         | rest  | 0                      |
/// | 13    | negateA                       |       |                        |
struct InstructionDescriptor {
  MmaKind kind = MmaKind::F16;
  MmaType dType = MmaType::F32;
  MmaType aType = MmaType::F16;
  MmaType bType = MmaType::F16;
  bool negateA = false;
  bool negateB = false;
  MajorMode aMajor = MajorMode::K;
  MajorMode bMajor = MajorMode::K;
  /// 8 to 256 in steps of 8 where m = 64; 16 to 256 in steps of 16 where m is
  /// 128 or 256.
  int64_t n = 0;
  /// 64, 128, or 256 (cta_group::2 only).
  int64_t m = 0;

  /// Success when every field is legal for `kind`.
  llvm::Error verify() const;
  /// The 32 bits, or what verify() says.
  llvm::Expected<uint32_t> encode() const;
  /// The fields of `bits` read as `kind`; refuses reserved bits that are set,
  /// sparsity, saturation, unassigned type codes and illegal shapes.
  static llvm::Expected<InstructionDescriptor> decode(uint32_t bits,
                                                      MmaKind kind);

  bool operator==(const InstructionDescriptor &other) const;
};

} // namespace fa4

#endif // FA4_ENCODING_INSTRUCTIONDESCRIPTOR_H
