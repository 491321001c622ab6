// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/Swizzle.h"
#include "gtest/gtest.h"
#include <set>

using namespace fa4;

// The published byte offsets of (row, 16-byte chunk) in a 128-byte swizzled
// tile.
TEST(Swizzle, WorkedExample) {
  EXPECT_EQ(applySwizzle(0 * 128 + 0 * 16, Swizzle::B128), 0x000u);
  EXPECT_EQ(applySwizzle(1 * 128 + 0 * 16, Swizzle::B128), 0x090u);
  EXPECT_EQ(applySwizzle(3 * 128 + 5 * 16, Swizzle::B128), 0x1E0u);
  EXPECT_EQ(applySwizzle(7 * 128 + 7 * 16, Swizzle::B128), 0x380u);
}

TEST(Swizzle, BitsOfTheAbsoluteAddress) {
  auto bit = [](uint64_t value, unsigned index) { return value >> index & 1; };
  for (uint64_t address = 0; address < 4096; address += 4) {
    uint64_t x128 = applySwizzle(address, Swizzle::B128);
    uint64_t x64 = applySwizzle(address, Swizzle::B64);
    uint64_t x32 = applySwizzle(address, Swizzle::B32);
    for (unsigned i = 0; i != 20; ++i) {
      bool in128 = i >= 4 && i <= 6, in64 = i == 4 || i == 5, in32 = i == 4;
      EXPECT_EQ(bit(x128, i),
                bit(address, i) ^ (in128 ? bit(address, i + 3) : 0));
      EXPECT_EQ(bit(x64, i),
                bit(address, i) ^ (in64 ? bit(address, i + 3) : 0));
      EXPECT_EQ(bit(x32, i),
                bit(address, i) ^ (in32 ? bit(address, i + 3) : 0));
    }
    EXPECT_EQ(applySwizzle(address, Swizzle::None), address);
  }
}

TEST(Swizzle, PermutesEachPatternAndIsItsOwnInverse) {
  for (Swizzle swizzle : allSwizzles) {
    uint64_t pattern = static_cast<uint64_t>(getPatternBytes(swizzle));
    std::set<uint64_t> seen;
    for (uint64_t address = 3 * pattern; address != 4 * pattern; ++address) {
      uint64_t physical = applySwizzle(address, swizzle);
      EXPECT_GE(physical, 3 * pattern);
      EXPECT_LT(physical, 4 * pattern);
      EXPECT_EQ(applySwizzle(physical, swizzle), address);
      EXPECT_EQ(applySwizzle(address + pattern, swizzle), physical + pattern);
      seen.insert(physical);
    }
    EXPECT_EQ(seen.size(), pattern);
  }
}

TEST(Swizzle, Names) {
  for (Swizzle swizzle : allSwizzles)
    EXPECT_EQ(symbolizeSwizzle(stringifySwizzle(swizzle)), swizzle);
  EXPECT_EQ(stringifySwizzle(Swizzle::B128), "128B");
  EXPECT_FALSE(symbolizeSwizzle("128"));
  EXPECT_FALSE(symbolizeSwizzle(""));
}
