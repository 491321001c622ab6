// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/InstructionDescriptor.h"
#include "gtest/gtest.h"
#include <random>

using namespace fa4;

static InstructionDescriptor attention(MmaType type, int64_t n, bool pv) {
  InstructionDescriptor descriptor;
  descriptor.aType = descriptor.bType = type;
  descriptor.bMajor = pv ? MajorMode::MN : MajorMode::K;
  descriptor.n = n;
  descriptor.m = 128;
  return descriptor;
}

static uint32_t encodeOrZero(const InstructionDescriptor &descriptor) {
  llvm::Expected<uint32_t> bits = descriptor.encode();
  if (bits)
    return *bits;
  ADD_FAILURE() << llvm::toString(bits.takeError());
  return 0;
}

static std::string encodeError(const InstructionDescriptor &descriptor) {
  llvm::Expected<uint32_t> bits = descriptor.encode();
  return bits ? "" : llvm::toString(bits.takeError());
}

static std::string decodeError(uint32_t bits, MmaKind kind) {
  auto descriptor = InstructionDescriptor::decode(bits, kind);
  return descriptor ? "" : llvm::toString(descriptor.takeError());
}

TEST(InstructionDescriptor, AttentionConstants) {
  EXPECT_EQ(encodeOrZero(attention(MmaType::F16, 128, false)), 136314896u);
  EXPECT_EQ(encodeOrZero(attention(MmaType::F16, 128, true)), 136380432u);
  EXPECT_EQ(encodeOrZero(attention(MmaType::BF16, 128, false)), 136316048u);
  EXPECT_EQ(encodeOrZero(attention(MmaType::BF16, 128, true)), 136381584u);
  EXPECT_EQ(encodeOrZero(attention(MmaType::F16, 64, false)), 135266320u);
  EXPECT_EQ(encodeOrZero(attention(MmaType::F16, 64, true)), 135331856u);
  EXPECT_EQ(encodeOrZero(attention(MmaType::BF16, 64, true)), 0x08110490u);
}

// Every legal combination, bit by bit from the table of the ISA rather than
// from the encoder's fields; and back.
TEST(InstructionDescriptor, EveryBitAndRoundTrip) {
  struct Operand {
    MmaKind kind;
    MmaType type;
    bool bit0, bit1, bit2;
  };
  const Operand operands[] = {
      {MmaKind::F16, MmaType::F16, 0, 0, 0},
      {MmaKind::F16, MmaType::BF16, 1, 0, 0},
      {MmaKind::F8F6F4, MmaType::E4M3, 0, 0, 0},
      {MmaKind::F8F6F4, MmaType::E5M2, 1, 0, 0},
      {MmaKind::F8F6F4, MmaType::E2M3, 1, 1, 0},
      {MmaKind::F8F6F4, MmaType::E3M2, 0, 0, 1},
      {MmaKind::F8F6F4, MmaType::E2M1, 1, 0, 1},
  };
  int checked = 0;
  for (const Operand &a : operands) {
    for (const Operand &b : operands) {
      if (a.kind != b.kind)
        continue;
      for (unsigned flags = 0; flags != 32; ++flags) {
        for (int64_t m : {64, 128, 256}) {
          for (int64_t n = 8; n <= 256; n += 8) {
            if (m != 64 && n % 16 != 0)
              continue;
            bool f32 = flags & 16;
            if (!f32 && (a.type == MmaType::BF16 || b.type == MmaType::BF16))
              continue;
            InstructionDescriptor d;
            d.kind = a.kind;
            d.aType = a.type;
            d.bType = b.type;
            d.dType = f32 ? MmaType::F32 : MmaType::F16;
            d.negateA = flags & 1;
            d.negateB = flags & 2;
            d.aMajor = flags & 4 ? MajorMode::MN : MajorMode::K;
            d.bMajor = flags & 8 ? MajorMode::MN : MajorMode::K;
            d.n = n;
            d.m = m;
            bool expected[32] = {};
            expected[4] = f32;
            expected[7] = a.bit0, expected[8] = a.bit1, expected[9] = a.bit2;
            expected[10] = b.bit0, expected[11] = b.bit1, expected[12] = b.bit2;
            expected[13] = flags & 1, expected[14] = flags & 2;
            expected[15] = flags & 4, expected[16] = flags & 8;
            for (unsigned i = 0; i != 6; ++i)
              expected[17 + i] = n & (int64_t(8) << i);
            for (unsigned i = 0; i != 5; ++i)
              expected[24 + i] = m & (int64_t(16) << i);
            uint32_t bits = encodeOrZero(d);
            for (unsigned i = 0; i != 32; ++i)
              ASSERT_EQ((bits >> i & 1) != 0, expected[i]) << "bit " << i;
            auto back = InstructionDescriptor::decode(bits, d.kind);
            ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
            ASSERT_TRUE(*back == d);
            ++checked;
          }
        }
      }
    }
  }
  // f16: 1 pair with both D types and 3 with f32 alone; f8f6f4: 25 pairs with
  // both; 16 flags, 32 + 16 + 16 shapes.
  EXPECT_EQ(checked, (1 * 2 + 3 + 25 * 2) * 16 * 64);
}

