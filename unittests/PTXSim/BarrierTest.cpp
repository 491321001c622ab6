// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mbarriers, barriers by id and count, and setmaxnreg.

#include "TestUtil.h"

using namespace ptxsim;

namespace {

// Tests run one thread with 4 KiB of shared memory.
struct Barriers : testing::Test {
  uint64_t value(const std::string &body) {
    KernelRun r = runRows(body, {{0}}, Options(), 4096);
    EXPECT_TRUE(r.result.ok()) << r.result.str() << body;
    return r.out[0];
  }
  std::string faultOf(const std::string &body) {
    KernelRun r = runRows(body, {{0}}, Options(), 4096);
    return r.result.faults.empty() ? statusName(r.result.status)
                                   : r.result.faults[0].kind;
  }
  /// Which of the parities 0 and 1 have completed (bits 0 and 1).
  uint64_t parities(const std::string &body) {
    return value(body + R"(
 mbarrier.test_wait.parity.shared.b64 %p0, [dyn], 0;
 mbarrier.test_wait.parity.shared.b64 %p1, [dyn], 1;
 selp.b64 %x1, 1, 0, %p0; selp.b64 %x2, 2, 0, %p1; or.b64 %out, %x1, %x2;
)");
  }
};

const std::string kInit2 = " mbarrier.init.shared.b64 [dyn], 2;\n";
const std::string kArrive = " mbarrier.arrive.shared.b64 %x9, [dyn];\n";

TEST_F(Barriers, FreshBarrier) { EXPECT_EQ(parities(kInit2), 2u); }

TEST_F(Barriers, PhaseNeedsAllArrivals) {
  EXPECT_EQ(parities(kInit2 + kArrive), 2u);
  EXPECT_EQ(parities(kInit2 + kArrive + kArrive), 1u);
  EXPECT_EQ(parities(kInit2 + " mbarrier.arrive.shared.b64 _, [dyn], 2;\n"),
            1u);
  EXPECT_EQ(parities(kInit2 + kArrive + kArrive + kArrive), 1u);
  EXPECT_EQ(parities(kInit2 + kArrive + kArrive + kArrive + kArrive), 2u);
}

TEST_F(Barriers, PhaseNeedsAllBytes) {
  std::string expect = " mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
                       "[dyn], 64;\n";
  std::string complete = " mbarrier.complete_tx.relaxed.cta.shared::cta.b64 "
                         "[dyn], 64;\n";
  EXPECT_EQ(parities(kInit2 + expect + kArrive + kArrive), 2u);
  EXPECT_EQ(parities(kInit2 + expect + kArrive + kArrive + complete), 1u);
  // Completion before expectation is fine while an arrival is pending.
  EXPECT_EQ(parities(kInit2 + kArrive + complete +
                     " mbarrier.arrive.expect_tx.shared.b64 _, [dyn], 64;\n"),
            1u);
}

TEST_F(Barriers, ArriveReturnsTheStateOfBefore) {
  EXPECT_EQ(value(kInit2 + R"(
 mbarrier.arrive.shared.b64 %x1, [dyn];
 mbarrier.pending_count.b64 %w2, %x1;
 mbarrier.arrive.shared.b64 %x2, [dyn];
 mbarrier.try_wait.shared.b64 %p0, [dyn], %x1;
 cvt.u64.u32 %out, %w2; @%p0 add.s64 %out, %out, 10;
)"),
            12u);
}

TEST_F(Barriers, DropLowersTheCount) {
  EXPECT_EQ(parities(kInit2 + " mbarrier.arrive_drop.shared.b64 _, [dyn];\n" +
                     kArrive + kArrive),
            2u);
}

TEST_F(Barriers, Misuse) {
  EXPECT_EQ(faultOf(kArrive), "bad-mbarrier");
  EXPECT_EQ(faultOf(kInit2 + kInit2), "bad-mbarrier");
  EXPECT_EQ(faultOf(" mbarrier.init.shared.b64 [dyn], 0;"), "bad-mbarrier");
  EXPECT_EQ(faultOf(" mbarrier.init.shared.b64 [dyn+4], 1;"), "misaligned");
  EXPECT_EQ(faultOf(kInit2 + " st.shared.u32 [dyn+4], 0;"), "bad-mbarrier");
  EXPECT_EQ(faultOf(kInit2 + " ld.shared.u32 %w2, [dyn+4];"), "bad-mbarrier");
  EXPECT_EQ(faultOf(kInit2 + " mbarrier.arrive.shared.b64 _, [dyn], 3;"),
            "bad-mbarrier");
  EXPECT_EQ(faultOf(kInit2 + " mbarrier.inval.shared.b64 [dyn];\n" + kArrive),
            "bad-mbarrier");
  // Arrivals beyond the count while bytes are outstanding.
  EXPECT_EQ(faultOf(kInit2 +
                    " mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [dyn], "
                    "64;\n" +
                    kArrive + kArrive + kArrive),
            "bad-mbarrier");
  EXPECT_EQ(faultOf(kInit2 + " mbarrier.inval.shared.b64 [dyn];\n" + kInit2),
            "ok");
}

TEST_F(Barriers, TxCountHasItsRange) {
  EXPECT_EQ(faultOf(kInit2 + " mbarrier.expect_tx.relaxed.cta.shared::cta.b64 "
                             "[dyn], 1048576;"),
            "bad-mbarrier");
}

// Warp 1 waits for warp 0 through an mbarrier, in every mode.
TEST(BarrierThreads, HandOff) {
  std::string body = R"(
 mov.u32 %w1, %warpid; mov.u32 %w2, %laneid; or.b32 %w3, %w1, %w2;
 setp.ne.u32 %p0, %w3, 0;
 @%p0 bra ready;
 mbarrier.init.shared.b64 [dyn], 32;
ready:
 bar.sync 0;
 shl.b32 %w4, %w2, 2; mov.u32 %w5, dyn; add.u32 %w5, %w5, %w4;
 setp.eq.u32 %p1, %w1, 0;
 @%p1 bra producer;
wait:
 mbarrier.try_wait.parity.shared.b64 %p2, [dyn], 0;
 @!%p2 bra wait;
 ld.shared.u32 %w6, [%w5+64];
 cvt.u64.u32 %out, %w6;
 bra end;
producer:
 add.u32 %w6, %w2, 7;
 st.shared.u32 [%w5+64], %w6;
 mbarrier.arrive.shared.b64 _, [dyn];
end:
)";
  for (AsyncMode mode :
       {AsyncMode::Eager, AsyncMode::Lazy, AsyncMode::Random}) {
    KernelRun r = runThreads(64, body, modeOptions(mode));
    ASSERT_TRUE(r.result.ok()) << r.result.str();
    for (unsigned i = 0; i < 32; ++i)
      EXPECT_EQ(r.out[32 + i], 7 + i);
  }
}

