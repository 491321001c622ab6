// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Floating point: rounding modes, subnormals, NaN rules and conversions. With
// the integer tests this is M1 and M2 of docs/cases.md.

#include "TestUtil.h"

#include "FloatFormat.h"

#include <cmath>
#include <limits>
#include <random>

using namespace ptxsim;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr uint32_t kQuietNaN = 0x7fffffff;

TEST(Float, RoundingDirections) {
  uint32_t one = f32(1), tiny = f32(1e-20f);
  EXPECT_EQ(eval32("add.rn.f32", {one, tiny}), one);
  EXPECT_EQ(eval32("add.rz.f32", {one, tiny}), one);
  EXPECT_EQ(eval32("add.rm.f32", {one, tiny}), one);
  EXPECT_EQ(eval32("add.rp.f32", {one, tiny}), one + 1);
  EXPECT_EQ(eval32("sub.rz.f32", {one, tiny}), one - 1);
  EXPECT_EQ(eval32("sub.rm.f32", {one, tiny}), one - 1);
  EXPECT_EQ(eval32("sub.rp.f32", {one, tiny}), one);
  uint32_t big = f32(3e38f);
  EXPECT_EQ(eval32("mul.rz.f32", {big, big}), 0x7f7fffffu);
  EXPECT_EQ(eval32("mul.rn.f32", {big, big}), 0x7f800000u);
  EXPECT_EQ(eval32("mul.rm.f32", {big, big | 0x80000000}), 0xff800000u);
  // x + (-x) is -0 only when rounding down.
  EXPECT_EQ(eval32("add.rm.f32", {one, one | 0x80000000}), 0x80000000u);
  EXPECT_EQ(eval32("add.rn.f32", {one, one | 0x80000000}), 0u);
  EXPECT_EQ(eval32("fma.rp.f32", {f32(1.5f), f32(2), tiny}), f32(3) + 1);
}

// 2^23 + 2^22 added rounding down leaves floor(x) in the mantissa.
TEST(Float, RoundDownAddFindsTheFloor) {
  uint32_t magic = 0x4b400000;
  for (float x : {-0.25f, -1.0f, -1.5f, -126.75f, 0.0f, 3.999f}) {
    uint32_t r = eval32("add.rm.ftz.f32", {f32(x), magic});
    EXPECT_EQ(int32_t(r - magic), int32_t(std::floor(x))) << x;
  }
}

TEST(Float, FmaRoundsOnce) {
  float a = 1.0f + 0x1p-12f;
  float c = -(1.0f + 0x1p-11f);
  EXPECT_EQ(eval32("fma.rn.f32", {f32(a), f32(a), f32(c)}), f32(0x1p-24f));
}

// Against the host's own correctly rounded operations.
TEST(Float, NearestMatchesTheHost) {
  std::mt19937 random(1);
  std::vector<std::vector<uint64_t>> rows;
  for (unsigned i = 0; i < 256; ++i)
    rows.push_back(
        {uint32_t(random()), uint32_t(random()), uint32_t(random())});
  for (unsigned op = 0; op < 3; ++op) {
    static const char *kText[] = {"add.f32 %w4, %w0, %w1",
                                  "mul.f32 %w4, %w0, %w1",
                                  "fma.rn.f32 %w4, %w0, %w1, %w2"};
    KernelRun r = runRows(
        std::string(" ") + kText[op] + "; cvt.u64.u32 %out, %w4;", rows);
    ASSERT_TRUE(r.result.ok()) << r.result.str();
    for (unsigned i = 0; i < 256; ++i) {
      float a = asF32(rows[i][0]), b = asF32(rows[i][1]), c = asF32(rows[i][2]);
      float want = op == 0 ? a + b : op == 1 ? a * b : std::fma(a, b, c);
      uint32_t bits = std::isnan(want) ? kQuietNaN : f32(want);
      EXPECT_EQ(uint32_t(r.out[i]), bits) << kText[op] << " row " << i;
    }
  }
}

