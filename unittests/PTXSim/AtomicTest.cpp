// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// atom and red.

#include "WordsUtil.h"

#include "FloatFormat.h"
#include "Reduction.h"

using namespace ptxsim;

namespace {

/// Every lane runs one atomic on the word at %op; the word and what the lanes
/// saw follow it.
WordsRun atomicEach(const std::string &text, uint32_t initial,
                    unsigned lanes = 32) {
  return runWords(" ld.global.u32 %r9, [%in]; setp.eq.u32 %p1, %tid, 0; @%p1 "
                  "st.global.u32 [%op], %r9; bar.sync 0; mov.u32 %r2, %tid;\n" +
                      text +
                      " mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %d1, %op; "
                      "st.global.u32 [%d1+4], %r1;",
                  {initial}, 1 + lanes, lanes);
}

TEST(Atomic, AddReturnsTheOldValue) {
  WordsRun r = atomicEach("atom.global.add.u32 %r1, [%op], 3;", 10);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out[0], 10 + 96u);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(r.out[1 + i], 10 + 3 * i);
}

TEST(Atomic, WrapAround) {
  // inc: back to 0 after 4; dec: to 4 after 0.
  WordsRun r = atomicEach("atom.global.inc.u32 %r1, [%op], 4;", 3, 4);
  EXPECT_EQ(std::vector<uint32_t>(r.out.begin() + 1, r.out.end()),
            (std::vector<uint32_t>{3, 4, 0, 1}));
  r = atomicEach("atom.global.dec.u32 %r1, [%op], 4;", 1, 4);
  EXPECT_EQ(std::vector<uint32_t>(r.out.begin() + 1, r.out.end()),
            (std::vector<uint32_t>{1, 0, 4, 3}));
  // dec of a value above the limit restarts at the limit.
  r = atomicEach("atom.global.dec.u32 %r1, [%op], 4;", 9, 1);
  EXPECT_EQ(r.out[0], 4u);
}

TEST(Atomic, CompareAndSwap) {
  WordsRun r = atomicEach("atom.global.cas.b32 %r1, [%op], %r2, 7;", 2, 4);
  EXPECT_EQ(r.out, (std::vector<uint32_t>{7, 2, 2, 2, 7}));
}

TEST(Atomic, SpinLock) {
  // Lanes of diverged warps take a lock in turn; the count is exact.
  WordsRun r = runWords(R"(
 mov.u32 %t0, smem; setp.eq.u32 %p1, %tid, 0; @%p1 st.shared.v2.u32 [%t0], {0, 0}; bar.sync 0;
 mov.u32 %r5, 0;
again: atom.shared.acquire.cta.cas.b32 %r1, [%t0], 0, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra next;
 ld.volatile.shared.u32 %r2, [%t0+4]; add.u32 %r2, %r2, 1; st.volatile.shared.u32 [%t0+4], %r2;
 mov.u32 %r5, 1; atom.shared.release.cta.exch.b32 %r3, [%t0], 0;
next: setp.eq.u32 %p3, %r5, 0; @%p3 bra again;
 bar.sync 0; ld.shared.u32 %r4, [%t0+4]; @%p1 st.global.u32 [%op], %r4;)",
                        {}, 1, 96);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out[0], 96u);
}

TEST(Atomic, GenericAddressOfSharedMemory) {
  WordsRun r = runWords(R"(
 mov.u64 %d1, smem; cvta.shared.u64 %d2, %d1; setp.eq.u32 %p1, %tid, 0;
 @%p1 st.u32 [%d2], 5; bar.sync 0;
 red.max.s32 [%d2], %tid; bar.sync 0; ld.shared.u32 %r1, [%d1]; @%p1 st.global.u32 [%op], %r1;)",
                        {}, 1, 64);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out[0], 63u);
}

TEST(Atomic, Floats) {
  WordsRun r = atomicEach(
      "mov.b32 %f1, 0f3F000000; red.global.add.f32 [%op], %f1; mov.u32 %r1, 0;",
      f32(1.0f), 4);
  EXPECT_EQ(asF32(r.out[0]), 3.0f);
  // A pair of f16: 1 and 2, four times plus (0.5, 0.25).
  r = atomicEach("mov.b32 %r5, 0x34003800; atom.global.add.noftz.f16x2 %r1, "
                 "[%op], %r5;",
                 0x40003c00, 4);
  EXPECT_EQ(r.out[0], 0x42004200u);
}

TEST(Atomic, Vector) {
  WordsRun r = runWords(R"(
 setp.eq.u32 %p1, %tid, 0; mov.b32 %f1, 0f3F800000; mov.b32 %f2, 0f40000000;
 atom.global.v2.f32.add {%f3, %f4}, [%op], {%f1, %f2};)",
                        {}, 2, 32);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(asF32(r.out[0]), 32.0f);
  EXPECT_EQ(asF32(r.out[1]), 64.0f);
}

TEST(Atomic, Faults) {
  WordsRun r =
      runWords(" mov.u32 %t0, smem; red.shared.add.u32 [%t0], 1;", {}, 1, 1);
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].kind, "uninitialised");
  r = runWords(" red.global.add.u64 [%op+4], %d1;", {}, 4, 1);
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].kind, "misaligned");
}

TEST(Reduction, SignsAndNaN) {
  EXPECT_EQ(uint32_t(reduce(Reduction::Min, Type::S32, 5, uint32_t(-3))),
            uint32_t(-3));
  EXPECT_EQ(uint32_t(reduce(Reduction::Max, Type::U32, 5, uint32_t(-3))),
            uint32_t(-3));
  EXPECT_EQ(reduce(Reduction::Max, Type::F16, 0x8000, 0x0000), 0x0000u);
  EXPECT_EQ(reduce(Reduction::Min, Type::F16, 0x7e01, 0x3c00), 0x3c00u);
  EXPECT_EQ(reduce(Reduction::Min, Type::F16, 0x7e01, 0x7d00), 0x7fffu);
}

} // namespace
