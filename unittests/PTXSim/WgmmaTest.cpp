// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// wgmma against a product computed from element indices.

#include "WordsUtil.h"

#include "FloatFormat.h"

using namespace ptxsim;

namespace {

struct Problem {
  unsigned n = 16;
  bool registers = false, transA = false, transB = false, halfOut = false;
  int signA = 1, signB = 1;
  bool accumulate = false;
};

/// Small integers, so that every sum is exact.
float valueA(unsigned m, unsigned k) {
  return float(int((m * 5 + k * 3) % 7) - 3);
}
float valueB(unsigned n, unsigned k) {
  return float(int((n * 3 + k * 5) % 5) - 2);
}

// Tiles without swizzle: 8 x 16-byte core matrices, those of A at offset 0,
// of B at 4096. K-major: SBO to the next 8 rows, LBO to the next 8 of k;
// MN-major: SBO to the next 8 rows, LBO to the next 8 of k, rows run within.
constexpr unsigned kSbo = 256, kLbo = 128, kB = 4096;

unsigned place(bool trans, unsigned mn, unsigned k) {
  unsigned core = mn / 8 * kSbo + k / 8 * kLbo;
  return trans ? core + k % 8 * 16 + mn % 8 * 2
               : core + mn % 8 * 16 + k % 8 * 2;
}

uint64_t descriptor(unsigned offset) {
  return uint64_t(kSbo >> 4) << 32 | uint64_t(kLbo >> 4) << 16 |
         (1024 + offset) >> 4;
}

WordsRun solve(const Problem &p, AsyncMode mode,
               const std::string &wait = "wgmma.wait_group.sync.aligned 0;") {
  std::vector<uint32_t> image(4096);
  auto put = [&](unsigned at, float v) {
    image[at / 4] |= uint32_t(encodeF16(v)) << (8 * (at % 4));
  };
  for (unsigned m = 0; m < 64; ++m)
    for (unsigned k = 0; k < 16; ++k)
      put(place(p.transA, m, k), valueA(m, k));
  for (unsigned n = 0; n < p.n; ++n)
    for (unsigned k = 0; k < 16; ++k)
      put(kB + place(p.transB, n, k), valueB(n, k));
  unsigned regs = p.n / (p.halfOut ? 4 : 2);
  std::string body = fillShared(4096);
  const char *kind = p.halfOut ? "%r" : "%f";
  for (unsigned i = 0; i < regs; ++i)
    body += std::string(" mov.b32 ") + kind + std::to_string(10 + i) + ", " +
            (p.halfOut ? "0x3c003c00" : "0f3F800000") + ";";
  body += " fence.proxy.async.shared::cta; bar.sync 0;";
  if (p.registers) {
    // Lane l of warp w: register r holds row 16 w + l / 4 + 8 (r % 2).
    body += " mov.u32 %t3, smem; shr.u32 %t4, %tid, 5; and.b32 %t5, %tid, 31; "
            "shr.u32 %t6, %t5, 2; mad.lo.u32 %t6, %t4, 16, %t6; and.b32 %t5, "
            "%t5, 3;";
    for (unsigned r = 0; r < 4; ++r)
      body += " add.u32 %t7, %t6, " + std::to_string(8 * (r % 2)) +
              "; shr.u32 %r1, %t7, 3; and.b32 %r2, %t7, 7; mad.lo.u32 %r1, "
              "%r1, 256, %t3; mad.lo.u32 %r1, %r2, 16, %r1; mad.lo.u32 %r1, "
              "%t5, 4, %r1; ld.shared.u32 %r" +
              std::to_string(500 + r) + ", [%r1+" +
              std::to_string(128 * (r / 2)) + "];";
  }
  body += " mov.b64 %d1, " + std::to_string(descriptor(0)) + "; mov.b64 %d2, " +
          std::to_string(descriptor(kB)) + "; setp.eq.u32 %p1, 0, " +
          (p.accumulate ? "0" : "1") + ";\n";
  body += " wgmma.fence.sync.aligned;\n wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(p.n) + "k16." + (p.halfOut ? "f16" : "f32") +
          ".f16.f16 " + registerList(kind, 10, regs) + ", " +
          (p.registers ? "{%r500, %r501, %r502, %r503}" : "%d1") +
          ", %d2, %p1, " + std::to_string(p.signA) + ", " +
          std::to_string(p.signB) +
          (p.registers ? ""
           : p.transA  ? ", 1"
                       : ", 0") +
          (p.transB ? ", 1" : ", 0") + ";\n wgmma.commit_group.sync.aligned; " +
          wait + "\n";
  body += " mul.wide.u32 %d3, %tid, 4; add.u64 %d3, %d3, %op;";
  for (unsigned i = 0; i < regs; ++i)
    body += " st.global.b32 [%d3+" + std::to_string(512 * i) + "], " + kind +
            std::to_string(10 + i) + ";";
  return runWords(body, image, 128 * regs, 128, modeOptions(mode), 16384);
}

float expected(const Problem &p, unsigned m, unsigned n) {
  float sum = 0;
  for (unsigned k = 0; k < 16; ++k)
    sum += valueA(m, k) * valueB(n, k);
  return float(p.signA * p.signB) * sum + (p.accumulate ? 1.0f : 0.0f);
}

void check(const Problem &p, AsyncMode mode = AsyncMode::Lazy) {
  WordsRun r = solve(p, mode);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (unsigned m = 0; m < 64; ++m)
    for (unsigned n = 0; n < p.n; ++n) {
      // Warp m / 16, quad m % 8 holds the row; 2 columns of 8 a lane.
      unsigned thread = 32 * (m / 16) + 4 * (m % 8) + n % 8 / 2;
      unsigned index = 4 * (n / 8) + 2 * (m % 16 / 8) + n % 2;
      float got = p.halfOut
                      ? decodeF16(uint16_t(r.out[128 * (index / 2) + thread] >>
                                           (16 * (index % 2))))
                      : asF32(r.out[128 * index + thread]);
      ASSERT_EQ(got, expected(p, m, n)) << m << ", " << n;
    }
}

TEST(Wgmma, BothInSharedMemory) {
  for (unsigned n : {8u, 16u, 64u, 256u})
    for (AsyncMode mode : {AsyncMode::Eager, AsyncMode::Lazy}) {
      Problem p;
      p.n = n;
      check(p, mode);
    }
}

TEST(Wgmma, Transposed) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      Problem p;
      p.n = 32;
      p.transA = a;
      p.transB = b;
      check(p);
    }
}

