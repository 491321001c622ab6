// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/Swizzle.h"

using namespace fa4;

int64_t fa4::getSpanBytes(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::B32:
    return 32;
  case Swizzle::B64:
    return 64;
  case Swizzle::B128:
    return 128;
  case Swizzle::None:
    break;
  }
  return 16;
}

int64_t fa4::getPatternBytes(Swizzle swizzle) {
  return swizzle == Swizzle::None ? 16 : 8 * getSpanBytes(swizzle);
}

uint64_t fa4::applySwizzle(uint64_t address, Swizzle swizzle) {
  // The chunk index within a span is exchanged with as many bits from bit 7 on.
  uint64_t chunks = static_cast<uint64_t>(getSpanBytes(swizzle)) / 16;
  return address ^ (((address >> 7) & (chunks - 1)) << 4);
}

llvm::StringRef fa4::stringifySwizzle(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::B32:
    return "32B";
  case Swizzle::B64:
    return "64B";
  case Swizzle::B128:
    return "128B";
  case Swizzle::None:
    break;
  }
  return "none";
}

std::optional<Swizzle> fa4::symbolizeSwizzle(llvm::StringRef name) {
  for (Swizzle swizzle : allSwizzles)
    if (name == stringifySwizzle(swizzle))
      return swizzle;
  return std::nullopt;
}