TEST(Float, FlushesSubnormals) {
  uint32_t sub = 1, nsub = 0x80000001, min = 0x00800000;
  EXPECT_EQ(eval32("mul.ftz.f32", {sub, f32(1)}), 0u);
  EXPECT_EQ(eval32("mul.ftz.f32", {nsub, f32(1)}), 0x80000000u);
  EXPECT_EQ(eval32("mul.f32", {sub, f32(1)}), 1u);
  EXPECT_EQ(eval32("mul.ftz.f32", {min, f32(0.5f)}), 0u);
  EXPECT_EQ(eval32("mul.f32", {min, f32(0.5f)}), 0x00400000u);
  EXPECT_EQ(eval32("add.ftz.f32", {nsub, nsub}), 0x80000000u);
  EXPECT_EQ(eval32("neg.ftz.f32", {sub}), 0x80000000u);
  EXPECT_EQ(eval32("add.sat.f32", {f32(0.75f), f32(0.75f)}), f32(1));
  EXPECT_EQ(eval32("add.sat.f32", {kQuietNaN, f32(0.75f)}), 0u);
}

TEST(Float, PackedPairs) {
  uint64_t a = uint64_t(f32(3)) << 32 | f32(1.5f);
  uint64_t b = uint64_t(f32(-2)) << 32 | f32(4);
  uint64_t c = uint64_t(f32(1)) << 32 | f32(0.25f);
  EXPECT_EQ(eval64("add.rn.f32x2", {a, b}), uint64_t(f32(1)) << 32 | f32(5.5f));
  EXPECT_EQ(eval64("mul.rn.f32x2", {a, b}), uint64_t(f32(-6)) << 32 | f32(6));
  EXPECT_EQ(eval64("fma.rn.f32x2", {a, b, c}),
            uint64_t(f32(-5)) << 32 | f32(6.25f));
  uint64_t tiny = uint64_t(f32(-1e-20f)) << 32 | f32(1e-20f);
  uint64_t ones = uint64_t(f32(1)) << 32 | f32(1);
  EXPECT_EQ(eval64("add.rm.ftz.f32x2", {ones, tiny}),
            uint64_t(f32(1) - 1) << 32 | f32(1));
}

TEST(Float, MinMaxRules) {
  uint32_t nan = 0x7fc00001, one = f32(1), pz = 0, nz = 0x80000000;
  EXPECT_EQ(eval32("max.f32", {nan, one}), one);
  EXPECT_EQ(eval32("max.f32", {one, nan}), one);
  EXPECT_EQ(eval32("max.f32", {nan, nan}), kQuietNaN);
  EXPECT_EQ(eval32("max.NaN.f32", {nan, one}), kQuietNaN);
  EXPECT_EQ(eval32("max.f32", {nz, pz}), pz);
  EXPECT_EQ(eval32("min.f32", {pz, nz}), nz);
  EXPECT_EQ(eval32("max.f32", {f32(-3), f32(2), f32(5)}), f32(5));
  EXPECT_EQ(eval32("max.f32", {nan, f32(-2), f32(-5)}), f32(-2));
  EXPECT_EQ(eval32("max.NaN.f32", {f32(1), f32(2), nan}), kQuietNaN);
  EXPECT_EQ(eval32("min.f32", {f32(-3), f32(2), f32(5)}), f32(-3));
  EXPECT_EQ(eval32("max.ftz.f32", {1, nz}), pz);
  EXPECT_EQ(eval32("min.xorsign.abs.f32", {f32(-3), f32(2)}), f32(-2));
}

TEST(Float, Approximations) {
  EXPECT_EQ(eval32("ex2.approx.ftz.f32", {f32(-150)}), 0u);
  EXPECT_EQ(eval32("ex2.approx.ftz.f32", {f32(-126)}), 0x00800000u);
  EXPECT_EQ(eval32("ex2.approx.f32", {f32(-149)}), 1u);
  EXPECT_EQ(eval32("ex2.approx.ftz.f32", {f32(-kInf)}), 0u);
  EXPECT_EQ(eval32("ex2.approx.ftz.f32", {f32(kInf)}), 0x7f800000u);
  EXPECT_EQ(eval32("ex2.approx.ftz.f32", {f32(-0.0f)}), f32(1));
  EXPECT_EQ(eval32("ex2.approx.ftz.f32", {0x7fc12345}), kQuietNaN);
  EXPECT_EQ(eval32("rcp.approx.ftz.f32", {0x80000000}), 0xff800000u);
  EXPECT_EQ(eval32("rcp.approx.ftz.f32", {1}), 0x7f800000u);
  EXPECT_EQ(eval32("lg2.approx.ftz.f32", {0}), 0xff800000u);
  EXPECT_EQ(eval32("lg2.approx.ftz.f32", {f32(-1)}), kQuietNaN);
  EXPECT_EQ(eval32("sqrt.approx.ftz.f32", {f32(2)}), f32(std::sqrt(2.0f)));
  for (float x : {-0.3f, -17.25f, -100.125f, 3.7f}) {
    double got = asF32(eval32("ex2.approx.ftz.f32", {f32(x)}));
    EXPECT_NEAR(got / std::exp2(double(x)), 1, 2.4e-7) << x; // 2 ulp
  }
}