TEST(Wgmma, AFromRegisters) {
  Problem p;
  p.registers = true;
  check(p);
  p.transB = true;
  p.accumulate = true;
  check(p, AsyncMode::Random);
}

TEST(Wgmma, SignsAndAccumulation) {
  for (int a : {1, -1})
    for (int b : {1, -1}) {
      Problem p;
      p.signA = a;
      p.signB = b;
      p.accumulate = true;
      check(p);
    }
}

TEST(Wgmma, HalfAccumulators) {
  Problem p;
  p.halfOut = true;
  p.n = 24;
  p.accumulate = true;
  check(p);
}

// P8: the accumulators of a group that is not waited for are NaN.
TEST(Wgmma, WithoutWaitThePoisonShows) {
  Problem p;
  WordsRun r = solve(p, AsyncMode::Lazy, "");
  EXPECT_EQ(r.out[0], 0x7fffdeadu);
  // And it still reads shared memory when the CTA ends.
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].kind, "early-exit");
  // At most one group pending: the only group may still run.
  r = solve(p, AsyncMode::Lazy, "wgmma.wait_group.sync.aligned 1;");
  EXPECT_EQ(r.out[0], 0x7fffdeadu);
}

TEST(Wgmma, Faults) {
  std::string text = " mov.b64 %d1, 0; setp.eq.u32 %p1, 0, 0; "
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, "
                     "%f2, %f3, %f4}, %d1, %d1, %p1, 1, 1, 0, 0;";
  WordsRun r = runWords(text, {}, 1, 32);
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].message,
            "expected a warpgroup of four whole warps");
  r = runWords(text, {}, 1, 128);
  EXPECT_EQ(r.result.faults[0].kind, "out-of-bounds");
}

} // namespace
