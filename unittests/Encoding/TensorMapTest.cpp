// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/TensorMap.h"
#include "gtest/gtest.h"

using namespace fa4;

// The K map of a contiguous f16 [2, 1024, 8, 128] tensor.
static TensorMapSpec goodSpec() {
  TensorMapSpec spec;
  spec.baseAddress = 0x7f0000000000;
  spec.dims = {128, 1024, 8, 2};
  spec.strides = {2048, 256, 2097152};
  spec.box = {64, 128, 1, 1};
  spec.swizzle = Swizzle::B128;
  spec.l2Promotion = L2Promotion::B128;
  return spec;
}

static std::vector<std::string> violations(const TensorMapSpec &spec) {
  return spec.getViolations();
}

using Messages = std::vector<std::string>;

TEST(TensorMap, AcceptsWhatTheDriverAccepts) {
  EXPECT_EQ(violations(goodSpec()), Messages{});
  EXPECT_EQ(goodSpec().getBoxBytes(), 16384);

  TensorMapSpec spec = goodSpec();
  spec.dims[1] = int64_t(1) << 32;
  EXPECT_EQ(violations(spec), Messages{});
  spec.strides[2] = (int64_t(1) << 40) - 16;
  EXPECT_EQ(violations(spec), Messages{});
  // An expanded dimension, and strides in no order.
  spec.strides = {0, 16, 0};
  EXPECT_EQ(violations(spec), Messages{});
  spec = goodSpec();
  spec.box[1] = 256;
  EXPECT_EQ(violations(spec), Messages{});
  // 256 bytes inside are fine without a swizzle.
  spec.swizzle = Swizzle::None;
  spec.box[0] = 128;
  EXPECT_EQ(violations(spec), Messages{});
  spec.elementStrides = {1, 8, 1, 1};
  EXPECT_EQ(violations(spec), Messages{});
  spec.oobFill = OobFill::NaN;
  EXPECT_EQ(violations(spec), Messages{});

  TensorMapSpec vector;
  vector.baseAddress = 16;
  vector.dims = {1};
  vector.box = {8};
  EXPECT_EQ(violations(vector), Messages{});
}

// Z6: each limit broken alone gives one message that names limit, dimension and
// value.
TEST(TensorMap, OneMessageARule) {
  auto spec = goodSpec();
  spec.dims[1] = 0;
  EXPECT_EQ(violations(spec),
            Messages{"dims[1]: expected 1 to 4294967296 (2^32) elements, but "
                     "got 0"});
  spec = goodSpec();
  spec.dims[2] = (int64_t(1) << 32) + 1;
  EXPECT_EQ(violations(spec),
            Messages{"dims[2]: expected 1 to 4294967296 (2^32) elements, but "
                     "got 4294967297"});
  spec = goodSpec();
  spec.box[1] = 257;
  EXPECT_EQ(violations(spec),
            Messages{"box[1]: expected 1 to 256 elements, but got 257"});
  spec = goodSpec();
  spec.box[3] = 0;
  EXPECT_EQ(violations(spec),
            Messages{"box[3]: expected 1 to 256 elements, but got 0"});
  spec = goodSpec();
  spec.dims = {128, 2, 2, 2, 2, 2};
  spec.strides = {256, 256, 256, 256, 256};
  spec.box = {64, 1, 1, 1, 1, 1};
  EXPECT_EQ(violations(spec), Messages{"rank: expected 1 to 5, but got 6"});
  spec = goodSpec();
  spec.strides[1] = int64_t(1) << 40;
  EXPECT_EQ(
      violations(spec),
      Messages{"stride of dimension 2: expected 0 to 1099511627775 (below "
               "2^40) bytes, but got 1099511627776"});
  spec.strides[1] = -16;
  EXPECT_EQ(
      violations(spec),
      Messages{"stride of dimension 2: expected 0 to 1099511627775 (below "
               "2^40) bytes, but got -16"});
  spec = goodSpec();
  spec.box[0] = 128;
  EXPECT_EQ(violations(spec),
            Messages{"box[0]: expected at most 128 bytes (the span of swizzle "
                     "128B), but got 256 (128 x f16)"});
  spec = goodSpec();
  spec.box[0] = 20;
  EXPECT_EQ(
      violations(spec),
      Messages{"box[0]: expected a multiple of 16 bytes, but got 40 (20 x "
               "f16)"});
  spec = goodSpec();
  spec.strides[0] = 130;
  EXPECT_EQ(violations(spec), Messages{"stride of dimension 1: expected a "
                                       "multiple of 16 bytes, but got 130"});
  spec = goodSpec();
  spec.baseAddress += 8;
  EXPECT_EQ(
      violations(spec),
      Messages{"base: expected an address that is a multiple of 16 bytes, "
               "but got 0x7f0000000008"});
  spec.baseAddress = 0;
  EXPECT_EQ(violations(spec), Messages{"base: expected an address, but got 0"});
  spec = goodSpec();
  spec.elementStrides = {1, 9, 1, 1};
  EXPECT_EQ(violations(spec),
            Messages{"elementStrides[1]: expected 1 to 8, but got 9"});
  spec = goodSpec();
  spec.elementType = ElementType::I32;
  spec.box[0] = 32;
  spec.oobFill = OobFill::NaN;
  EXPECT_EQ(violations(spec),
            Messages{"oobFill: expected zero for a type that is not floating "
                     "point, but got nan (i32)"});
}

