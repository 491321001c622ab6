// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A whole small Blackwell kernel, and what happens when one of its steps is
// taken away.

#include "TestUtil.h"

#include "FloatFormat.h"

using namespace ptxsim;

namespace {

struct Tile {
  Result result;
  double maxError = 0;
};

void replaceOnce(std::string &text, const std::string &from,
                 const std::string &to) {
  size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

Tile runTile(const std::string &text, Options options,
             uint64_t base = uint64_t(1) << 32) {
  Tile tile;
  Diagnostic diag;
  auto module = Module::parse(text, diag);
  EXPECT_TRUE(module) << diag.str();
  if (!module)
    return tile;
  Memory memory;
  auto *q = reinterpret_cast<uint16_t *>(memory.map("q", base, 128 * 128));
  auto *k = reinterpret_cast<uint16_t *>(
      memory.map("k", base + (1 << 20), 128 * 128));
  auto *out =
      reinterpret_cast<float *>(memory.map("out", base + (2 << 20), 128 * 512));
  std::vector<float> qf(128 * 64), kf(128 * 64);
  uint32_t state = 12345;
  auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return float(int(state >> 24) - 128) / 32.0f; // exact in f16
  };
  for (unsigned i = 0; i < 128 * 64; ++i) {
    q[i] = encodeF16(qf[i] = next());
    k[i] = encodeF16(kf[i] = next());
  }
  TensorMap map;
  map.dims = {64, 128};
  map.strides = {128};
  map.box = {64, 128};
  map.swizzle = Swizzle::B128;
  Launch launch;
  launch.block = {128, 1, 1};
  launch.dynamicSharedBytes = 32800;
  map.address = base;
  launch.params.push_back(Param::tensorMap(map));
  map.address = base + (1 << 20);
  launch.params.push_back(Param::tensorMap(map));
  launch.params.push_back(Param::scalar<uint64_t>(base + (2 << 20)));
  tile.result = run(*module, launch, memory, options);
  for (unsigned m = 0; m < 128; ++m)
    for (unsigned n = 0; n < 32; ++n) {
      double sum = 0;
      for (unsigned d = 0; d < 64; ++d)
        sum += double(qf[m * 64 + d]) * kf[n * 64 + d];
      tile.maxError =
          std::max(tile.maxError, std::fabs(sum - out[m * 128 + n]));
    }
  return tile;
}

constexpr AsyncMode kModes[] = {AsyncMode::Eager, AsyncMode::Lazy,
                                AsyncMode::Random};

TEST(ScoreTile, IsExactInEveryMode) {
  std::string text = readData("score_tile.ptx");
  for (AsyncMode mode : kModes)
    for (uint64_t seed = 0; seed < (mode == AsyncMode::Random ? 5 : 1);
         ++seed) {
      Tile t = runTile(text, modeOptions(mode, seed));
      EXPECT_TRUE(t.result.ok()) << t.result.str();
      EXPECT_EQ(t.maxError, 0);
      EXPECT_EQ(t.result.stats.tensorInstructions, 4u);
      EXPECT_EQ(t.result.stats.tmaInstructions, 2u);
    }
}

TEST(ScoreTile, TensorsMayLieAnywhereIn64Bits) {
  std::string text = readData("score_tile.ptx");
  Tile t = runTile(text, Options(), 0x123456789a00ull);
  EXPECT_TRUE(t.result.ok()) << t.result.str();
  EXPECT_EQ(t.maxError, 0);
}

TEST(ScoreTile, StrictConvergenceHoldsWithWarpSync) {
  Options o;
  o.strictConvergence = true;
  Tile t = runTile(readData("score_tile.ptx"), o);
  EXPECT_TRUE(t.result.ok()) << t.result.str();
}

TEST(ScoreTile, WrongWaitForTheLoadsIsFound) {
  std::string text = readData("score_tile.ptx");
  replaceOnce(text, "%done, [%bar], 0, 10000000;",
              "%done, [%bar], 1, 10000000;");
  Tile t = runTile(text, modeOptions(AsyncMode::Lazy));
  ASSERT_EQ(t.result.status, Status::Fault) << t.result.str();
  EXPECT_EQ(t.result.faults[0].kind, "uninitialised");
}

TEST(ScoreTile, MissingCommitIsADeadlock) {
  std::string text = readData("score_tile.ptx");
  replaceOnce(text,
              "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::"
              "cluster.b64 [tiles+32776];",
              "");
  for (AsyncMode mode : kModes) {
    Tile t = runTile(text, modeOptions(mode));
    ASSERT_EQ(t.result.status, Status::Deadlock) << t.result.str();
    EXPECT_NE(t.result.message.find("(dynamic shared + 32776) has completed 0 "
                                    "phases, pending 1 of 1 arrivals, "
                                    "tx-count 0"),
              std::string::npos)
        << t.result.message;
  }
}

TEST(ScoreTile, WrongByteCountIsADeadlock) {
  std::string text = readData("score_tile.ptx");
  replaceOnce(text, "mov.b32 %bytes, 32768;", "mov.b32 %bytes, 32784;");
  Tile t = runTile(text, Options());
  ASSERT_EQ(t.result.status, Status::Deadlock) << t.result.str();
  EXPECT_NE(t.result.message.find("tx-count 16"), std::string::npos)
      << t.result.message;
}

TEST(ScoreTile, MissingWaitForTheMmaIsFound) {
  std::string text = readData("score_tile.ptx");
  size_t second = text.rfind("%done, [%bar], 0,");
  text.replace(second, 17, "%done, [%bar], 1,");
  Tile t = runTile(text, modeOptions(AsyncMode::Lazy));
  // The other warps read TMEM before the MMA is even issued.
  ASSERT_EQ(t.result.status, Status::Fault) << t.result.str();
  EXPECT_EQ(t.result.faults[0].kind, "uninitialised");
}

TEST(ScoreTile, MissingDeallocationIsFound) {
  std::string text = readData("score_tile.ptx");
  replaceOnce(text, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, %cols;",
              "");
  Tile t = runTile(text, Options());
  ASSERT_EQ(t.result.status, Status::Fault) << t.result.str();
  EXPECT_EQ(t.result.faults[0].kind, "tmem-leak");
}

TEST(ScoreTile, WrongLaneQuarterIsFound) {
  std::string text = readData("score_tile.ptx");
  replaceOnce(text, "shl.b32 %a, %warp, 21;", "mov.b32 %a, 0;");
  Tile t = runTile(text, Options());
  ASSERT_EQ(t.result.status, Status::Fault) << t.result.str();
  EXPECT_EQ(t.result.faults[0].kind, "tmem-lanes");
}

TEST(ScoreTile, LanesThatNeverMeetAgainAreFound) {
  std::string text = readData("score_tile.ptx");
  size_t at = text.rfind("bar.warp.sync -1;");
  text.replace(at, 17, "");
  Options o;
  o.strictConvergence = true;
  Tile t = runTile(text, o);
  ASSERT_EQ(t.result.status, Status::Fault) << t.result.str();
  EXPECT_EQ(t.result.faults[0].kind, "divergence");
}

TEST(ScoreTile, UnelectedIssueOverruns) {
  std::string text = readData("score_tile.ptx");
  replaceOnce(text, "@%follower bra $consume;", "");
  Tile t = runTile(text, Options());
  ASSERT_EQ(t.result.status, Status::Fault) << t.result.str();
  EXPECT_EQ(t.result.faults[0].kind, "bad-mbarrier");
}

} // namespace
