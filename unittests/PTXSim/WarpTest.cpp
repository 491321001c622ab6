// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lanes that diverge, and exchange between lanes.

#include "TestUtil.h"

using namespace ptxsim;

namespace {

std::vector<std::vector<uint64_t>> lanes(unsigned n) {
  std::vector<std::vector<uint64_t>> rows;
  for (unsigned i = 0; i < n; ++i)
    rows.push_back({i});
  return rows;
}

std::vector<uint64_t> runLanes(const std::string &body, unsigned n = 32,
                               Options options = Options()) {
  KernelRun r = runRows(body, lanes(n), options);
  EXPECT_TRUE(r.result.ok()) << r.result.str() << body;
  return r.out;
}

TEST(Warp, LoopsOfDifferentLength) {
  auto out = runLanes(R"(
 mov.b32 %w1, 0;
loop:
 setp.ge.u32 %p0, %w1, %w0;
 @%p0 bra done;
 add.s64 %out, %out, 3;
 add.u32 %w1, %w1, 1;
 bra loop;
done:
)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 3 * i);
}

TEST(Warp, NestedBranchesMeetAgain) {
  // The vote at the end sees all lanes only if they have met again.
  auto out = runLanes(R"(
 and.b32 %w1, %w0, 1; setp.eq.u32 %p0, %w1, 0;
 and.b32 %w2, %w0, 2; setp.eq.u32 %p1, %w2, 0;
 @%p0 bra even;
 @%p1 bra odd_low;
 mov.b64 %out, 3; bra join;
odd_low:
 mov.b64 %out, 1; bra join;
even:
 mov.b64 %out, 10;
 @%p1 bra join;
 mov.b64 %out, 12;
join:
 activemask.b32 %w3;
 setp.eq.u32 %p2, %w3, 0xffffffff;
 @%p2 add.s64 %out, %out, 100;
)");
  const uint64_t want[] = {110, 101, 112, 103};
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], want[i % 4]);
}

TEST(Warp, EarlyExitReleasesTheOthers) {
  // The harness stores its result at the end: lanes that exit leave 0.
  auto out = runLanes(R"(
 setp.lt.u32 %p0, %w0, 5;
 @%p0 exit;
 bar.warp.sync 0xffffffff;
 mov.b64 %out, 1;
)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i >= 5);
}

TEST(Warp, BranchTable) {
  auto out = runLanes(R"(
 rem.u32 %w1, %w0, 3;
table: .branchtargets a, b, c;
 brx.idx %w1, table;
a: mov.b64 %out, 7; bra join;
b: mov.b64 %out, 8; bra join;
c: mov.b64 %out, 9;
join:
)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 7 + i % 3);
}

TEST(Warp, Shuffles) {
  auto out = runLanes(" shfl.sync.bfly.b32 %w1|%p0, %w0, 5, 31, -1;"
                      " cvt.u64.u32 %out, %w1;");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i ^ 5);
  // Segments of eight lanes.
  out = runLanes(" shfl.sync.down.b32 %w1|%p0, %w0, 3, 0x1807, -1;"
                 " cvt.u64.u32 %out, %w1; @!%p0 add.s64 %out, %out, 100;");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 8 + 3 < 8 ? i + 3 : i + 100);
  out = runLanes(" shfl.sync.up.b32 %w1|%p0, %w0, 2, 0x1800, -1;"
                 " cvt.u64.u32 %out, %w1; @!%p0 add.s64 %out, %out, 100;");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 8 >= 2 ? i - 2 : i + 100);
  out = runLanes(" shfl.sync.idx.b32 %w1, %w0, 2, 0x181f, -1;"
                 " cvt.u64.u32 %out, %w1;");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i / 8 * 8 + 2);
}

TEST(Warp, VotesAndElection) {
  auto out = runLanes(R"(
 setp.gt.u32 %p0, %w0, 20;
 vote.sync.any.pred %p1, %p0, -1;
 vote.sync.all.pred %p2, %p0, -1;
 vote.sync.ballot.b32 %w1, !%p0, -1;
 elect.sync %w2|%p3, 0xffffffff;
 cvt.u64.u32 %out, %w1;
 @%p1 or.b64 %out, %out, 0x100000000;
 @%p2 or.b64 %out, %out, 0x200000000;
 @%p3 or.b64 %out, %out, 0x400000000;
)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 0x1001fffffull | (i == 0 ? 0x400000000ull : 0));
}

TEST(Warp, MatchAndReduce) {
  auto out = runLanes(" and.b32 %w1, %w0, 1; match.any.sync.b32 %w2, %w1, -1;"
                      " redux.sync.add.u32 %w3, %w0, -1;"
                      " mov.b64 %out, {%w2, %w3};");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], uint64_t(496) << 32 | (i % 2 ? 0xaaaaaaaa : 0x55555555));
}

TEST(Warp, SyncBringsDivergedLanesTogether) {
  Options strict;
  strict.strictConvergence = true;
  std::string body = R"(
 setp.lt.u32 %p0, %w0, 7;
 @%p0 bra low;
 mov.b32 %w1, 1;
 bra join;
low:
 mov.b32 %w1, 2;
join:
 shfl.sync.idx.b32 %w2, %w1, 0, 31, -1;
 cvt.u64.u32 %out, %w2;
)";
  for (const Options &o : {Options(), strict}) {
    auto out = runLanes(body, 32, o);
    for (unsigned i = 0; i < 32; ++i)
      EXPECT_EQ(out[i], 2u);
  }
}