TEST(BarrierThreads, ProducerAndConsumerById) {
  // Warp 0 only arrives at barrier 3, warp 1 waits; then the reverse on 4.
  KernelRun r = runThreads(64, R"(
 mov.u32 %w1, %warpid; setp.eq.u32 %p0, %w1, 0; mov.b32 %w2, 3;
 @%p0 bra first;
 bar.sync %w2, 64;
 ld.shared.u32 %w3, [dyn];
 cvt.u64.u32 %out, %w3;
 bar.arrive 4, 64;
 bra end;
first:
 st.shared.u32 [dyn], 42;
 bar.arrive 3, 64;
 bar.sync 4, 64;
 mov.b64 %out, 1;
end:
)");
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out[0], 1u);
  EXPECT_EQ(r.out[63], 42u);
}

TEST(BarrierThreads, Reduction) {
  KernelRun r = runThreads(64, R"(
 mov.u32 %w1, %tid.x; setp.lt.u32 %p0, %w1, 40;
 bar.red.popc.u32 %w2, 1, %p0;
 bar.red.and.pred %p1, 1, %p0;
 bar.red.or.pred %p2, 1, !%p0;
 cvt.u64.u32 %out, %w2; @%p1 add.s64 %out, %out, 100;
 @%p2 add.s64 %out, %out, 1000;
)");
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (uint64_t v : r.out)
    EXPECT_EQ(v, 1040u);
}

