// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionLaunch.h"
#include "gtest/gtest.h"

using namespace fa4;
using namespace fa4::test;

static std::string readError(llvm::StringRef text) {
  auto descriptor = LaunchDescriptor::fromJSON(text);
  return descriptor ? "" : llvm::toString(descriptor.takeError());
}

/// The error after the first occurrence of `from` has become `to`.
static std::string errorAfter(llvm::StringRef from, llvm::StringRef to) {
  std::string text = makeAttentionDescriptor().toJSON();
  size_t position = text.find(from);
  if (position == std::string::npos)
    return ("the text does not contain " + from).str();
  text.replace(position, from.size(), to);
  return readError(text);
}

TEST(JSON, RoundTrip) {
  for (int64_t headDim : {64, 128}) {
    std::string text = makeAttentionDescriptor(headDim).toJSON();
    auto descriptor = LaunchDescriptor::fromJSON(text);
    ASSERT_TRUE(bool(descriptor)) << llvm::toString(descriptor.takeError());
    EXPECT_EQ(descriptor->toJSON(), text);
    EXPECT_EQ(descriptor->roles.size(), 7u);
    EXPECT_EQ(descriptor->versions.ptxas, "13.0.88");

    // And the copy launches the same.
    Problem problem = makeProblem(2, 100, 300, 8, 2, headDim);
    BoundLaunch a = bindOrFail(makeAttentionDescriptor(headDim), problem);
    BoundLaunch b = bindOrFail(*descriptor, problem);
    EXPECT_EQ(a.grid, b.grid);
    ASSERT_EQ(a.parameters.size(), b.parameters.size());
    for (size_t i = 0; i != a.parameters.size(); ++i) {
      const BoundParameter &p = a.parameters[i], &q = b.parameters[i];
      EXPECT_EQ(p.name, q.name);
      EXPECT_EQ(p.kind, q.kind);
      EXPECT_EQ(p.i32, q.i32);
      EXPECT_EQ(p.f32, q.f32);
      EXPECT_EQ(p.pointer, q.pointer);
      EXPECT_EQ(p.tensorMap.dims, q.tensorMap.dims);
      EXPECT_EQ(p.tensorMap.strides, q.tensorMap.strides);
      EXPECT_EQ(p.tensorMap.box, q.tensorMap.box);
      EXPECT_EQ(p.tensorMap.swizzle, q.tensorMap.swizzle);
      EXPECT_EQ(p.tensorMap.l2Promotion, q.tensorMap.l2Promotion);
    }
  }
}

TEST(JSON, Values) {
  LaunchDescriptor d;
  d.kernel = "k \"quoted\" \n";
  d.skipIf = 0;
  LaunchParameter constant;
  constant.kind = LaunchParameter::Kind::F32;
  constant.name = "scale";
  constant.f32.factor = -0.088388347648318447;
  d.parameters.push_back(constant);
  auto back = LaunchDescriptor::fromJSON(d.toJSON());
  ASSERT_TRUE(bool(back)) << llvm::toString(back.takeError());
  EXPECT_EQ(back->kernel, d.kernel);
  EXPECT_EQ(back->parameters[0].f32.factor, constant.f32.factor);
  EXPECT_EQ(getParameter(bindOrFail(*back, Problem()), "scale").f32,
            -0.088388347648318447f);
}

TEST(JSON, UnknownFieldsAreErrors) {
  EXPECT_EQ(errorAfter("\"chip\":", "\"colour\": 1, \"chip\":"),
            "colour: unknown field");
  EXPECT_EQ(errorAfter("\"shape\":", "\"note\": \"\", \"shape\":"),
            "tensors[0].note: unknown field");
  EXPECT_EQ(errorAfter("\"dim\": 0", "\"dim\": 0, \"Dim\": 0"),
            "symbols[0].Dim: unknown field");
  EXPECT_EQ(errorAfter("\"box\":", "\"element_strides\": [], \"box\":"),
            "parameters[0].element_strides: unknown field");
  EXPECT_EQ(errorAfter("\"llvm\":", "\"mlir\": \"22\", \"llvm\":"),
            "versions.mlir: unknown field");
  // A field of another kind of parameter is as unknown.
  EXPECT_EQ(errorAfter("\"kind\": \"pointer\"",
                       "\"kind\": \"pointer\", \"factor\": 1"),
            "parameters[4].factor: unknown field");
}