// What an H200 does with NaN: arithmetic, and neg and abs with it, makes the
// canonical one; conversions that only move bits keep sign and payload.
TEST(Float, NaNPayloads) {
  for (const char *op : {"neg.f32", "abs.f32", "neg.ftz.f32"})
    EXPECT_EQ(eval32(op, {0xff800001}), kQuietNaN) << op;
  EXPECT_EQ(eval32("neg.f16x2", {0xfe017c01}), 0x7fff7fffu);
  EXPECT_EQ(eval32("abs.bf16x2", {0xff817fc0}), 0x7fff7fffu);
  EXPECT_EQ(eval32("cvt.f32.f32", {0xff800001}), 0xff800001u);
  EXPECT_EQ(eval32("cvt.ftz.f32.f32", {0xff800001}), kQuietNaN);
  auto wide = [](const char *op, uint32_t in) {
    return eval(std::string(" ") + op + " %out, %w0;", {in});
  };
  EXPECT_EQ(wide("cvt.f64.f32", 0xff800001), 0xfff8000020000000u);
  EXPECT_EQ(wide("cvt.ftz.f64.f32", 0xff800001), 0x7fffffffe0000000u);
  auto single = [](const char *op, uint64_t in) {
    return eval(std::string(" ") + op + " %w1, %x0; cvt.u64.u32 %out, %w1;",
                {in});
  };
  EXPECT_EQ(single("cvt.rn.f32.f64", 0xfff0000000000001), 0xffc00000u);
  EXPECT_EQ(single("cvt.rz.f32.f64", 0x7ff8000000000000), 0x7fc00000u);
  auto half = [](const char *op, uint64_t in) {
    return eval(std::string(" ") + op + " %h1, %x0; cvt.u64.u16 %out, %h1;",
                {in});
  };
  EXPECT_EQ(half("cvt.rn.f16.f64", 0xfff0000000000001), 0xfe00u);
  EXPECT_EQ(half("cvt.rm.bf16.f64", 0x7ff8000000000000), 0x7fc0u);
  EXPECT_EQ(eval(" cvt.f32.bf16 %w1, %h0; cvt.u64.u32 %out, %w1;", {0xffc0}),
            0xffc00000u);
  EXPECT_EQ(eval(" cvt.f32.f16 %w1, %h0; cvt.u64.u32 %out, %w1;", {0xfe00}),
            kQuietNaN);
}

TEST(Float, NaNToInteger) {
  uint64_t top = uint64_t(1) << 63, nan = 0x7ff8000000000000;
  EXPECT_EQ(eval(" cvt.rzi.s64.f32 %out, %w0;", {kQuietNaN}), top);
  EXPECT_EQ(eval(" cvt.rni.u64.f16 %out, %h0;", {0x7e00}), top);
  EXPECT_EQ(eval64("cvt.rmi.u64.f64", {nan}), top);
  auto word = [&](const char *op) {
    return eval(std::string(" ") + op + " %w1, %x0; cvt.u64.u32 %out, %w1;",
                {nan});
  };
  EXPECT_EQ(word("cvt.rzi.s32.f64"), 0x80000000u);
  EXPECT_EQ(word("cvt.rpi.sat.u32.f64"), 0x80000000u);
  auto half = [&](const char *op) {
    return eval(std::string(" ") + op + " %h1, %x0; cvt.u64.u16 %out, %h1;",
                {nan});
  };
  EXPECT_EQ(half("cvt.rni.s8.f64"), 0xff80u);
  EXPECT_EQ(half("cvt.rni.u8.f64"), 0x80u);
  EXPECT_EQ(half("cvt.rni.u16.f64"), 0x8000u);
}

