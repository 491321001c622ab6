// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/SmemDescriptor.h"
#include "gtest/gtest.h"
#include <random>

using namespace fa4;

static uint64_t encodeOrZero(const SmemDescriptor &descriptor,
                             MmaFlavour flavour) {
  llvm::Expected<uint64_t> bits = descriptor.encode(flavour);
  if (bits)
    return *bits;
  ADD_FAILURE() << llvm::toString(bits.takeError());
  return 0;
}

static std::string decodeError(uint64_t bits, MmaFlavour flavour) {
  auto descriptor = SmemDescriptor::decode(bits, flavour);
  return descriptor ? "" : llvm::toString(descriptor.takeError());
}

static SmemDescriptor panels128(int64_t address) {
  SmemDescriptor descriptor;
  descriptor.startAddress = address;
  descriptor.leadingByteOffset = 16384;
  descriptor.strideByteOffset = 1024;
  descriptor.swizzle = Swizzle::B128;
  return descriptor;
}

TEST(SmemDescriptor, AttentionConstants) {
  EXPECT_EQ(encodeOrZero(panels128(0), MmaFlavour::Tcgen05),
            4611756662116581376u);
  EXPECT_EQ(encodeOrZero(panels128(0), MmaFlavour::Wgmma),
            4611686293372403712u);
  EXPECT_EQ(encodeOrZero(panels128(0), MmaFlavour::Tcgen05),
            0x4000404004000000u);
  EXPECT_EQ(encodeOrZero(panels128(0x2A400), MmaFlavour::Tcgen05),
            0x4000404004000000u | 0x2A40u);
  // A 64-row Q tile of a Hopper kernel.
  SmemDescriptor q = panels128(0);
  q.leadingByteOffset = 512 * 16;
  EXPECT_EQ(encodeOrZero(q, MmaFlavour::Wgmma), 0x4000004002000000u);
}

TEST(SmemDescriptor, EveryBit) {
  std::mt19937 random(11);
  // The three-bit codes of tcgen05, from bit 61.
  const std::pair<Swizzle, unsigned> codes[] = {{Swizzle::None, 0},
                                                {Swizzle::B128, 2},
                                                {Swizzle::B64, 4},
                                                {Swizzle::B32, 6}};
  for (int i = 0; i != 4000; ++i) {
    uint32_t start = random() % 16384, leading = random() % 16384,
             stride = random() % 16384, base = random() % 8;
    auto [swizzle, code] = codes[random() % 4];
    SmemDescriptor d;
    d.startAddress = int64_t(start) * 16;
    d.leadingByteOffset = int64_t(leading) * 16;
    d.strideByteOffset = int64_t(stride) * 16;
    d.baseOffset = base;
    d.swizzle = swizzle;
    bool expected[64] = {};
    for (unsigned b = 0; b != 14; ++b) {
      expected[b] = start >> b & 1;
      expected[16 + b] = leading >> b & 1;
      expected[32 + b] = stride >> b & 1;
    }
    for (unsigned b = 0; b != 3; ++b) {
      expected[49 + b] = base >> b & 1;
      expected[61 + b] = code >> b & 1;
    }
    for (MmaFlavour flavour : {MmaFlavour::Tcgen05, MmaFlavour::Wgmma}) {
      expected[46] = flavour == MmaFlavour::Tcgen05;
      uint64_t bits = encodeOrZero(d, flavour);
      for (unsigned b = 0; b != 64; ++b)
        ASSERT_EQ((bits >> b & 1) != 0, expected[b]) << "bit " << b;
      auto back = SmemDescriptor::decode(bits, flavour);
      ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
      ASSERT_TRUE(*back == d);
    }
    ASSERT_EQ(encodeOrZero(d, MmaFlavour::Tcgen05) ^
                  encodeOrZero(d, MmaFlavour::Wgmma),
              uint64_t(1) << 46);
  }
}

TEST(SmemDescriptor, RangesAreNamed) {
  auto error = [](SmemDescriptor d) {
    llvm::Expected<uint64_t> bits = d.encode(MmaFlavour::Tcgen05);
    return bits ? std::string() : llvm::toString(bits.takeError());
  };
  const std::string rule = ": expected a multiple of 16 from 0 to 262128 "
                           "bytes, but got ";
  for (int64_t bad : {int64_t(-16), int64_t(8), int64_t(262144)}) {
    SmemDescriptor d = panels128(bad);
    EXPECT_EQ(error(d), "'startAddress'" + rule + std::to_string(bad));
    d = panels128(0);
    d.leadingByteOffset = bad;
    EXPECT_EQ(error(d), "'leadingByteOffset'" + rule + std::to_string(bad));
    d = panels128(0);
    d.strideByteOffset = bad;
    EXPECT_EQ(error(d), "'strideByteOffset'" + rule + std::to_string(bad));
  }
  EXPECT_EQ(error(panels128(262128)), "");
  SmemDescriptor d = panels128(0);
  for (int64_t bad : {-1, 8}) {
    d.baseOffset = bad;
    EXPECT_EQ(error(d),
              "'baseOffset': expected 0 to 7, but got " + std::to_string(bad));
  }
}

TEST(SmemDescriptor, DecodeRefusesWhatIsReserved) {
  uint64_t tcgen05 = 4611756662116581376u, wgmma = 4611686293372403712u;
  auto bit = [](unsigned index) { return uint64_t(1) << index; };
  for (unsigned b :
       {14u, 15u, 30u, 31u, 53u, 54u, 55u, 56u, 57u, 58u, 59u, 60u}) {
    EXPECT_EQ(decodeError(tcgen05 | bit(b), MmaFlavour::Tcgen05),
              "bit " + std::to_string(b) +
                  " of a tcgen05 matrix descriptor: expected 0, but got 1");
    EXPECT_EQ(decodeError(wgmma | bit(b), MmaFlavour::Wgmma),
              "bit " + std::to_string(b) +
                  " of a wgmma matrix descriptor: expected 0, but got 1");
  }
  EXPECT_EQ(decodeError(wgmma, MmaFlavour::Tcgen05),
            "bits 46-48 of a tcgen05 matrix descriptor: expected 1, but got 0");
  EXPECT_EQ(decodeError(tcgen05, MmaFlavour::Wgmma),
            "bits 46-48 of a wgmma matrix descriptor: expected 0, but got 1");
  EXPECT_EQ(decodeError(tcgen05 | bit(52), MmaFlavour::Tcgen05),
            "bit 52 of a tcgen05 matrix descriptor: expected 0 (relative "
            "leading offset), but got 1");
  EXPECT_EQ(decodeError(wgmma | bit(61), MmaFlavour::Wgmma),
            "bit 61 of a wgmma matrix descriptor: expected 0, but got 1");
  for (uint64_t code : {1, 3, 5, 7})
    EXPECT_EQ(
        decodeError((tcgen05 & ~(uint64_t(7) << 61)) | code << 61,
                    MmaFlavour::Tcgen05),
        "'swizzle': expected code 0 (none), 2 (128B), 4 (64B) or 6 (32B), "
        "but got code " +
            std::to_string(code));
}
