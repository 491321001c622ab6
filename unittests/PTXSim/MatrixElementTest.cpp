// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The 8-, 6- and 4-bit formats: values of the OCP and PTX tables, conversions,
// and tcgen05.mma of kinds tf32 and f8f6f4.

#include "WordsUtil.h"

#include "MatrixElement.h"

#include <cmath>
#include <functional>

using namespace ptxsim;

namespace {

TEST(SmallFormats, TableValues) {
  EXPECT_EQ(decodeSmall(Element::E4M3, 0x7e), 448.0f);
  EXPECT_EQ(decodeSmall(Element::E4M3, 0x08), 0x1p-6f);
  EXPECT_EQ(decodeSmall(Element::E4M3, 0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(decodeSmall(Element::E4M3, 0xff)));
  EXPECT_EQ(decodeSmall(Element::E5M2, 0x7b), 57344.0f);
  EXPECT_EQ(decodeSmall(Element::E5M2, 0x01), 0x1p-16f);
  EXPECT_EQ(decodeSmall(Element::E5M2, 0xfc), -INFINITY);
  EXPECT_EQ(decodeSmall(Element::E2M3, 0x1f), 7.5f);
  EXPECT_EQ(decodeSmall(Element::E2M3, 0x01), 0.125f);
  EXPECT_EQ(decodeSmall(Element::E3M2, 0x1f), 28.0f);
  EXPECT_EQ(decodeSmall(Element::E3M2, 0x21), -0.0625f);
  const float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(decodeSmall(Element::E2M1, uint8_t(i)), e2m1[i]);
    EXPECT_EQ(decodeSmall(Element::E2M1, uint8_t(i + 8)), -e2m1[i]);
  }
}

TEST(SmallFormats, EncodeIsTheNearestCode) {
  struct Format {
    Element e;
    unsigned codes; // positive and finite
  };
  for (Format f : {Format{Element::E4M3, 0x7f}, Format{Element::E5M2, 0x7c},
                   Format{Element::E2M3, 32}, Format{Element::E3M2, 32},
                   Format{Element::E2M1, 8}})
    for (unsigned c = 0; c < f.codes; ++c) {
      float v = decodeSmall(f.e, uint8_t(c));
      EXPECT_EQ(encodeSmall(f.e, v), c);
      if (c + 1 == f.codes) {
        EXPECT_EQ(encodeSmall(f.e, 2 * v), c); // saturates
        continue;
      }
      float next = decodeSmall(f.e, uint8_t(c + 1)), middle = (v + next) / 2;
      EXPECT_EQ(encodeSmall(f.e, middle), c % 2 ? c + 1 : c); // to even
      EXPECT_EQ(encodeSmall(f.e, std::nextafter(middle, v)), c);
      EXPECT_EQ(encodeSmall(f.e, std::nextafter(middle, next)), c + 1);
    }
}

uint32_t convert(const std::string &form, const std::string &operands,
                 std::vector<uint64_t> in) {
  return uint32_t(eval(" " + form + " " + operands, in));
}

TEST(Convert, SmallFormats) {
  const char *to8 = "%h20, %w0, %w1; cvt.u64.u16 %out, %h20;";
  EXPECT_EQ(
      convert("cvt.rn.satfinite.e4m3x2.f32", to8, {f32(448.0f), f32(-1000.0f)}),
      0x7efeu);
  EXPECT_EQ(
      convert("cvt.rn.satfinite.relu.e5m2x2.f32", to8, {f32(1.0f), f32(-1.0f)}),
      0x3c00u);
  const char *from8 = "%w20, %h0; cvt.u64.u32 %out, %w20;";
  EXPECT_EQ(convert("cvt.rn.f16x2.e4m3x2", from8, {0x3840}), 0x3c004000u);
  EXPECT_EQ(convert("cvt.rn.f16x2.e5m2x2", from8, {0xbc7c}), 0xbc007c00u);
  EXPECT_EQ(convert("cvt.rz.ue8m0x2.f32", to8, {f32(3.0f), f32(1.0f)}),
            0x807fu);
  EXPECT_EQ(convert("cvt.rp.ue8m0x2.f32", to8, {f32(3.0f), f32(1.0f)}),
            0x817fu);
  EXPECT_EQ(convert("cvt.rn.bf16x2.ue8m0x2", from8, {0x807f}), 0x40003f80u);
}

TEST(Convert, TF32) {
  const char *one = "%w20, %w0; cvt.u64.u32 %out, %w20;";
  // 1 + 2^-11 lies between two tf32 values.
  EXPECT_EQ(convert("cvt.rna.tf32.f32", one, {0x3f801000}), 0x3f802000u);
  EXPECT_EQ(convert("cvt.rn.tf32.f32", one, {0x3f801000}), 0x3f800000u);
  EXPECT_EQ(convert("cvt.rz.tf32.f32", one, {0xbf801fff}), 0xbf800000u);
}

TEST(Convert, Pack) {
  const char *two = "%w20, %w0, %w1; cvt.u64.u32 %out, %w20;";
  EXPECT_EQ(convert("cvt.pack.sat.s16.s32", two, {40000, uint32_t(-40000)}),
            0x7fff8000u);
  EXPECT_EQ(convert("cvt.pack.sat.u8.s32.b32",
                    "%w20, %w0, %w1, %w2; cvt.u64.u32 %out, %w20;",
                    {300, uint32_t(-1), 0xabcd1234}),
            0x1234ff00u);
}

// kinds tf32 and f8f6f4: D[m][n] = sum A[m][k] B[n][k], 128 x 16.
struct Kind {
  const char *name;
  Element e;
  unsigned code, depth;
  std::function<float(unsigned)> value; // of code
  std::function<uint32_t(unsigned)> bits;
};

constexpr unsigned kSbo = 256, kLbo = 128;

void solveKind(const Kind &kind, bool aInTmem, bool f32Out = true) {
  const unsigned depth = kind.depth, n = 16, per = 32 / depth;
  std::vector<uint32_t> image(8192);
  auto *bytes = reinterpret_cast<uint8_t *>(image.data());
  auto codeOf = [](unsigned row, unsigned k) { return (row * 3 + k * 5) % 7; };
  // K-major without swizzle; a row is two chunks of 16 bytes.
  auto put = [&](unsigned base, unsigned row, unsigned k, uint32_t v) {
    unsigned inChunk = k % (depth / 2), chunk = k / (depth / 2);
    uint8_t *at = bytes + base + row / 8 * kSbo + chunk * kLbo + row % 8 * 16;
    switch (kind.e) {
    case Element::TF32:
      std::memcpy(at + 4 * inChunk, &v, 4);
      break;
    case Element::E2M1:
      at[inChunk / 2] |= uint8_t(v << (4 * (inChunk % 2)));
      break;
    case Element::E2M3:
    case Element::E3M2:
      for (unsigned b = 0; b < 6; ++b)
        if (v >> b & 1)
          at[(6 * inChunk + b) / 8] |= uint8_t(1u << ((6 * inChunk + b) % 8));
      break;
    default:
      at[inChunk] = uint8_t(v);
    }
  };
  for (unsigned k = 0; k < depth; ++k) {
    for (unsigned m = 0; m < 128; ++m)
      put(1024, m, k, kind.bits(codeOf(m, k)));
    for (unsigned j = 0; j < n; ++j)
      put(8192, j, k, kind.bits(codeOf(j + 1, k)));
  }
  // A in TMEM: 32 bytes a lane, codes in containers.
  for (unsigned m = 0; m < 128; ++m)
    for (unsigned k = 0; k < depth; ++k) {
      uint32_t v = kind.bits(codeOf(m, k));
      uint8_t *at = bytes + 16384 + 32 * m + k * per;
      if (kind.e == Element::TF32)
        std::memcpy(at, &v, 4);
      else
        *at = uint8_t(kind.e == Element::E2M1 ? v << 2 : v);
    }
  auto desc = [](unsigned offset) {
    return uint64_t(1) << 46 | uint64_t(kSbo >> 4) << 32 |
           uint64_t(kLbo >> 4) << 16 | (1024 + offset) >> 4;
  };
  uint32_t idesc = uint32_t(f32Out) << 4 | kind.code << 7 | kind.code << 10 |
                   n / 8 << 17 | 128 / 16 << 24;
  std::string body =
      fillShared(8192) + R"( setp.ge.u32 %p2, %tid, 32; @%p2 bra ready;
 mov.u32 %t0, smem; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%t0], 64;
 setp.eq.u32 %p1, %tid, 0; @%p1 mbarrier.init.shared::cta.b64 [%t0+8], 1; bar.warp.sync -1;
ready: bar.sync 0; mov.u32 %t0, smem; ld.shared.u32 %t1, [%t0]; shr.u32 %t3, %tid, 5; shl.b32 %t4, %t3, 21; add.u32 %t2, %t1, %t4;
 mad.lo.u32 %t5, %tid, 32, %t0; ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%t5+16384]; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%t5+16400];
 add.u32 %t6, %t2, 32; tcgen05.st.sync.aligned.32x32b.x8.b32 [%t6], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};
 tcgen05.wait::st.sync.aligned; bar.sync 0; setp.ne.u32 %p3, %tid, 0; @%p3 bra wait;
)";
  body += " mov.b64 %d1, " + std::to_string(desc(1024)) + "; mov.b64 %d2, " +
          std::to_string(desc(8192)) + "; mov.u32 %r20, " +
          std::to_string(idesc) +
          "; setp.ne.u32 %p5, 0, 0; add.u32 %t6, %t1, 32; "
          "tcgen05.mma.cta_group::1.kind::" +
          kind.name + " [%t1], " + (aInTmem ? "[%t6]" : "%d1") +
          R"(, %d2, %r20, %p5;
 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%t0+8];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%t0+8], 0; @!%p4 bra wait;
 bar.sync 0; tcgen05.ld.sync.aligned.32x32b.x16.b32 )" +
          registerList("%r", 1, 16) +
          ", [%t2]; tcgen05.wait::ld.sync.aligned; mul.wide.u32 %d1, %tid, 64; "
          "add.u64 %d1, %d1, %op;";
  for (unsigned c = 0; c < 16; ++c)
    body += " st.global.u32 [%d1+" + std::to_string(4 * c) + "], %r" +
            std::to_string(1 + c) + ";";
  body += " bar.sync 0; @%p2 bra out; "
          "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t1, 64; out:";
  WordsRun r =
      runWords(body, image, 128 * 16, 128, modeOptions(AsyncMode::Lazy), 32768);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (unsigned m = 0; m < 128; ++m)
    for (unsigned j = 0; j < n; ++j) {
      float sum = 0;
      for (unsigned k = 0; k < depth; ++k)
        sum += kind.value(codeOf(m, k)) * kind.value(codeOf(j + 1, k));
      float got = f32Out ? asF32(r.out[16 * m + j])
                         : decodeF16(uint16_t(r.out[16 * m + j]));
      ASSERT_EQ(got, sum) << kind.name << " " << m << ", " << j;
    }
}

