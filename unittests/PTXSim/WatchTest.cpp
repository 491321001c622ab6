// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs that are watched, and what a module says of its kernels.

#include "TestUtil.h"

#include "ptxsim/Watch.h"

using namespace ptxsim;

namespace {

const char *kHead = ".version 8.8\n.target sm_100a\n.address_size 64\n";

std::shared_ptr<Module> parse(const std::string &text) {
  Diagnostic diag;
  auto module = Module::parse(kHead + text, diag);
  EXPECT_TRUE(module) << diag.str();
  return module;
}

TEST(Watch, StopsARunThatNeverEnds) {
  auto module = parse(".visible .entry spin() { l: bra l; }\n");
  ASSERT_TRUE(module);
  Launch launch;
  launch.grid = {3, 1, 1};
  Memory memory;
  unsigned calls = 0;
  double last = 0;
  Result r = runWatched(*module, launch, memory, Options(),
                        std::chrono::milliseconds(5), [&](const Progress &p) {
                          EXPECT_EQ(p.done, 0u);
                          EXPECT_TRUE(p.total == 0 || p.total == 3);
                          EXPECT_GE(p.seconds, last + 0.005);
                          last = p.seconds;
                          return ++calls < 3 || p.total == 0;
                        });
  EXPECT_EQ(r.status, Status::Interrupted) << r.str();
  EXPECT_GE(calls, 3u);
}

TEST(Watch, PassesOnWhatTheCallerAsksFor) {
  auto module = parse(".visible .entry spin() { l: bra l; }\n");
  ASSERT_TRUE(module);
  Memory memory;
  Options options;
  uint64_t total = 0;
  options.progress = [&](uint64_t, uint64_t t) { total = t; };
  options.interrupted = [] { return true; };
  Result r =
      runWatched(*module, Launch(), memory, options, std::chrono::seconds(60),
                 [](const Progress &) { return true; });
  EXPECT_EQ(r.status, Status::Interrupted) << r.str();
  EXPECT_EQ(total, 1u);
}

TEST(Watch, LeavesAShortRunAlone) {
  auto module = parse(".visible .entry k() { ret; }\n");
  ASSERT_TRUE(module);
  Memory memory;
  bool called = false;
  Result r =
      runWatched(*module, Launch(), memory, Options(), std::chrono::seconds(60),
                 [&](const Progress &) { return called = true; });
  EXPECT_TRUE(r.ok()) << r.str();
  EXPECT_EQ(r.stats.ctas, 1u);
  EXPECT_FALSE(called);
}

TEST(ModuleInfo, Parameters) {
  auto module = parse(".visible .entry k(.param .align 64 .b8 map[128],\n"
                      " .param .u64 .ptr .global .align 16 p, .param .f32 f,\n"
                      " .param .v2 .u16 v) { ret; }\n"
                      ".visible .entry none() { ret; }\n");
  ASSERT_TRUE(module);
  std::vector<ParameterInfo> p;
  std::string error;
  ASSERT_TRUE(module->parameters("k", p, error)) << error;
  ASSERT_EQ(p.size(), 4u);
  auto shown = [](const ParameterInfo &i) {
    return i.name + " " + i.type + " " + std::to_string(i.size) + " " +
           std::to_string(i.align) + (i.isArray ? " array" : "");
  };
  EXPECT_EQ(shown(p[0]), "map b8 128 64 array");
  EXPECT_EQ(shown(p[1]), "p u64 8 8");
  EXPECT_EQ(shown(p[2]), "f f32 4 4");
  EXPECT_EQ(shown(p[3]), "v u16 4 4 array");
  ASSERT_TRUE(module->parameters("none", p, error)) << error;
  EXPECT_TRUE(p.empty());
  EXPECT_FALSE(module->parameters("", p, error));
  EXPECT_EQ(error, "the module has several kernels; name one");
  EXPECT_FALSE(module->parameters("other", p, error));
  EXPECT_EQ(error, "the module has no kernel 'other'");
}

TEST(ModuleInfo, Names) {
  AsyncMode mode = AsyncMode::Eager;
  EXPECT_TRUE(asyncModeByName("random", mode) && mode == AsyncMode::Random);
  EXPECT_FALSE(asyncModeByName("", mode));
  RaceMode race = RaceMode::Off;
  EXPECT_TRUE(raceModeByName("formal", race) && race == RaceMode::Formal);
  EXPECT_FALSE(raceModeByName("Formal", race));
  Swizzle swizzle = Swizzle::None;
  EXPECT_TRUE(swizzleByName("128B_ATOM_32B", swizzle) &&
              swizzle == Swizzle::B128Atom32);
  EXPECT_FALSE(swizzleByName("128", swizzle));
}

} // namespace
