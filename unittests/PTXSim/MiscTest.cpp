// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Instructions with values of the PTX manual's definitions: dot products,
// packed integers, rounding of f64, comparisons of pairs, linear copies.

#include "WordsUtil.h"

#include "DoubleOps.h"

#include <cmath>

using namespace ptxsim;

namespace {

TEST(Dot, BytesAndHalves) {
  // 1*5 + 2*6 + 3*7 + 255*8 with unsigned, -1*8 with signed bytes.
  EXPECT_EQ(eval32("dp4a.u32.u32", {0xff030201, 0x08070605, 100}), 2178u);
  EXPECT_EQ(eval32("dp4a.s32.s32", {0xff030201, 0x08070605, 100}), 130u);
  EXPECT_EQ(eval32("dp4a.u32.s32", {0x000000ff, 0x000000ff, 0}),
            uint32_t(-255));
  EXPECT_EQ(eval32("dp2a.lo.u32.u32", {0x00030002, 0x08070605, 1}),
            1u + 2 * 5 + 3 * 6);
  EXPECT_EQ(eval32("dp2a.hi.s32.s32", {0xffff0002, 0x08070605, 1}),
            1u + 2 * 7 - 8);
}

TEST(Packed, HalfWords) {
  EXPECT_EQ(eval32("add.u16x2", {0xffff0001, 0x00020003}), 0x00010004u);
  EXPECT_EQ(eval32("min.s16x2", {0xffff0001, 0x00020003}), 0xffff0001u);
  EXPECT_EQ(eval32("min.relu.s16x2", {0xffff0001, 0x00020003}), 0x00000001u);
  EXPECT_EQ(eval32("max.u16x2", {0xffff0001, 0x00020003}), 0xffff0003u);
  EXPECT_EQ(eval32("max.relu.s32", {uint32_t(-5), uint32_t(-7)}), 0u);
}

TEST(Saturating, MadHi) {
  EXPECT_EQ(eval32("mad.hi.sat.s32", {0x7fffffff, 0x7fffffff, 0x7fffffff}),
            0x7fffffffu);
  EXPECT_EQ(eval32("mad24.hi.sat.s32", {0x7fffff, 0x7fffff, 5}), 0x3fffff05u);
  EXPECT_EQ(eval32("mad24.hi.sat.s32", {0x7fffff, 0x7fffff, 0x7fffffff}),
            0x7fffffffu);
  EXPECT_EQ(eval32("mad24.lo.s32", {0x01ffffff, 3, 1}), uint32_t(-2));
}

TEST(Bits, SzextFns) {
  EXPECT_EQ(eval32("szext.clamp.s32", {0x80, 8}), 0xffffff80u);
  EXPECT_EQ(eval32("szext.clamp.u32", {0x1ff, 8}), 0xffu);
  EXPECT_EQ(eval32("szext.wrap.s32", {0x80, 40}), 0xffffff80u);
  EXPECT_EQ(eval32("szext.clamp.s32", {0x80000000, 40}), 0x80000000u);
  // Bits 1, 4 and 6.
  EXPECT_EQ(eval32("fns.b32", {0x52, 0, 2}), 4u);
  EXPECT_EQ(eval32("fns.b32", {0x52, 6, uint32_t(-2)}), 4u);
  EXPECT_EQ(eval32("fns.b32", {0x52, 4, 0}), 4u);
  EXPECT_EQ(eval32("fns.b32", {0x52, 5, 2}), 0xffffffffu);
}

TEST(Classes, TestpCopysign) {
  auto is = [](const std::string &what, uint32_t bits) {
    return eval(" testp." + what + ".f32 %p1, %w0; selp.b64 %out, 1, 0, %p1;",
                {bits}) != 0;
  };
  EXPECT_TRUE(is("subnormal", 1));
  EXPECT_FALSE(is("normal", 1));
  EXPECT_TRUE(is("infinite", 0xff800000));
  EXPECT_FALSE(is("number", 0x7fc00000));
  EXPECT_TRUE(is("notanumber", 0x7fc00000));
  EXPECT_TRUE(is("finite", 0x80000000));
  // The sign of the first operand on the magnitude of the second.
  EXPECT_EQ(eval32("copysign.f32", {0x80000000, f32(3.0f)}), f32(-3.0f));
}

TEST(Double, DirectedRounding) {
  double tiny = 0x1p-60;
  EXPECT_EQ(roundedDouble(DoubleOp::Add, 1, tiny, 0, Round::RP),
            std::nextafter(1.0, 2.0));
  EXPECT_EQ(roundedDouble(DoubleOp::Add, 1, tiny, 0, Round::RZ), 1.0);
  EXPECT_EQ(roundedDouble(DoubleOp::Sub, 1, tiny, 0, Round::RM),
            std::nextafter(1.0, 0.0));
  EXPECT_EQ(roundedDouble(DoubleOp::Mul, 0x1p-1074, 0.5, 0, Round::RP),
            0x1p-1074);
  EXPECT_EQ(roundedDouble(DoubleOp::Mul, 0x1p-1074, 0.5, 0, Round::RM), 0.0);
  double third = roundedDouble(DoubleOp::Div, 1, 3, 0, Round::RP);
  EXPECT_EQ(third, std::nextafter(
                       roundedDouble(DoubleOp::Div, 1, 3, 0, Round::RM), 1.0));
  EXPECT_EQ(roundedDouble(DoubleOp::Fma, -1, tiny, 1, Round::RZ),
            std::nextafter(1.0, 0.0));
  EXPECT_EQ(integerToDouble(0x7fffffffffffffff, true, Round::RZ),
            0x7ffffffffffffc00);
  EXPECT_EQ(integerToDouble(0xffffffffffffffff, false, Round::RP),
            18446744073709551616.0);
  EXPECT_EQ(integerToDouble(uint64_t(-3), true, Round::RN), -3.0);
}

TEST(Compare, PairsOfHalves) {
  // (1, 2) < (2, 1): true for the lower half only.
  EXPECT_EQ(eval(" setp.lt.f16x2 %p1|%p2, %w0, %w1; selp.u32 %w10, 1, 0, %p1; "
                 "selp.u32 %w11, 2, 0, %p2; add.u32 %w10, %w10, %w11; "
                 "cvt.u64.u32 %out, %w10;",
                 {0x40003c00, 0x3c004000}),
            1u);
  EXPECT_EQ(eval32("set.lt.f16x2.f16x2", {0x40003c00, 0x3c004000}),
            0x00003c00u);
  EXPECT_EQ(eval32("set.gt.bf16x2.bf16x2", {0x40003f80, 0x3f804000}),
            0x3f800000u);
}

TEST(Mixed, HalfPlusSingle) {
  EXPECT_EQ(
      uint32_t(eval(" add.f32.f16 %w20, %h0, %w1; cvt.u64.u32 %out, %w20;",
                    {0x3c00, f32(0.25f)})),
      f32(1.25f));
  EXPECT_EQ(uint32_t(eval(" fma.rn.f32.bf16 %w20, %h0, %h1, %w2; "
                          "cvt.u64.u32 %out, %w20;",
                          {0x4000, 0x4040, f32(1.0f)})),
            f32(7.0f));
}

TEST(Half, FmaRelu) {
  EXPECT_EQ(uint16_t(eval(" fma.rn.relu.f16 %h20, %h0, %h1, %h2; cvt.u64.u16 "
                          "%out, %h20;",
                          {0xbc00, 0x3c00, 0})),
            0u);
  EXPECT_EQ(uint16_t(eval(" fma.rn.relu.f16 %h20, %h0, %h1, %h2; cvt.u64.u16 "
                          "%out, %h20;",
                          {0x7e00, 0x3c00, 0})),
            0x7fffu);
}

TEST(Move, HundredTwentyEightBits) {
  WordsRun r =
      runWords(" .reg .b128 %q<3>; ld.global.b128 %q1, [%in]; mov.b128 "
               "{%d1, %d2}, %q1; mov.b128 %q2, {%d2, %d1}; "
               "st.global.b128 [%op], %q2;",
               {1, 2, 3, 4}, 4, 1);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out, (std::vector<uint32_t>{3, 4, 1, 2}));
}