TEST(JSON, MissingAndMistyped) {
  EXPECT_EQ(readError("{}"), "schema: the field is missing");
  EXPECT_EQ(errorAfter("\"schema\": 1", "\"schema\": 2"),
            "schema: expected 1, but got 2");
  EXPECT_EQ(errorAfter("\"chip\": \"sm_100a\",", ""),
            "chip: the field is missing");
  EXPECT_EQ(errorAfter("\"sm_100a\"", "100"),
            "chip: expected a string, but got a number");
  EXPECT_EQ(errorAfter("231424", "\"all\""),
            "dynamic_shared_bytes: expected an integer, but got a string");
  EXPECT_EQ(errorAfter("231424", "1.5"),
            "dynamic_shared_bytes: expected an integer, but got a number");
  EXPECT_EQ(errorAfter("\"type\": \"f16\"", "\"type\": \"half\""),
            "tensors[0].type: expected u8, u16, u32, i32, u64, i64, f16, f32, "
            "f64, bf16, f32_ftz or tf32, but got 'half'");
  EXPECT_EQ(errorAfter("\"swizzle\": \"128B\"", "\"swizzle\": \"128\""),
            "parameters[0].swizzle: expected none, 32B, 64B or 128B, but got "
            "'128'");
  EXPECT_EQ(
      errorAfter("\"interleave\": \"none\"", "\"interleave\": \"8B\""),
      "parameters[0].interleave: expected none, 16B or 32B, but got '8B'");
  EXPECT_EQ(errorAfter("\"oob_fill\": \"zero\"", "\"oob_fill\": \"one\""),
            "parameters[0].oob_fill: expected zero or nan, but got 'one'");
  EXPECT_EQ(errorAfter("\"kind\": \"i32\"", "\"kind\": \"i64\""),
            "parameters[5].kind: expected tensor_map, pointer, i32 or f32, but "
            "got 'i64'");
  EXPECT_EQ(errorAfter("\"dim\": 0", "\"dim\": 0, \"stride\": 0"),
            "symbols[0].dim: expected either 'dim' or 'stride', but got both");
  EXPECT_EQ(
      errorAfter("\"B\",\n        \"Sq\"", "true,\n        \"Sq\""),
      "tensors[0].shape[0]: expected an integer or an expression, but got "
      "a boolean");
  EXPECT_EQ(errorAfter("\"Hq / Hkv\"", "\"Hq / / Hkv\""),
            "derived[0].value: in 'Hq / / Hkv', column 6: expected a number, a "
            "symbol, a function or '(', but got '/'");
  EXPECT_EQ(errorAfter("512", "512, 1"),
            "block: expected 3 entries, but got 4");
  EXPECT_EQ(errorAfter("\"min(148, tasks)\",", ""),
            "grid: expected 3 entries, but got 2");
  EXPECT_EQ(readError("[]"), "expected a JSON object, but got an array");
  EXPECT_NE(readError("{"), "");
  EXPECT_NE(readError(""), "");
}

TEST(JSON, ReadsVerifiedDescriptorsOnly) {
  EXPECT_EQ(errorAfter("\"skip_if\": \"B == 0", "\"skip_if\": \"b == 0"),
            "skip_if: unknown symbol 'b' in 'b == 0 || Sq == 0 || Hq == 0'");
}

TEST(JSON, DeepNestingIsRefused) {
  for (const char *open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i != 200000; ++i)
      text += open;
    EXPECT_EQ(readError(text), "expected JSON that nests at most 16 deep");
  }
}