TEST(TensorMap, Lengths) {
  auto spec = goodSpec();
  spec.strides.pop_back();
  EXPECT_EQ(violations(spec),
            Messages{"strides: expected 3 entries (rank - 1), "
                     "but got 2"});
  spec = goodSpec();
  spec.box.push_back(1);
  EXPECT_EQ(violations(spec),
            Messages{"box: expected 4 entries (rank), but got 5"});
  spec = goodSpec();
  spec.elementStrides = {1};
  EXPECT_EQ(violations(spec),
            Messages{"elementStrides: expected 4 entries (rank), but got 1"});
  TensorMapSpec empty;
  empty.baseAddress = 16;
  EXPECT_EQ(violations(empty), Messages{"rank: expected 1 to 5, but got 0"});
}

TEST(TensorMap, Interleave) {
  auto spec = goodSpec();
  spec.interleave = Interleave::B32;
  spec.swizzle = Swizzle::B32;
  spec.box[0] = 16;
  EXPECT_EQ(violations(spec), Messages{});
  spec.swizzle = Swizzle::B64;
  EXPECT_EQ(violations(spec),
            Messages{"swizzle: expected 32B with interleave 32B, but got 64B"});
  spec.swizzle = Swizzle::B32;
  spec.strides[0] = 48;
  EXPECT_EQ(violations(spec), Messages{"stride of dimension 1: expected a "
                                       "multiple of 32 bytes, but got 48"});
  spec = goodSpec();
  spec.interleave = Interleave::B16;
  spec.dims = {128, 64};
  spec.strides = {256};
  spec.box = {64, 64};
  EXPECT_EQ(violations(spec),
            Messages{"rank: expected 3 to 5 with an interleave, but got 2"});
}

TEST(TensorMap, CheckJoinsAllMessages) {
  auto spec = goodSpec();
  EXPECT_EQ(llvm::toString(spec.check()), "");
  spec.dims[0] = 0;
  spec.box[2] = 300;
  EXPECT_EQ(llvm::toString(spec.check()),
            "dims[0]: expected 1 to 4294967296 (2^32) elements, but got 0\n"
            "box[2]: expected 1 to 256 elements, but got 300");
}

TEST(TensorMap, NamesAndCodes) {
  for (int code = 0; code != 12; ++code) {
    auto type = static_cast<ElementType>(code);
    EXPECT_EQ(symbolizeElementType(stringifyElementType(type)), type);
  }
  EXPECT_FALSE(symbolizeElementType("f8"));
  EXPECT_EQ(getElementBytes(ElementType::BF16), 2);
  EXPECT_EQ(getElementBytes(ElementType::F64), 8);
  EXPECT_EQ(static_cast<int>(ElementType::BF16), 9);
  EXPECT_TRUE(isFloat(ElementType::TF32));
  EXPECT_FALSE(isFloat(ElementType::U16));
  const int codes[] = {0, 1, 2, 3};
  for (unsigned i = 0; i != 4; ++i)
    EXPECT_EQ(getTensorMapCode(allSwizzles[i]), codes[i]);
  for (auto value : {Interleave::None, Interleave::B16, Interleave::B32})
    EXPECT_EQ(symbolizeInterleave(stringifyInterleave(value)), value);
  for (auto value : {L2Promotion::None, L2Promotion::B64, L2Promotion::B128,
                     L2Promotion::B256})
    EXPECT_EQ(symbolizeL2Promotion(stringifyL2Promotion(value)), value);
  for (auto value : {OobFill::Zero, OobFill::NaN})
    EXPECT_EQ(symbolizeOobFill(stringifyOobFill(value)), value);
}
