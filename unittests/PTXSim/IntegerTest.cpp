// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Integer and logic instructions against the PTX manual (M1 of docs/cases.md).

#include "TestUtil.h"

using namespace ptxsim;

namespace {

TEST(Integer, AddSubWrap) {
  EXPECT_EQ(eval32("add.u32", {0xffffffff, 2}), 1u);
  EXPECT_EQ(eval32("sub.s32", {0x80000000, 1}), 0x7fffffffu);
  EXPECT_EQ(eval64("add.u64", {0xffffffff, 1}), 0x100000000u);
  EXPECT_EQ(eval64("add.s64", {0xffffffffffffffff, 1}), 0u);
  EXPECT_EQ(eval32("add.sat.s32", {0x7fffffff, 1}), 0x7fffffffu);
}

// The flag is the carry: set by a subtraction that does not borrow.
TEST(Integer, CarryBetweenAddAndSub) {
  auto flag = [](const char *code, uint64_t a, uint64_t b) {
    return eval(std::string(" ") + code + " cvt.u64.u32 %out, %w5;", {a, b});
  };
  const char *subAdd = "sub.cc.u32 %w4, %w0, %w1; addc.u32 %w5, 0, 0;";
  EXPECT_EQ(flag(subAdd, 5, 3), 1u);
  EXPECT_EQ(flag(subAdd, 3, 5), 0u);
  const char *addSub = "add.cc.u32 %w4, %w0, %w1; subc.u32 %w5, 0, 0;";
  EXPECT_EQ(flag(addSub, 1, 1), 0xffffffffu);
  EXPECT_EQ(flag(addSub, 0xffffffff, 1), 0u);
}

TEST(Integer, CarryChain) {
  // 64-bit sum from 32-bit halves.
  EXPECT_EQ(eval(" add.cc.u32 %w4, %w0, %w1; addc.u32 %w5, %w2, %w3;"
                 " mov.b64 %out, {%w4, %w5};",
                 {0xffffffff, 1, 5, 6}),
            uint64_t(12) << 32);
  EXPECT_EQ(eval(" sub.cc.u32 %w4, %w0, %w1; subc.u32 %w5, %w2, %w3;"
                 " mov.b64 %out, {%w4, %w5};",
                 {0, 1, 5, 2}),
            uint64_t(2) << 32 | 0xffffffff);
  // 32 x 32 -> 64 with an accumulator.
  EXPECT_EQ(eval(" mad.lo.cc.u32 %w4, %w0, %w1, %w2;"
                 " madc.hi.u32 %w5, %w0, %w1, %w3; mov.b64 %out, {%w4, %w5};",
                 {0xffffffff, 0xffffffff, 0xffffffff, 0}),
            0xffffffffull * 0xffffffffull + 0xffffffffull);
}

TEST(Integer, Multiply) {
  EXPECT_EQ(eval32("mul.lo.s32", {0x10001, 0x10001}), 0x20001u);
  EXPECT_EQ(eval32("mul.hi.u32", {0xffffffff, 0xffffffff}), 0xfffffffeu);
  EXPECT_EQ(eval32("mul.hi.s32", {0xffffffff, 2}), 0xffffffffu);
  EXPECT_EQ(eval(" mul.wide.s32 %out, %w0, %w1;", {0xffffffff, 3}),
            uint64_t(-3));
  EXPECT_EQ(eval(" mul.wide.u32 %out, %w0, %w1;", {0xffffffff, 3}),
            0x2fffffffdu);
  EXPECT_EQ(eval(" mad.wide.u32 %out, %w0, %w1, %x2;", {0x80000000, 4, 7}),
            0x200000007u);
  EXPECT_EQ(eval32("mad.lo.s32", {3, 5, 0xfffffff0}), 0xffffffffu);
  EXPECT_EQ(eval32("mul24.lo.u32", {0xff000003, 5}), 15u);
  EXPECT_EQ(eval64("mul.hi.u64", {uint64_t(1) << 63, 6}), 3u);
}

TEST(Integer, DivideMinMax) {
  EXPECT_EQ(eval32("div.s32", {uint32_t(-7), 2}), uint32_t(-3));
  EXPECT_EQ(eval32("rem.s32", {uint32_t(-7), 2}), uint32_t(-1));
  EXPECT_EQ(eval32("div.u32", {0xfffffff9, 2}), 0x7ffffffcu);
  EXPECT_EQ(eval32("min.s32", {0xffffffff, 1}), 0xffffffffu);
  EXPECT_EQ(eval32("min.u32", {0xffffffff, 1}), 1u);
  EXPECT_EQ(eval32("abs.s32", {0x80000000}), 0x80000000u);
  EXPECT_EQ(eval32("sad.s32", {uint32_t(-3), 4, 10}), 17u);
}

TEST(Integer, ShiftsClamp) {
  EXPECT_EQ(eval32("shl.b32", {0xffffffff, 32}), 0u);
  EXPECT_EQ(eval32("shl.b32", {0xffffffff, 31}), 0x80000000u);
  EXPECT_EQ(eval32("shr.u32", {0x80000000, 33}), 0u);
  EXPECT_EQ(eval32("shr.s32", {0x80000000, 99}), 0xffffffffu);
  EXPECT_EQ(eval(" shl.b64 %out, %x0, %w1;", {1, 63}), uint64_t(1) << 63);
  EXPECT_EQ(eval(" shl.b64 %out, %x0, %w1;", {1, 64}), 0u);
  EXPECT_EQ(eval(" shl.b16 %h2, %h0, %w1; cvt.u64.u16 %out, %h2;", {0xffff, 4}),
            0xfff0u);
  EXPECT_EQ(eval32("shf.l.wrap.b32", {0x80000001, 0x10, 4}), 0x108u);
  EXPECT_EQ(eval32("shf.r.clamp.b32", {0x10, 0xabcd, 40}), 0xabcdu);
  EXPECT_EQ(eval32("shf.r.wrap.b32", {0x10, 0xabcd, 36}), 0xd0000001u);
}

TEST(Integer, BitFields) {
  EXPECT_EQ(eval32("bfe.u32", {0xabcd1234, 8, 8}), 0x12u);
  EXPECT_EQ(eval32("bfe.s32", {0x0000f000, 12, 4}), 0xffffffffu);
  EXPECT_EQ(eval32("bfe.u32", {0xffffffff, 28, 8}), 0xfu);
  EXPECT_EQ(eval32("bfe.u32", {0xffffffff, 32, 8}), 0u);
  // Position beyond the register: a signed field is all sign bits.
  EXPECT_EQ(eval32("bfe.s32", {0x80000000, 40, 8}), 0xffffffffu);
  EXPECT_EQ(eval32("bfe.s32", {0x80000000, 40, 0}), 0u);
  EXPECT_EQ(eval32("bfi.b32", {0xff, 0, 4, 8}), 0xff0u);
  EXPECT_EQ(eval32("bfi.b32", {0xff, 0x1, 32, 8}), 1u);
  EXPECT_EQ(eval32("bfi.b32", {0xff, 0, 28, 8}), 0xf0000000u);
  EXPECT_EQ(eval32("popc.b32", {0xf0f0}), 8u);
  EXPECT_EQ(eval32("clz.b32", {0}), 32u);
  EXPECT_EQ(eval32("clz.b32", {1}), 31u);
  EXPECT_EQ(eval32("brev.b32", {1}), 0x80000000u);
  EXPECT_EQ(eval32("bfind.u32", {0x100}), 8u);
  EXPECT_EQ(eval32("bfind.s32", {0xffffffff}), 0xffffffffu);
  EXPECT_EQ(eval32("bfind.shiftamt.u32", {0x100}), 23u);
  EXPECT_EQ(eval32("bmsk.clamp.b32", {4, 8}), 0xff0u);
  EXPECT_EQ(eval32("bmsk.clamp.b32", {4, 40}), 0xfffffff0u);
  EXPECT_EQ(eval32("bmsk.clamp.b32", {40, 4}), 0u);
  EXPECT_EQ(eval32("bmsk.wrap.b32", {36, 4}), 0xf0u);
}

TEST(Integer, LogicAndPermute) {
  EXPECT_EQ(eval(" lop3.b32 %w4, %w0, %w1, %w2, 0xe8; cvt.u64.u32 %out, %w4;",
                 {0xf0f0, 0xff00, 0xcccc}),
            (0xf0f0 & 0xff00) | (0xf0f0 & 0xcccc) | (0xff00 & 0xcccc));
  EXPECT_EQ(eval(" lop3.b32 %w4, %w0, %w1, %w2, 0x1e; cvt.u64.u32 %out, %w4;",
                 {0xf0f0, 0xff00, 0xcccc}),
            0xf0f0u ^ (0xff00u | 0xccccu));
  EXPECT_EQ(eval32("prmt.b32", {0x33221100, 0x77665544, 0x7531}), 0x77553311u);
  // Bit 3 of a selector replicates the sign of the byte.
  EXPECT_EQ(eval32("prmt.b32", {0x00008000, 0, 0x0091}), 0x0000ff80u);
  EXPECT_EQ(eval32("prmt.b32.f4e", {0x33221100, 0x77665544, 1}), 0x44332211u);
  EXPECT_EQ(eval32("prmt.b32.b4e", {0x33221100, 0x77665544, 1}), 0x66770011u);
  EXPECT_EQ(eval32("cnot.b32", {0}), 1u);
  EXPECT_EQ(eval64("xor.b64", {0xff00ff00ff00ff00, ~uint64_t(0)}),
            0x00ff00ff00ff00ffu);
}

TEST(Integer, Predicates) {
  // A negated predicate in a guard, a select and a combine.
  EXPECT_EQ(eval(" setp.lt.s32 %p0, %w0, %w1; selp.b64 %out, %x0, %x1, !%p0;",
                 {3, 5}),
            5u);
  EXPECT_EQ(eval(" setp.gt.u32 %p0, %w0, %w1; @!%p0 mov.b64 %out, 9;", {3, 5}),
            9u);
  EXPECT_EQ(eval(" setp.eq.s32 %p0, %w0, %w1;"
                 " setp.lt.and.s32 %p1|%p2, %w0, %w1, !%p0;"
                 " selp.b64 %out, 1, 0, %p1; @%p2 add.s64 %out, %out, 2;",
                 {3, 5}),
            1u);
  EXPECT_EQ(eval(" setp.lo.u32 %p0, %w0, %w1; selp.b64 %out, 1, 0, %p0;",
                 {0xffffffff, 5}),
            0u);
  EXPECT_EQ(eval(" setp.lt.s32 %p0, %w0, %w1; selp.b64 %out, 1, 0, %p0;",
                 {0xffffffff, 5}),
            1u);
  EXPECT_EQ(eval(" mov.pred %p0, -1; not.pred %p1, %p0; xor.pred %p2, %p0, %p1;"
                 " selp.b64 %out, 1, 0, %p2;",
                 {0}),
            1u);
}

TEST(Integer, MovesPackAndUnpack) {
  EXPECT_EQ(eval(" mov.b64 %out, {%w1, %w0};", {1, 2}), uint64_t(1) << 32 | 2);
  EXPECT_EQ(eval(" mov.b64 {%w4, %w5}, %x0; cvt.u64.u32 %out, %w5;",
                 {0x1122334455667788}),
            0x11223344u);
  EXPECT_EQ(eval(" mov.b64 {_, %w5}, %x0; cvt.u64.u32 %out, %w5;",
                 {0x1122334455667788}),
            0x11223344u);
  EXPECT_EQ(eval(" mov.b32 %w4, {%h0, %h1}; cvt.u64.u32 %out, %w4;",
                 {0x1111, 0x2222}),
            0x22221111u);
}

TEST(Integer, Convert) {
  EXPECT_EQ(eval(" cvt.s64.s32 %out, %w0;", {0x80000000}), 0xffffffff80000000u);
  EXPECT_EQ(eval(" cvt.u64.u32 %out, %w0;", {0x80000000}), 0x80000000u);
  EXPECT_EQ(eval(" cvt.s32.s8 %w1, %w0; cvt.u64.u32 %out, %w1;", {0x180}),
            0xffffff80u);
  EXPECT_EQ(eval(" cvt.sat.u8.s32 %w1, %w0; cvt.u64.u32 %out, %w1;", {300}),
            255u);
  EXPECT_EQ(
      eval(" cvt.sat.u8.s32 %w1, %w0; cvt.u64.u32 %out, %w1;", {uint32_t(-4)}),
      0u);
}

TEST(Integer, UnknownFormsAreErrors) {
  for (const char *text :
       {"frobnicate.b32 %w1, %w0;", "add.q32 %w1, %w0, %w0;",
        "add.u32.foo %w1, %w0, %w0;", "add.u32 %w1, %w0;",
        "add.u32 %x1, %w0, %w0;", "mul.u32 %w1, %w0, %w0;", "bra nowhere;",
        "shfl.idx.b32 %w1, %w0, 0, 31;", "mov.u32 %w1, %nosuch;",
        "ld.shared.u32 %w1, [nosuch];"}) {
    KernelRun r = runRows(std::string(" ") + text, {{0}});
    EXPECT_EQ(r.result.status, Status::Error) << text;
    // The message ends with the source line.
    EXPECT_NE(r.result.message.find(std::string(text).substr(0, 6)),
              std::string::npos)
        << r.result.message;
  }
}

} // namespace
