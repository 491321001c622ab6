// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Malformed text must give an error, never a crash or a hang.

#include "TestUtil.h"

#include <random>

using namespace ptxsim;

namespace {

void tryText(const std::string &text) {
  Diagnostic diag;
  auto module = Module::parse(text, diag);
  if (!module) {
    EXPECT_FALSE(diag.message.empty());
    return;
  }
  for (const Diagnostic &d : check(*module))
    EXPECT_FALSE(d.message.empty());
}

const char *kFiles[] = {"score_tile.ptx", "one_mma.ptx"};

TEST(Fuzz, Truncations) {
  for (const char *file : kFiles) {
    std::string text = readData(file);
    ASSERT_FALSE(text.empty());
    for (size_t n = 0; n < text.size(); n += 3)
      tryText(text.substr(0, n));
  }
}

TEST(Fuzz, ByteFlips) {
  std::mt19937 random(2024);
  for (const char *file : kFiles) {
    const std::string text = readData(file);
    for (unsigned i = 0; i < 1500; ++i) {
      std::string t = text;
      for (unsigned n = 1 + random() % 4; n; --n)
        t[random() % t.size()] = char(random());
      tryText(t);
    }
  }
}

// Tokens moved, doubled and removed: text that lexes but means nothing.
TEST(Fuzz, TokenEdits) {
  std::mt19937 random(7);
  const std::string text = readData("score_tile.ptx");
  for (unsigned i = 0; i < 1500; ++i) {
    std::string t = text;
    for (unsigned n = 0; n < 3; ++n) {
      size_t at = random() % t.size(), size = 1 + random() % 12;
      std::string piece = t.substr(at, size);
      if (random() % 2)
        t.erase(at, piece.size());
      t.insert(random() % t.size(), piece);
    }
    tryText(t);
  }
}

// What decodes also runs to an end: a result, a fault, a deadlock or the limit.
TEST(Fuzz, MutatedKernelsTerminate) {
  std::mt19937 random(11);
  const std::string text = readData("score_tile.ptx");
  unsigned ran = 0;
  for (unsigned i = 0; i < 300; ++i) {
    std::string t = text;
    size_t at = text.find("$start") + random() % (text.size() - 1500);
    t[at % t.size()] = "0123456789%rp,;"[random() % 15];
    Diagnostic diag;
    auto module = Module::parse(t, diag);
    if (!module || !check(*module).empty())
      continue;
    Memory memory;
    auto *data = memory.allocate("data", 1 << 18);
    TensorMap map;
    map.address = data->base;
    map.dims = {64, 128};
    map.strides = {128};
    map.box = {64, 128};
    map.swizzle = Swizzle::B128;
    Launch launch;
    launch.block = {128, 1, 1};
    launch.dynamicSharedBytes = 32800;
    launch.params = {Param::tensorMap(map), Param::tensorMap(map),
                     Param::scalar(data->base)};
    Options o = modeOptions(AsyncMode::Random, i);
    o.maxSteps = 200000;
    Result r = run(*module, launch, memory, o);
    EXPECT_TRUE(r.ok() || !r.str().empty());
    ++ran;
  }
  EXPECT_GT(ran, 20u);
}

TEST(Fuzz, Hostile) {
  tryText("");
  tryText(std::string(100000, '{'));
  tryText(".visible .entry k() " + std::string(100000, '{'));
  tryText(".visible .entry k() { .reg .b32 %r<4294967295>; }");
  tryText(".visible .entry k() { .reg .b32 %r<99999999999999999999>; }");
  tryText(".visible .entry k() { .shared .b8 x[268435456][268435456]; }");
  tryText(".visible .entry k() { mov.b32 " + std::string(50000, '!') + "x; }");
  tryText(".visible .entry k() { x: x: bra x; }");
  tryText(".global .b8 x[4] = " + std::string(1000, '{'));
  tryText(".visible .entry k(.param .b8 x[268435455], .param .b8 x[1]) {}");
  tryText(".visible .entry k() { .reg .b32 %r; mov.b32 %r, 0f; }");
  tryText(".visible .entry k() { @%p ret; }");
  tryText(".visible .entry k() { add; sub.; .; mul..lo..s32; }");
  tryText(std::string("\0\0\0", 3));
  tryText("/* never closed");
  tryText(".visible .entry k() { .reg .pred %p; setp.eq.u32 %p|%p|%p, 0, 0; }");
  std::string many = ".visible .entry k() { .reg .pred %p;\n";
  for (unsigned i = 0; i < 5000; ++i)
    many += "l" + std::to_string(i) + ": @%p bra l" +
            std::to_string((i * 7919) % 5000) + ";\n";
  tryText(many + "}");
}

} // namespace