TEST(Float, HighHalfOfF64Approximations) {
  uint64_t negativeInfinity = 0xfff0000000000000;
  EXPECT_EQ(eval64("rcp.approx.ftz.f64", {0x7fe0000000000000}), 0u);
  EXPECT_EQ(eval64("rcp.approx.ftz.f64", {0x8008000000000000}),
            negativeInfinity);
  // Without its low half this NaN is an infinity.
  EXPECT_EQ(eval64("rcp.approx.ftz.f64", {0xfff0000000000001}), uint64_t(1)
                                                                    << 63);
  EXPECT_EQ(eval64("rsqrt.approx.ftz.f64", {0x8000000000000002}),
            negativeInfinity);
  EXPECT_EQ(uint32_t(eval64("rcp.approx.ftz.f64", {0x4008000000000000})), 0u);
}

TEST(Float, HalfConversions) {
  auto half = [](float f) {
    return eval(" cvt.rn.f16.f32 %h1, %w0; cvt.u64.u16 %out, %h1;", {f32(f)});
  };
  EXPECT_EQ(half(65520), 0x7c00u);
  EXPECT_EQ(half(65519), 0x7bffu);
  EXPECT_EQ(half(-0.0f), 0x8000u);
  EXPECT_EQ(half(0x1p-25f), 0u);
  EXPECT_EQ(half(std::nextafter(0x1p-25f, 1.0f)), 1u);
  EXPECT_EQ(half(2049), 0x6800u); // tie to even
  EXPECT_EQ(half(2051), 0x6802u);
  EXPECT_EQ(half(std::nanf("")), 0x7fffu);
  EXPECT_EQ(eval(" cvt.rn.satfinite.f16.f32 %h1, %w0; cvt.u64.u16 %out, %h1;",
                 {f32(1e9f)}),
            0x7bffu);
  EXPECT_EQ(
      eval(" cvt.rz.f16.f32 %h1, %w0; cvt.u64.u16 %out, %h1;", {f32(1e9f)}),
      0x7bffu);
  EXPECT_EQ(eval(" cvt.f32.f16 %w1, %h0; cvt.u64.u32 %out, %w1;", {0x0001}),
            f32(0x1p-24f));
}

// The first source goes to the upper half.
TEST(Float, PackedConversions) {
  EXPECT_EQ(eval32("cvt.rn.f16x2.f32", {f32(1), f32(2)}), 0x3c004000u);
  EXPECT_EQ(eval32("cvt.rn.bf16x2.f32", {f32(1), f32(2)}), 0x3f804000u);
  EXPECT_EQ(eval32("cvt.rn.bf16x2.f32", {0x3f808000, 0x3f818000}),
            0x3f803f82u); // ties to even
  EXPECT_EQ(eval32("cvt.rn.relu.f16x2.f32", {f32(-1), f32(2)}), 0x00004000u);
  EXPECT_EQ(eval32("cvt.rn.f16x2.f32", {0x7fc00000, f32(70000)}), 0x7fff7c00u);
}

TEST(Float, FastHalfPathsMatchTheGeneralOne) {
  std::mt19937 random(7);
  for (unsigned i = 0; i < 200000; ++i) {
    float f = bitsToFloat(uint32_t(random()));
    EXPECT_EQ(encodeF16(f), encode(f, kF16, Round::RN));
    EXPECT_EQ(encodeBF16(f), encode(f, kBF16, Round::RN));
  }
  for (unsigned u = 0; u < 65536; ++u) {
    float f = decodeF16(uint16_t(u));
    if (f == f)
      EXPECT_EQ(encodeF16(f), u);
  }
}

TEST(Float, IntegerConversions) {
  EXPECT_EQ(eval32("cvt.rzi.s32.f32", {f32(-2.9f)}), uint32_t(-2));
  EXPECT_EQ(eval32("cvt.rni.s32.f32", {f32(2.5f)}), 2u);
  EXPECT_EQ(eval32("cvt.rmi.s32.f32", {f32(-2.1f)}), uint32_t(-3));
  EXPECT_EQ(eval32("cvt.rpi.s32.f32", {f32(2.1f)}), 3u);
  EXPECT_EQ(eval32("cvt.rzi.s32.f32", {f32(1e20f)}), 0x7fffffffu);
  EXPECT_EQ(eval32("cvt.rzi.u32.f32", {f32(-5)}), 0u);
  EXPECT_EQ(eval32("cvt.rzi.s32.f32", {kQuietNaN}), 0u);
  EXPECT_EQ(eval32("cvt.rz.f32.s32", {0x7fffffff}), 0x4effffffu);
  EXPECT_EQ(eval32("cvt.rn.f32.s32", {0x7fffffff}), 0x4f000000u);
  EXPECT_EQ(eval32("cvt.rp.f32.u32", {0xffffffff}), 0x4f800000u);
  EXPECT_EQ(eval(" cvt.rn.f32.s64 %w1, %x0; cvt.u64.u32 %out, %w1;",
                 {0x8000004000000001}),
            0xdeffffffu);
  EXPECT_EQ(eval32("cvt.rpi.f32.f32", {f32(1.25f)}), f32(2));
  EXPECT_EQ(eval32("cvt.rni.f32.f32", {f32(-0.5f)}), 0x80000000u);
}