TEST(BarrierThreads, ExitedWarpsAreNotWaitedFor) {
  KernelRun r = runThreads(96, R"(
 mov.u32 %w1, %warpid; setp.eq.u32 %p0, %w1, 1;
 @%p0 exit;
 bar.sync 0;
 mov.b64 %out, 1;
)");
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  EXPECT_EQ(r.out[95], 1u);
}

TEST(BarrierThreads, TooFewThreadsIsADeadlock) {
  KernelRun r = runThreads(128, " bar.sync 2, 128; mov.u32 %w1, %warpid;"
                                " setp.eq.u32 %p0, %w1, 0; @%p0 bra end;"
                                " barrier.sync 5, 128;\nend:");
  ASSERT_EQ(r.result.status, Status::Deadlock) << r.result.str();
  EXPECT_NE(r.result.message.find("barrier 5 has 96 of 128 threads"),
            std::string::npos)
      << r.result.message;
}

TEST(BarrierThreads, BadIdsAndCounts) {
  for (const char *text :
       {" bar.sync 16;", " mov.b32 %w1, -1; bar.sync %w1;", " bar.sync 1, 33;",
        " bar.sync 1, 0;",
        " mov.u32 %w1, %warpid; mul.lo.u32 %w1, %w1, 32; sub.u32 %w1, 64, %w1;"
        " bar.sync 1, %w1;"}) {
    KernelRun r = runThreads(64, text);
    ASSERT_EQ(r.result.status, Status::Fault) << text << r.result.str();
    EXPECT_EQ(r.result.faults[0].kind, "bad-barrier") << r.result.str();
  }
}

// 512 threads start with 128 registers each: 200 + 200 + 64 + 48 fit.
std::string budgets(unsigned a, unsigned b, unsigned c, unsigned d) {
  std::string t = " mov.u32 %w1, %warpid; shr.u32 %w1, %w1, 2;\n"
                  "t: .branchtargets a, b, c, d;\n brx.idx %w1, t;\n";
  unsigned regs[] = {a, b, c, d};
  for (unsigned i = 0; i < 4; ++i)
    t += std::string(1, char('a' + i)) + ": setmaxnreg." +
         (regs[i] >= 128 ? "inc" : "dec") + ".sync.aligned.u32 " +
         std::to_string(regs[i]) + "; bra end;\n";
  return t + "end: mov.b64 %out, 1;";
}

// A warp may arrive and then wait, so the count may exceed the CTA's threads.
TEST(BarrierThreads, CountAboveTheCta) {
  KernelRun r = runThreads(
      64, " barrier.arrive 7, 128; barrier.sync 7, 128; mov.b64 %out, 1;");
  EXPECT_TRUE(r.result.ok()) << r.result.str();
  r = runThreads(64, " barrier.sync 7, 128; mov.b64 %out, 1;");
  EXPECT_EQ(r.result.status, Status::Deadlock) << r.result.str();
}

// 256 threads could have 255 registers each, but no role asks for that many.
TEST(BarrierThreads, LaunchRegistersOfSmallCtas) {
  std::string text = " mov.u32 %w1, %warpid; setp.ge.u32 %p0, %w1, 4;\n"
                     " @%p0 bra up; setmaxnreg.dec.sync.aligned.u32 24;"
                     " bra end;\n"
                     "up: setmaxnreg.inc.sync.aligned.u32 232;\n"
                     "end: mov.b64 %out, 1;";
  KernelRun r = runThreads(256, text);
  EXPECT_TRUE(r.result.ok()) << r.result.str();
}

TEST(BarrierThreads, RegisterBudgets) {
  EXPECT_TRUE(runThreads(512, budgets(200, 200, 64, 48)).result.ok());
  KernelRun r = runThreads(512, budgets(208, 208, 64, 48));
  ASSERT_EQ(r.result.status, Status::Deadlock) << r.result.str();
  EXPECT_NE(r.result.message.find("the register pool has"), std::string::npos);
  r = runThreads(512, " setmaxnreg.dec.sync.aligned.u32 200;");
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].kind, "bad-setmaxnreg");
}

} // namespace