TEST(Warp, MissingLaneOfASyncIsADeadlock) {
  KernelRun r = runRows(R"(
 setp.lt.u32 %p0, %w0, 7;
 @%p0 bra low;
 bar.warp.sync -1;
 mov.b64 %out, 1;
low:
)",
                        lanes(32));
  EXPECT_EQ(r.result.status, Status::Deadlock) << r.result.str();
}

TEST(Warp, DivergenceAtAnAlignedBarrier) {
  KernelRun r =
      runRows(" setp.lt.u32 %p0, %w0, 7; @%p0 bar.sync 0;", lanes(32));
  ASSERT_EQ(r.result.status, Status::Fault) << r.result.str();
  EXPECT_EQ(r.result.faults[0].kind, "divergence");
}

TEST(Warp, SpecialRegisters) {
  KernelRun r = runRows(R"(
 mov.u32 %w1, %laneid; mov.u32 %w2, %warpid; mov.u32 %w3, %ntid.x;
 mov.u32 %w4, %lanemask_lt; mov.u32 %w5, %nctaid.x; mov.u32 %w6, %ctaid.x;
 mov.u32 %w7, %cluster_nctarank;
 mad.lo.u32 %w1, %w2, 100, %w1; mad.lo.u32 %w1, %w3, 10000, %w1;
 add.u32 %w5, %w5, %w6; add.u32 %w5, %w5, %w7; xor.b32 %w4, %w4, %w5;
 mov.b64 %out, {%w1, %w4};
)",
                        lanes(64));
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(r.out[i], uint64_t((1u << i % 32) - 1 ^ 2) << 32 |
                            (640000 + i / 32 * 100 + i % 32));
}

TEST(Warp, LoadsAndStoresOfEveryWidth) {
  KernelRun r = runRows(R"(
 mul.lo.u32 %w1, %w0, 64; mov.u32 %w2, dyn; add.u32 %w2, %w2, %w1;
 st.shared.v4.b32 [%w2], {%w0, %w1, %w2, %w0};
 st.shared.u8 [%w2+3], 0xff;
 ld.shared.s8 %w5, [%w2+3];
 ld.shared.u8 %w6, [%w2+3];
 add.u32 %w5, %w5, %w6;
 ld.shared.v2.b64 {%x1, %x2}, [%w2];
 cvt.u64.u32 %x3, %w2; cvta.shared.u64 %x4, %x3;
 st.u16 [%x4+8], 0x1234; ld.b16 %h1, [%x4+8]; cvt.u32.u16 %w7, %h1;
 ld.shared.u32 %w8, [%w2+12];
 shl.b32 %w7, %w7, 8; add.u32 %w7, %w7, %w8; mov.b64 %out, {%w5, %w7};
)",
                        lanes(32), Options(), 4096);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (unsigned i = 0; i < 32; ++i) // -1 + 255, and (0x1234 << 8) + lane
    EXPECT_EQ(r.out[i], uint64_t(0x123400 + i) << 32 | 254);
}

TEST(Warp, LocalMemoryIsPerThread) {
  auto out = runLanes(R"(
 .local .align 8 .b8 depot[16];
 mov.b64 %x1, depot; cvta.local.u64 %x2, %x1;
 st.local.u32 [%x1], %w0; st.u32 [%x2+4], %w0;
 ld.local.u64 %out, [depot];
)");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], uint64_t(i) << 32 | i);
}

struct BadAccess {
  const char *kind, *body;
};

TEST(Warp, BadAccessesAreFaults) {
  const BadAccess kCases[] = {
      {"out-of-bounds", " ld.global.u32 %w1, [%in+4096];"},
      {"out-of-bounds", " mov.b64 %x1, 0; st.global.u32 [%x1], %w0;"},
      {"misaligned", " ld.global.u32 %w1, [%in+2];"},
      {"misaligned", " ld.shared.v4.b32 {%w1,%w2,%w3,%w4}, [dyn+8];"},
      {"uninitialised", " ld.shared.u32 %w1, [dyn+64];"},
      {"uninitialised", " st.shared.u16 [dyn], %h0; ld.shared.u32 %w1, [dyn];"},
      {"out-of-bounds", " mov.u32 %w1, 512; st.shared.u32 [%w1], %w0;"},
      {"out-of-bounds", " st.shared.u32 [dyn+1048576], %w0;"},
      {"trap", " trap;"},
  };
  for (const BadAccess &c : kCases) {
    KernelRun r = runRows(c.body, {{0}}, Options(), 1024);
    ASSERT_EQ(r.result.status, Status::Fault) << c.body << r.result.str();
    EXPECT_EQ(r.result.faults[0].kind, c.kind) << r.result.str();
  }
}

// A message places an address among the variables or in the dynamic array.
TEST(Warp, SharedAddressesInMessages) {
  const std::pair<const char *, const char *> kCases[] = {
      {" ld.shared.u32 %w1, [fixed+8];", " (static shared + 8), which was"},
      {" ld.shared.u32 %w1, [dyn+64];", " (dynamic shared + 64), which was"},
  };
  for (auto [body, message] : kCases) {
    KernelRun r =
        runRows(std::string(" .shared .align 4 .b8 fixed[16];") + body, {{0}},
                Options(), 1024);
    ASSERT_EQ(r.result.status, Status::Fault) << body << r.result.str();
    EXPECT_NE(r.result.faults[0].message.find(message), std::string::npos)
        << r.result.str();
  }
}

TEST(Warp, StepLimit) {
  Options o;
  o.maxSteps = 10000;
  KernelRun r = runRows("spin: bra spin;", {{0}}, o);
  EXPECT_EQ(r.result.status, Status::StepLimit);
}

} // namespace
