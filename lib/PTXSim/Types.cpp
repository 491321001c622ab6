// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Types.h"

using namespace ptxsim;

namespace {
struct Entry {
  const char *name;
  unsigned bits;
};
// In the order of the enumeration.
constexpr Entry kTypes[] = {
    {"", 0},       {"pred", 1},   {"b8", 8},    {"b16", 16},    {"b32", 32},
    {"b64", 64},   {"b128", 128}, {"u8", 8},    {"u16", 16},    {"u32", 32},
    {"u64", 64},   {"s8", 8},     {"s16", 16},  {"s32", 32},    {"s64", 64},
    {"f16", 16},   {"f16x2", 32}, {"bf16", 16}, {"bf16x2", 32}, {"f32", 32},
    {"f32x2", 64}, {"f64", 64},   {"tf32", 32},
};
constexpr unsigned kCount = sizeof(kTypes) / sizeof(kTypes[0]);
} // namespace

Type ptxsim::parseType(std::string_view text) {
  for (unsigned i = 1; i < kCount; ++i)
    if (text == kTypes[i].name)
      return Type(i);
  return Type::None;
}

const char *ptxsim::typeName(Type type) { return kTypes[unsigned(type)].name; }

unsigned ptxsim::bitWidth(Type type) { return kTypes[unsigned(type)].bits; }