TEST(ClusterBarrier, ArriveAndWait) {
  // Warp 1 waits for what warp 0 writes before it arrives.
  std::string body = R"(
 mov.u32 %t0, smem; setp.ne.u32 %p1, %tid, 0; @%p1 bra arrive;
 nanosleep.u32 10; st.shared.u32 [%t0], 42;
arrive: bar.warp.sync -1; barrier.cluster.arrive.release.aligned;
 barrier.cluster.wait.acquire.aligned;
 ld.shared.u32 %r1, [%t0]; mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %d1, %op; st.global.u32 [%d1], %r1;)";
  WordsRun r = runWords(body, {}, 64, 64);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out[63], 42u);
  r = runWords(" barrier.cluster.wait;", {}, 1, 32);
  EXPECT_EQ(r.result.faults.at(0).kind, "bad-barrier");
  r = runWords(" barrier.cluster.arrive; barrier.cluster.arrive;", {}, 1, 64);
  EXPECT_EQ(r.result.faults.at(0).kind, "bad-barrier");
}

TEST(LinearCopy, SharedToShared) {
  std::string body = fillShared(8) + R"(
 mov.u32 %t0, smem; setp.ne.u32 %p1, %tid, 0; @%p1 bra wait;
 mbarrier.init.shared::cta.b64 [%t0+64], 1; fence.proxy.async;
 mbarrier.arrive.expect_tx.shared::cta.b64 %d1, [%t0+64], 64;
 add.u32 %t1, %t0, 128; add.u32 %t2, %t0, 64; add.u32 %t3, %t0, 96;
 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%t1], [%t0], 32, [%t2];
 st.shared.v4.u32 [%t3], {1, 2, 3, 4}; st.shared.v4.u32 [%t3+16], {5, 6, 7, 8};
 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%t3], [%t0], 32, [%t2];
