// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reduction.h"

#include "FloatFormat.h"

#include <algorithm>

using namespace ptxsim;

bool ptxsim::reductionByName(std::string_view name, Reduction &what) {
  static constexpr std::pair<std::string_view, Reduction> kNames[] = {
      {"add", Reduction::Add},  {"min", Reduction::Min},
      {"max", Reduction::Max},  {"inc", Reduction::Inc},
      {"dec", Reduction::Dec},  {"and", Reduction::And},
      {"or", Reduction::Or},    {"xor", Reduction::Xor},
      {"exch", Reduction::Exch}};
  for (auto &[text, value] : kNames)
    if (text == name) {
      what = value;
      return true;
    }
  return false;
}

bool ptxsim::reductionTakes(Reduction what, Type type) {
  switch (what) {
  case Reduction::And:
  case Reduction::Or:
  case Reduction::Xor:
    return type == Type::B32 || type == Type::B64;
  case Reduction::Exch:
    return type == Type::B32 || type == Type::B64 || type == Type::B128;
  case Reduction::Inc:
  case Reduction::Dec:
    return type == Type::U32;
  case Reduction::Add:
    return type == Type::U32 || type == Type::S32 || type == Type::U64 ||
           (isFloat(type) && type != Type::TF32 && type != Type::F32x2);
  case Reduction::Min:
  case Reduction::Max:
    return type == Type::U32 || type == Type::S32 || type == Type::U64 ||
           type == Type::S64 ||
           (isFloat(type) && bitWidth(type) <= 32 && type != Type::F32 &&
            type != Type::TF32);
  }
  return false;
}

namespace {

uint16_t halfStep(Reduction what, bool bf, uint16_t a, uint16_t b) {
  float x = bf ? decodeBF16(a) : decodeF16(a);
  float y = bf ? decodeBF16(b) : decodeF16(b);
  if (what == Reduction::Add)
    return uint16_t(encode(addToOdd(x, y), bf ? kBF16 : kF16, Round::RN));
  bool max = what == Reduction::Max;
  if (x != x && y != y)
    return 0x7fff;
  if (x != x)
    return b;
  if (y != y)
    return a;
  if (x == y)
    return std::signbit(x) == max ? b : a;
  return (x > y) == max ? a : b;
}

template <class T> uint64_t integerStep(Reduction what, T a, T b) {
  switch (what) {
  case Reduction::Add:
    return uint64_t(a) + uint64_t(b);
  case Reduction::Min:
    return uint64_t(std::min(a, b));
  case Reduction::Max:
    return uint64_t(std::max(a, b));
  case Reduction::Inc: // back to zero after b
    return a >= b ? 0 : uint64_t(a) + 1;
  case Reduction::Dec: // b after zero
    return a == 0 || a > b ? uint64_t(b) : uint64_t(a) - 1;
  case Reduction::And:
    return uint64_t(a) & uint64_t(b);
  case Reduction::Or:
    return uint64_t(a) | uint64_t(b);
  case Reduction::Xor:
    return uint64_t(a) ^ uint64_t(b);
  case Reduction::Exch:
    return uint64_t(b);
  }
  return 0;
}

} // namespace

uint64_t ptxsim::reduce(Reduction what, Type type, uint64_t old, uint64_t value,
                        bool global) {
  switch (type) {
  case Type::F16:
  case Type::BF16:
    return halfStep(what, type == Type::BF16, uint16_t(old), uint16_t(value));
  case Type::F16x2:
  case Type::BF16x2: {
    bool bf = type == Type::BF16x2;
    uint32_t low = halfStep(what, bf, uint16_t(old), uint16_t(value));
    uint32_t high =
        halfStep(what, bf, uint16_t(old >> 16), uint16_t(value >> 16));
    return low | high << 16;
  }
  case Type::F32: { // addition only
    float a = bitsToFloat(uint32_t(old)), b = bitsToFloat(uint32_t(value));
    if (global)
      a = flush(a), b = flush(b);
    float sum = canonical(a + b);
    return floatToBits(global ? flush(sum) : sum);
  }
  case Type::F64: {
    double a, b;
    std::memcpy(&a, &old, 8);
    std::memcpy(&b, &value, 8);
    // There a NaN is passed on as it is.
    if (global && (a != a || b != b))
      return b != b ? value : old;
    a += b;
    std::memcpy(&old, &a, 8);
    return old;
  }
  case Type::S32:
    return integerStep(what, int32_t(old), int32_t(value));
  case Type::S64:
    return integerStep(what, int64_t(old), int64_t(value));
  case Type::U64:
  case Type::B64:
    return integerStep(what, old, value);
  default:
    return integerStep(what, uint32_t(old), uint32_t(value));
  }
}

std::mutex &ptxsim::globalLock(uint64_t address) {
  static std::mutex locks[64];
  return locks[address / 64 % 64];
}