TEST(Float, Comparisons) {
  auto cmp = [](const char *op, uint32_t a, uint32_t b) {
    return eval(std::string(" setp.") + op +
                    ".f32 %p0, %w0, %w1; selp.b64 %out, 1, 0, %p0;",
                {a, b});
  };
  uint32_t nan = 0x7fc00000, one = f32(1);
  EXPECT_EQ(cmp("lt", nan, one), 0u);
  EXPECT_EQ(cmp("ltu", nan, one), 1u);
  EXPECT_EQ(cmp("ne", nan, one), 0u);
  EXPECT_EQ(cmp("neu", nan, one), 1u);
  EXPECT_EQ(cmp("equ", nan, one), 1u);
  EXPECT_EQ(cmp("num", nan, one), 0u);
  EXPECT_EQ(cmp("nan", nan, one), 1u);
  EXPECT_EQ(cmp("eq", 0, 0x80000000), 1u);
  EXPECT_EQ(cmp("eq.ftz", 1, 0), 1u);
  EXPECT_EQ(cmp("eq", 1, 0), 0u);
}

TEST(Float, HalfArithmetic) {
  // 1 + 2^-11 is a tie, to even.
  EXPECT_EQ(
      eval(" add.f16 %h2, %h0, %h1; cvt.u64.u16 %out, %h2;", {0x3c00, 0x1000}),
      0x3c00u);
  EXPECT_EQ(eval32("fma.rn.f16x2", {0x3c004000, 0x40004000, 0x00003c00}),
            0x40004500u);
  EXPECT_EQ(eval32("mul.bf16x2", {0x3f804000, 0x40004040}), 0x400040c0u);
  EXPECT_EQ(eval32("neg.f16x2", {0x3c00bc00}), 0xbc003c00u);
  EXPECT_EQ(eval32("neg.ftz.f16x2", {0x80023c00}), 0x0000bc00u);
}

TEST(Float, HalfDetails) {
  // -0 saturates to +0.
  EXPECT_EQ(eval32("mul.sat.f16x2", {0x80004000, 0x3c003c00}), 0x00003c00u);
  // 2^-14 * -(1 - 2^-11) is tiny before it is rounded to -2^-14.
  EXPECT_EQ(eval32("mul.f16x2", {0x0400, 0xbbff}), 0x00008400u);
  EXPECT_EQ(eval32("mul.ftz.f16x2", {0x0400, 0xbbff}), 0x00008000u);
  // The sign is the xor of both, a NaN's too; a NaN result has none.
  EXPECT_EQ(eval32("min.xorsign.abs.f16x2", {0xc2004400, 0x4000fc01}),
            0xc000c400u);
  EXPECT_EQ(eval32("max.NaN.xorsign.abs.bf16x2", {0xbf80bf80, 0x7fc04000}),
            0x7fffc000u);
  EXPECT_EQ(eval32("max.NaN.xorsign.abs.f32", {0xffc00000, f32(1)}), kQuietNaN);
  // 2^-126 is flushed on neither side of a conversion to f16.
  auto half = [](const char *op, uint32_t in) {
    return eval(std::string(" ") + op + " %h1, %w0; cvt.u64.u16 %out, %h1;",
                {in});
  };
  EXPECT_EQ(half("cvt.rm.ftz.f16.f32", 0x807fffff), 0x8001u);
  EXPECT_EQ(half("cvt.rp.ftz.f16.f32", 0x007fffff), 0x0001u);
  EXPECT_EQ(half("cvt.rn.ftz.f16.f32", 0x007fffff), 0u);
  EXPECT_EQ(
      eval(" ex2.approx.ftz.bf16 %h1, %h0; cvt.u64.u16 %out, %h1;", {0xc2fd}),
      0u);
}

} // namespace
