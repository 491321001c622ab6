// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionLaunch.h"
#include "gtest/gtest.h"

using namespace fa4;
using namespace fa4::test;

static std::string verifyError(void (*change)(LaunchDescriptor &)) {
  LaunchDescriptor d = makeAttentionDescriptor();
  change(d);
  return llvm::toString(d.verify());
}

TEST(Verify, Names) {
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.kernel.clear(); }),
            "kernel: expected a name, but got none");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.tensors[1].name = "q"; }),
            "tensors[1].name: expected a new name, but 'q' is defined already");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.symbols[0].name = "k"; }),
            "symbols[0].name: expected a new name, but 'k' is defined already");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.symbols[0].name = "min"; }),
            "symbols[0].name: expected a name such as 'Sq' or 'q.stride0', but "
            "got 'min'");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.derived[1].name = "B"; }),
            "derived[1].name: expected a new name, but 'B' is defined already");
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.parameters[1].name = "q_map"; }),
      "parameters[1].name: expected a new name, but 'q_map' is defined "
      "already");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.parameters[1].name = ""; }),
            "parameters[1].name: expected a name, but got ''");
}

TEST(Verify, SymbolsPointAtDimensions) {
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.symbols[0].operand = "x"; }),
      "symbols[0].operand: expected the name of a tensor, but got 'x'");
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.symbols[0].index = 4; }),
      "symbols[0]: expected a dimension below 4, the rank of 'q', but got "
      "4");
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.symbols[0].index = -1; }),
      "symbols[0]: expected a dimension below 4, the rank of 'q', but got "
      "-1");
}

TEST(Verify, NamesAreKnownWhereTheyAreUsed) {
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) {
              d.tensors[0].shape[0] = Expr::symbol("batch");
            }),
            "tensors[0].shape[0]: unknown symbol 'batch' in 'batch'");
  EXPECT_EQ(
      verifyError(
          [](LaunchDescriptor &d) { std::swap(d.derived[0], d.derived[1]); }),
      "derived[0].value: unknown symbol 'group' in 'select(128 % group == "
      "0, group, 1)'");
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.checks[0].message = "{x}"; }),
      "checks[0].message: unknown symbol 'x' in 'x'");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) {
              d.skipIf = Expr::symbol("Sq") == Expr::symbol("none");
            }),
            "skip_if: unknown symbol 'none' in 'Sq == none'");
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.grid[1] = Expr::symbol("q"); }),
      "grid[1]: expected a number, but 'q' is a tensor, whose address only "
      "'base' and pointers may use");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) {
              d.parameters[0].tensorMap.box[2] = Expr::symbol("z") + 1;
            }),
            "parameters[0].box[2]: unknown symbol 'z' in 'z + 1'");
}

TEST(Verify, Messages) {
  auto error = [](const char *message) {
    LaunchDescriptor d = makeAttentionDescriptor();
    d.checks[0].message = message;
    return llvm::toString(d.verify());
  };
  EXPECT_EQ(error("{{}}"), "");
  EXPECT_EQ(error("a {Sq"), "checks[0].message: column 3: expected '}' after "
                            "'{'");
  EXPECT_EQ(error("a } b"), "checks[0].message: column 3: expected '{' before "
                            "'}'");
  EXPECT_EQ(error("a {Sq +} b"),
            "checks[0].message: after column 3: column 5: expected a number, a "
            "symbol, a function or '(', but got the end of the text");
}

TEST(Verify, Lengths) {
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.tensors[2].strides.pop_back(); }),
      "tensors[2].strides: expected 4 entries (as many as in shape), but "
      "got 3");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) {
              d.parameters[1].tensorMap.strides.pop_back();
            }),
            "parameters[1].strides: expected 3 entries (rank - 1), but got 2");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) {
              d.parameters[1].tensorMap.box.push_back(1);
            }),
            "parameters[1].box: expected 4 entries (rank), but got 5");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) {
              d.parameters[0].tensorMap.dims.push_back(1);
            }),
            "parameters[0].dims: expected 1 to 5 entries, but got 6");
}

TEST(Verify, LaunchLimits) {
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.block = {0, 1, 1}; }),
            "block[0]: expected 1 to 1024 threads, but got 0");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.block = {1, 1, 65}; }),
            "block[2]: expected 1 to 64 threads, but got 65");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) { d.block = {512, 2, 2}; }),
            "block: expected at most 1024 threads, but got 2048");
  EXPECT_EQ(
      verifyError([](LaunchDescriptor &d) { d.dynamicSharedBytes = 232449; }),
      "dynamic_shared_bytes: expected 0 to 232448 bytes, but got 232449");
  EXPECT_EQ(verifyError([](LaunchDescriptor &d) {
              LaunchParameter map = d.parameters[0];
              for (int i = 0; i != 255; ++i) {
                map.name = "map" + std::to_string(i);
                d.parameters.push_back(map);
              }
            }),
            "parameters: expected at most 32764 bytes, but got 33216");
}
