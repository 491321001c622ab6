// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// PTX fundamental types.

#ifndef PTXSIM_LIB_TYPES_H
#define PTXSIM_LIB_TYPES_H

#include <cstdint>
#include <string_view>

namespace ptxsim {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F32x2,
  F64,
  TF32,
};

/// The type that a modifier without its dot names, or None.
Type parseType(std::string_view text);
const char *typeName(Type type);

/// Width in bits; 1 for a predicate.
unsigned bitWidth(Type type);
inline unsigned byteWidth(Type type) { return (bitWidth(type) + 7) / 8; }

inline bool isSigned(Type t) { return t >= Type::S8 && t <= Type::S64; }
inline bool isFloat(Type t) { return t >= Type::F16; }
inline bool isInteger(Type t) { return t >= Type::B8 && t <= Type::S64; }

} // namespace ptxsim

#endif // PTXSIM_LIB_TYPES_H