TEST(InstructionDescriptor, RangesAreNamed) {
  InstructionDescriptor d = attention(MmaType::F16, 128, false);
  d.m = 96;
  EXPECT_EQ(encodeError(d), "'m': expected 64, 128 or 256, but got 96");
  d.m = 128;
  for (int64_t n : {0, -16, 8, 120, 264, 272, 512}) {
    d.n = n;
    EXPECT_EQ(
        encodeError(d),
        "'n': expected 16 to 256 in steps of 16 where m is 128, but got " +
            std::to_string(n));
  }
  d.m = 64;
  d.n = 12;
  EXPECT_EQ(encodeError(d),
            "'n': expected 8 to 256 in steps of 8 where m is 64, but got 12");
  d.n = 8;
  EXPECT_EQ(encodeError(d), "");
  d.aType = MmaType::E4M3;
  EXPECT_EQ(encodeError(d),
            "'aType' of kind::f16: expected f16 or bf16, but got e4m3");
  d.kind = MmaKind::F8F6F4;
  EXPECT_EQ(encodeError(d), "'bType' of kind::f8f6f4: expected e4m3, e5m2, "
                            "e2m3, e3m2 or e2m1, but got f16");
  d.bType = MmaType::E2M1;
  d.dType = MmaType::BF16;
  EXPECT_EQ(encodeError(d), "'dType': expected f16 or f32, but got bf16");
  d = attention(MmaType::BF16, 128, false);
  d.dType = MmaType::F16;
  EXPECT_EQ(encodeError(d),
            "'dType': expected f32 where an operand is bf16, but got f16");
}

TEST(InstructionDescriptor, DecodeRefusesWhatIsReserved) {
  uint32_t good = 136314896;
  for (unsigned bit : {0u, 1u, 2u, 3u, 6u, 23u, 29u, 30u, 31u})
    EXPECT_EQ(decodeError(good | 1u << bit, MmaKind::F16),
              "bit " + std::to_string(bit) +
                  " of the instruction descriptor: expected 0 for a dense "
                  "kind::f16, but got 1");
  EXPECT_EQ(decodeError((good & ~0x30u) | 2u << 4, MmaKind::F16),
            "'dType': expected code 0 (f16) or 1 (f32), but got code 2");
  EXPECT_EQ(decodeError(good | 2u << 7, MmaKind::F16),
            "'aType' of kind::f16: expected f16 or bf16, but got code 2");
  EXPECT_EQ(decodeError(good | 2u << 10, MmaKind::F8F6F4),
            "'bType' of kind::f8f6f4: expected e4m3, e5m2, e2m3, e3m2 or e2m1, "
            "but got code 2");
  EXPECT_EQ(decodeError(good & ~(63u << 17), MmaKind::F16),
            "'n': expected 16 to 256 in steps of 16 where m is 128, but got 0");
}

TEST(InstructionDescriptor, DecodedWordsEncodeToThemselves) {
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i != 2000000; ++i) {
    uint32_t bits = random() & 0x1F7FFFB0;
    for (MmaKind kind : {MmaKind::F16, MmaKind::F8F6F4}) {
      auto descriptor = InstructionDescriptor::decode(bits, kind);
      if (!descriptor) {
        llvm::consumeError(descriptor.takeError());
        continue;
      }
      ++accepted;
      ASSERT_EQ(encodeOrZero(*descriptor), bits);
    }
    if (accepted > 2000)
      break;
  }
  EXPECT_GT(accepted, 2000);
}

TEST(InstructionDescriptor, KOfOneInstruction) {
  EXPECT_EQ(getMmaK(MmaKind::F16), 16);
  EXPECT_EQ(getMmaK(MmaKind::F8F6F4), 32);
}
