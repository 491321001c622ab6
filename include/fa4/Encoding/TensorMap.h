// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of cuTensorMapEncodeTiled as data, and its rules as checks that
// run without a driver or a GPU.
//
// Units: dims and box are elements, strides are bytes, dimension 0 is the
// contiguous one.
// Errors: one message a broken rule; each names the limit, the dimension and
// the value.
// Source: CUDA driver API, cuTensorMapEncodeTiled.

#ifndef FA4_ENCODING_TENSORMAP_H
#define FA4_ENCODING_TENSORMAP_H

#include "fa4/Encoding/Swizzle.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fa4 {

/// Values are those of CUtensorMapDataType.
enum class ElementType {
  U8 = 0,
  U16 = 1,
  U32 = 2,
  I32 = 3,
  U64 = 4,
  I64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9,
  F32FTZ = 10,
  TF32 = 11,
};

/// Values are those of CUtensorMapInterleave.
enum class Interleave { None = 0, B16 = 1, B32 = 2 };
/// Values are those of CUtensorMapL2promotion.
enum class L2Promotion { None = 0, B64 = 1, B128 = 2, B256 = 3 };
/// Values are those of CUtensorMapFloatOOBfill.
enum class OobFill { Zero = 0, NaN = 1 };

int64_t getElementBytes(ElementType type);
bool isFloat(ElementType type);

/// The value of CUtensorMapSwizzle.
int getTensorMapCode(Swizzle swizzle);

/// Names as in launch descriptors: "f16", "bf16", "f32", "u8", ...; "none",
/// "16B", "32B"; "none", "64B", "128B", "256B"; "zero", "nan".
llvm::StringRef stringifyElementType(ElementType type);
llvm::StringRef stringifyInterleave(Interleave interleave);
llvm::StringRef stringifyL2Promotion(L2Promotion promotion);
llvm::StringRef stringifyOobFill(OobFill fill);
std::optional<ElementType> symbolizeElementType(llvm::StringRef name);
std::optional<Interleave> symbolizeInterleave(llvm::StringRef name);
std::optional<L2Promotion> symbolizeL2Promotion(llvm::StringRef name);
std::optional<OobFill> symbolizeOobFill(llvm::StringRef name);

struct TensorMapSpec {
  ElementType elementType = ElementType::F16;
  uint64_t baseAddress = 0;
  /// The rank is the number of dims; fastest first.
  llvm::SmallVector<int64_t, 5> dims;
  /// Bytes between neighbours along dims 1, 2, ...: rank - 1 entries, in any
  /// order of size; 0 repeats the same data.
  llvm::SmallVector<int64_t, 4> strides;
  llvm::SmallVector<int64_t, 5> box;
  /// Empty means 1 in every dimension.
  llvm::SmallVector<int64_t, 5> elementStrides;
  Swizzle swizzle = Swizzle::None;
  Interleave interleave = Interleave::None;
  L2Promotion l2Promotion = L2Promotion::None;
  OobFill oobFill = OobFill::Zero;

  int64_t getRank() const { return static_cast<int64_t>(dims.size()); }
  /// Bytes that one full box signals to an mbarrier, out-of-bounds part
  /// included; meaningful for a spec that checks.
  int64_t getBoxBytes() const;

  /// Every broken rule, in a fixed order; empty when the driver would accept
  /// the map.
  std::vector<std::string> getViolations() const;
  /// Success, or one error a broken rule, joined.
  llvm::Error check() const;
};

} // namespace fa4

#endif // FA4_ENCODING_TENSORMAP_H