wait: bar.sync 0; mbarrier.try_wait.parity.shared::cta.b64 %p2, [%t0+64], 0; @!%p2 bra wait;
 @%p1 bra out; ld.shared.u32 %r1, [%t0+140]; ld.shared.u32 %r2, [%t0+100]; st.global.v2.u32 [%op], {%r1, %r2}; out:)";
  WordsRun r = runWords(body, {10, 11, 12, 13, 14, 15, 16, 17}, 2, 32,
                        modeOptions(AsyncMode::Lazy), 4096, "",
                        ".reqnctapercluster 1, 1, 1\n");
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out, (std::vector<uint32_t>{13, 13}));
  r = runWords(body, {10, 11, 12, 13, 14, 15, 16, 17}, 2);
  EXPECT_EQ(r.result.faults.at(0).kind, "no-cluster");
}

TEST(SpecialRegister, IsExplicitCluster) {
  std::string body = " mov.pred %p1, %is_explicit_cluster; selp.u32 %r1, 1, 0, "
                     "%p1; st.global.u32 [%op], %r1;";
  EXPECT_EQ(runWords(body, {}, 1).out[0], 0u);
  for (const char *d : {".reqnctapercluster 1, 1, 1\n", ".explicitcluster\n"})
    EXPECT_EQ(runWords(body, {}, 1, 32, Options(), 4096, "", d).out[0], 1u);
}

TEST(HalfArithmetic, OutOfBoundsNaN) {
  // Either sign of the fill makes the result zero; another NaN does not, nor
  // does the addend.
  std::string body =
      " mov.b32 %r1, 0x40003c00; mov.b32 %r3, 0x3c003c00; "
      "mov.b32 %r2, 0x7ff7fff7; fma.rn.oob.f16x2 %r4, %r2, %r1, %r3; "
      "st.global.u32 [%op], %r4; "
      "mov.b32 %r2, 0x7fff7ff6; fma.rn.oob.f16x2 %r4, %r1, %r2, %r3; "
      "st.global.u32 [%op+4], %r4; "
      "mov.b32 %r2, 0x7ff7fff7; fma.rn.oob.bf16x2 %r4, %r1, %r1, %r2; "
      "st.global.u32 [%op+8], %r4;";
  EXPECT_EQ(runWords(body, {}, 3).out,
            (std::vector<uint32_t>{0, 0x7fff7fff, 0x7fff7fff}));
}

TEST(LinearCopy, ReductionsAndMask) {
  std::string body = fillShared(8) + R"(
 setp.ne.u32 %p1, %tid, 0; @%p1 bra out; mov.u32 %t0, smem; fence.proxy.async;
 mov.b64 %d1, -1; st.global.u64 [%op], %d1; st.global.u32 [%op+32], 100;
 st.global.u32 [%op+36], 1; mov.u64 %d2, %op; add.u64 %d3, %op, 32; mov.u16 %h1, 0x00f0;
 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d2], [%t0], 16, %h1;
 cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%d3], [%t0], 16;
 cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; out:)";
  WordsRun r = runWords(body, {10, 11, 12, 13, 14, 15, 16, 17}, 12, 32,
                        modeOptions(AsyncMode::Lazy));
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out[0], 0xffffffffu); // masked
  EXPECT_EQ(r.out[1], 11u);
  EXPECT_EQ(r.out[8], 100u);
  EXPECT_EQ(r.out[9], 11u);
}

} // namespace