std::vector<Kind> kinds() {
  auto small = [](Element e, unsigned code) {
    return Kind{"f8f6f4",
                e,
                code,
                32,
                [=](unsigned c) { return decodeSmall(e, uint8_t(c + 1)); },
                [](unsigned c) { return uint32_t(c + 1); }};
  };
  // e4m3 codes 1 .. 7 are subnormal: take exponents near one as well.
  auto shifted = [](Element e, unsigned code, unsigned base) {
    return Kind{"f8f6f4",
                e,
                code,
                32,
                [=](unsigned c) { return decodeSmall(e, uint8_t(base + c)); },
                [=](unsigned c) { return uint32_t(base + c); }};
  };
  return {Kind{"tf32", Element::TF32, 2, 8,
               [](unsigned c) { return float(c) - 3; },
               // Mantissa bits that tf32 has not are ignored.
               [](unsigned c) {
                 return f32(float(int(c) - 3)) | 0x1fffu * (c != 3);
               }},
          shifted(Element::E4M3, 0, 0x38),
          shifted(Element::E5M2, 1, 0xbc),
          small(Element::E2M3, 2),
          shifted(Element::E3M2, 3, 0x2c),
          small(Element::E2M1, 4)};
}

TEST(MmaKinds, AInSharedMemory) {
  for (const Kind &k : kinds())
    solveKind(k, false);
}

TEST(MmaKinds, AInTmem) {
  for (const Kind &k : kinds())
    solveKind(k, true);
}

TEST(MmaKinds, HalfAccumulator) { solveKind(kinds()[5], false, false); }

} // namespace
