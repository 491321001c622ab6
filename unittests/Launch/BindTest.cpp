// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionLaunch.h"
#include "gtest/gtest.h"
#include <limits>

using namespace fa4;
using namespace fa4::test;

using List = llvm::SmallVector<int64_t, 5>;
using Strides = llvm::SmallVector<int64_t, 4>;

static Expr parsed(llvm::StringRef text) {
  llvm::Expected<Expr> expr = Expr::parse(text);
  if (expr)
    return *expr;
  ADD_FAILURE() << llvm::toString(expr.takeError());
  return Expr();
}

// A kernel with nothing but a grid; tests change one thing of it.
static LaunchDescriptor tiny() {
  LaunchDescriptor d;
  d.kernel = "tiny";
  LaunchTensor x;
  x.name = "x";
  x.shape = {Expr::symbol("n"), 64};
  x.strides = {Expr::symbol("x.stride0"), 1};
  d.tensors.push_back(x);
  d.symbols = {{"n", "x", LaunchSymbol::Source::Dim, 0},
               {"x.stride0", "x", LaunchSymbol::Source::Stride, 0}};
  return d;
}

static Problem tinyProblem(int64_t n) {
  Problem problem;
  TensorArgument x;
  x.shape = {n, 64};
  x.strides = {64, 1};
  x.address = 4096;
  problem.tensors["x"] = x;
  return problem;
}

TEST(Bind, DescriptorOfTheTestsVerifies) {
  EXPECT_EQ(llvm::toString(makeAttentionDescriptor().verify()), "");
  EXPECT_EQ(llvm::toString(makeAttentionDescriptor(64).verify()), "");
  EXPECT_EQ(llvm::toString(tiny().verify()), "");
}

TEST(Bind, PackedHeads) {
  // B 2, Sq 1000, Skv 3000, Hq 32, Hkv 8: 4 heads a row group of 32 positions.
  BoundLaunch launch =
      bindOrFail(makeAttentionDescriptor(), makeProblem(2, 1000, 3000, 32, 8));
  EXPECT_FALSE(launch.skip);
  EXPECT_EQ(launch.values["pack"], 4);
  // 2 tiles of 32 positions a task: ceil(1000 / 64) = 16 tasks a key head.
  EXPECT_EQ(launch.values["tasks"], 16 * 8 * 2);
  EXPECT_EQ(launch.grid, (std::array<int64_t, 3>{148, 1, 1}));
  EXPECT_EQ(launch.block, (std::array<int64_t, 3>{512, 1, 1}));
  EXPECT_EQ(launch.dynamicSharedBytes, 231424);

  TensorMapSpec q = getParameter(launch, "q_map").tensorMap;
  EXPECT_EQ(q.baseAddress, 0x7f1000000000u);
  EXPECT_EQ(q.dims, (List{128, 4, 1000, 8, 2}));
  EXPECT_EQ(q.strides, (Strides{256, 8192, 1024, 8192000}));
  EXPECT_EQ(q.box, (List{64, 4, 32, 1, 1}));
  EXPECT_EQ(q.swizzle, Swizzle::B128);
  EXPECT_EQ(q.getBoxBytes(), 16384);
  TensorMapSpec o = getParameter(launch, "o_map").tensorMap;
  EXPECT_EQ(o.baseAddress, 0x7f4000000000u);
  EXPECT_EQ(o.dims, q.dims);

  TensorMapSpec k = getParameter(launch, "k_map").tensorMap;
  EXPECT_EQ(k.baseAddress, 0x7f2000000000u);
  EXPECT_EQ(k.dims, (List{128, 3000, 8, 2}));
  EXPECT_EQ(k.strides, (Strides{2048, 256, 6144000}));
  EXPECT_EQ(k.box, (List{64, 128, 1, 1}));
  EXPECT_EQ(getParameter(launch, "lse").pointer, 0x7f5000000000u);
  EXPECT_EQ(getParameter(launch, "Skv").i32, 3000);
  EXPECT_FLOAT_EQ(getParameter(launch, "scale_log2").f32, 0.125f * 1.442695f);
}

TEST(Bind, GroupsThatDoNotDivideTheTile) {
  for (int64_t group : {3, 6, 7, 71}) {
    BoundLaunch launch = bindOrFail(makeAttentionDescriptor(64),
                                    makeProblem(1, 300, 64, group, 1, 64));
    TensorMapSpec q = getParameter(launch, "q_map").tensorMap;
    EXPECT_EQ(q.dims, (List{64, 1, 300, group, 1}));
    EXPECT_EQ(q.box, (List{64, 1, 128, 1, 1}));
    EXPECT_EQ(q.strides, (Strides{16, group * 128, 128, 16}));
    EXPECT_EQ(launch.values["tasks"], 2 * group);
  }
  BoundLaunch launch =
      bindOrFail(makeAttentionDescriptor(), makeProblem(1, 8, 64, 128, 1));
  EXPECT_EQ(getParameter(launch, "q_map").tensorMap.box,
            (List{64, 128, 1, 1, 1}));
}

// A map element must lie where the caller's strides put it.
TEST(Bind, MapsAddressTheCallersElements) {
  Problem problem = makeProblem(3, 50, 70, 8, 2);
  // Stored [B, H, S, D] and passed as [B, S, H, D], with room between batches.
  problem.tensors["q"].strides = {8 * 50 * 128 + 1024, 128, 50 * 128, 1};
  TensorMapSpec q =
      getParameter(bindOrFail(makeAttentionDescriptor(), problem), "q_map")
          .tensorMap;
  const auto &strides = problem.tensors["q"].strides;
  for (int64_t b = 0; b != 3; ++b)
    for (int64_t s = 0; s != 50; ++s)
      for (int64_t h = 0; h != 8; ++h) {
        int64_t inPack = h % 4, pack = h / 4;
        int64_t viaMap = inPack * q.strides[0] + s * q.strides[1] +
                         pack * q.strides[2] + b * q.strides[3];
        ASSERT_EQ(viaMap,
                  2 * (b * strides[0] + s * strides[1] + h * strides[2]));
      }
}

TEST(Bind, NoKeys) {
  BoundLaunch launch =
      bindOrFail(makeAttentionDescriptor(), makeProblem(2, 4, 0, 4, 2));
  EXPECT_FALSE(launch.skip);
  TensorMapSpec k = getParameter(launch, "k_map").tensorMap;
  EXPECT_EQ(k.baseAddress, 0x7f1000000000u);
  EXPECT_EQ(k.dims, (List{128, 1, 1, 1}));
  EXPECT_EQ(k.strides, (Strides{16, 16, 16}));
  EXPECT_EQ(getParameter(launch, "Skv").i32, 0);
  // An empty tensor has no address and its strides mean nothing.
  Problem problem = makeProblem(2, 4, 0, 4, 2);
  problem.tensors["k"].address = 0;
  problem.tensors["k"].strides = {3, 3, 3, 3};
  EXPECT_EQ(bindError(makeAttentionDescriptor(), problem), "");
}

TEST(Bind, EmptyWorkIsSkipped) {
  for (Problem problem :
       {makeProblem(0, 4, 8, 4, 2), makeProblem(2, 0, 8, 4, 2),
        makeProblem(2, 4, 8, 0, 2), makeProblem(2, 4, 8, 0, 0)}) {
    BoundLaunch launch = bindOrFail(makeAttentionDescriptor(), problem);
    EXPECT_TRUE(launch.skip);
    EXPECT_TRUE(launch.parameters.empty());
  }
}

TEST(Bind, ExtentsOfOneHaveAnyStride) {
  Problem problem = makeProblem(1, 1, 1, 4, 1);
  problem.tensors["q"].strides = {7, 3, 128, 1};
  problem.tensors["k"].strides = {-1, 0, int64_t(1) << 41, 1};
  BoundLaunch launch = bindOrFail(makeAttentionDescriptor(), problem);
  EXPECT_EQ(getParameter(launch, "q_map").tensorMap.strides,
            (Strides{256, 16, 16, 16}));
  EXPECT_EQ(getParameter(launch, "k_map").tensorMap.strides,
            (Strides{16, 16, 16}));
}

TEST(Bind, ExpandedDimensions) {
  Problem problem = makeProblem(4, 17, 65, 2, 2);
  problem.tensors["k"].strides[0] = 0;
  problem.tensors["v"].strides[0] = 0;
  problem.tensors["q"].strides[2] = 0;
  BoundLaunch launch = bindOrFail(makeAttentionDescriptor(), problem);
  EXPECT_EQ(getParameter(launch, "k_map").tensorMap.strides,
            (Strides{512, 256, 0}));
  problem.tensors["o"].strides[2] = 0;
  EXPECT_EQ(
      bindError(makeAttentionDescriptor(), problem),
      "operand 'o', dimension 2: stride 0 would write elements twice (got "
      "Hq = 2, o.stride2 = 0)");
}

TEST(Bind, HeadCounts) {
  auto error = [](int64_t hq, int64_t hkv) {
    return bindError(makeAttentionDescriptor(), makeProblem(1, 4, 8, hq, hkv));
  };
  EXPECT_EQ(error(3, 2),
            "3 query heads cannot share 2 key heads evenly (got Hq "
            "= 3, Hkv = 2)");
  EXPECT_EQ(error(33, 2), "33 query heads cannot share 2 key heads evenly (got "
                          "Hq = 33, Hkv = 2)");
  EXPECT_EQ(error(2, 3),
            "2 query heads cannot share 3 key heads evenly (got Hq "
            "= 2, Hkv = 3)");
  EXPECT_EQ(error(4, 0),
            "4 query heads cannot share 0 key heads evenly (got Hq "
            "= 4, Hkv = 0)");
}

TEST(Bind, StridesThatTmaRefuses) {
  Problem problem = makeProblem(2, 100, 200, 4, 1);
  problem.tensors["k"].strides[1] = 65;
  EXPECT_EQ(
      bindError(makeAttentionDescriptor(), problem),
      "operand 'k', dimension 1: byte stride 130 is not a multiple of 16, "
      "as TMA requires (got Skv = 200, k.stride1 = 65)");
  problem = makeProblem(2, 100, 200, 4, 1);
  problem.tensors["v"].strides[0] = int64_t(1) << 39;
  EXPECT_EQ(bindError(makeAttentionDescriptor(), problem),
            "parameter 'v_map': stride of dimension 3: expected 0 to "
            "1099511627775 (below 2^40) bytes, but got 1099511627776");
  problem = makeProblem(2, 100, 200, 4, 1);
  problem.tensors["q"].address += 8;
  EXPECT_EQ(
      bindError(makeAttentionDescriptor(), problem),
      "parameter 'q_map': base: expected an address that is a multiple of "
      "16 bytes, but got 0x7f1000000008");
}

TEST(Bind, OperandsThatDoNotMatch) {
  LaunchDescriptor d = makeAttentionDescriptor();
  auto error = [&](auto change) {
    Problem problem = makeProblem(2, 100, 200, 4, 1);
    change(problem);
    return bindError(d, problem);
  };
  EXPECT_EQ(error([](Problem &p) { p.tensors.erase("lse"); }),
            "operand 'lse': expected a tensor, but got none");
  EXPECT_EQ(error([](Problem &p) { p.tensors["mask"] = p.tensors["q"]; }),
            "operand 'mask': the kernel has no such operand");
  EXPECT_EQ(
      error([](Problem &p) { p.tensors["k"].elementType = ElementType::BF16; }),
      "operand 'k': expected f16, but got bf16");
  EXPECT_EQ(error([](Problem &p) {
              p.tensors["v"].shape = {2, 200, 128};
              p.tensors["v"].strides = {1, 1, 1};
            }),
            "operand 'v': expected rank 4, but got 3 [2, 200, 128]");
  EXPECT_EQ(error([](Problem &p) { p.tensors["v"].strides.pop_back(); }),
            "operand 'v': expected 4 strides, but got 3");
  EXPECT_EQ(
      error([](Problem &p) { p.tensors["q"].shape[1] = -5; }),
      "operand 'q', dimension 1: expected an extent of 0 or more, but got "
      "-5");
  EXPECT_EQ(error([](Problem &p) { p.tensors["v"].shape[1] = 199; }),
            "operand 'v', dimension 1: expected extent 200 (Skv), but got 199");
  EXPECT_EQ(error([](Problem &p) { p.tensors["q"].shape[3] = 64; }),
            "operand 'q', dimension 3: expected extent 128, but got 64");
  EXPECT_EQ(error([](Problem &p) { p.tensors["k"].strides[3] = 2; }),
            "operand 'k', dimension 3: expected stride 1, but got 2");
  EXPECT_EQ(
      error([](Problem &p) { p.tensors["lse"].strides[0] = 500; }),
      "operand 'lse', dimension 0: expected stride 400 (Hq * Sq), but got "
      "500");
  EXPECT_EQ(error([](Problem &p) { p.tensors["q"].address = ~uint64_t(15); }),
            "operand 'q': expected an address below 2^63");
  EXPECT_EQ(error([](Problem &p) { p.scalars.clear(); }),
            "parameter 'scale_log2': expected a scalar 'scale', but got none");
  EXPECT_EQ(error([](Problem &p) { p.scalars["scal"] = 1; }),
            "scalar 'scal': the kernel has no such scalar, it has scale");
  EXPECT_EQ(error([](Problem &p) {
              p.scalars["scale"] = std::numeric_limits<double>::quiet_NaN();
            }),
            "parameter 'scale_log2': expected a finite f32, but got nan");
  EXPECT_NE(error([](Problem &p) { p.scalars["scale"] = 1e300; }), "");
}

TEST(Bind, ManyBatchesAndHeads) {
  BoundLaunch launch = bindOrFail(makeAttentionDescriptor(64),
                                  makeProblem(65536, 1, 1, 1, 1, 64));
  EXPECT_EQ(launch.values["tasks"], 65536);
  EXPECT_EQ(launch.grid[0], 148);
  launch = bindOrFail(makeAttentionDescriptor(64),
                      makeProblem(1, 1, 1, 65536, 65536, 64));
  EXPECT_EQ(launch.values["tasks"], 65536);
  launch = bindOrFail(makeAttentionDescriptor(64),
                      makeProblem(1, 128 * 65536, 128, 1, 1, 64));
  EXPECT_EQ(launch.values["tasks"], 32768);
}

TEST(Bind, GridLimits) {
  LaunchDescriptor d = tiny();
  auto error = [&](int64_t n) { return bindError(d, tinyProblem(n)); };
  d.grid = {Expr::symbol("n"), 1, 1};
  EXPECT_EQ(error(2147483647), "");
  EXPECT_EQ(error(2147483648), "grid[0]: expected 1 to 2147483647 blocks, but "
                               "got 2147483648 (n)");
  EXPECT_EQ(error(0),
            "grid[0]: expected 1 to 2147483647 blocks, but got 0 (n)");
  d.skipIf = Expr::symbol("n") == 0;
  EXPECT_EQ(error(0), "");
  for (size_t i : {1, 2}) {
    d.grid = {1, 1, 1};
    d.grid[i] = Expr::symbol("n");
    EXPECT_EQ(error(65535), "");
    EXPECT_EQ(error(65536), "grid[" + std::to_string(i) +
                                "]: expected 1 to 65535 blocks, but got 65536 "
                                "(n)");
  }
}

TEST(Bind, ScalarRange) {
  LaunchDescriptor d = tiny();
  LaunchParameter p;
  p.name = "twice";
  p.value = 2 * Expr::symbol("n");
  d.parameters.push_back(p);
  BoundLaunch launch = bindOrFail(d, tinyProblem(1073741823));
  EXPECT_EQ(getParameter(launch, "twice").i32, 2147483646);
  EXPECT_EQ(bindError(d, tinyProblem(1073741824)),
            "parameter 'twice': expected a value from -2147483648 to "
            "2147483647, but got 2147483648 (2 * n)");
}

TEST(Bind, DerivedValuesFailWhereTheyAreUsed) {
  LaunchDescriptor d = tiny();
  d.derived = {{"inverse", 100 / Expr::symbol("n")},
               {"next", Expr::symbol("inverse") + 1}};
  EXPECT_EQ(bindError(d, tinyProblem(0)), "");
  d.grid[0] = select(Expr::symbol("n") > 0, Expr::symbol("next"), 1);
  EXPECT_EQ(bindOrFail(d, tinyProblem(50)).grid[0], 3);
  EXPECT_EQ(bindError(d, tinyProblem(0)), "");
  d.grid[0] = Expr::symbol("next");
  EXPECT_EQ(bindError(d, tinyProblem(0)),
            "grid[0]: 'next' has no value: 'next': 'inverse' has no value: "
            "'inverse': division by zero in '100 / n' (operands 100, 0)");
}

TEST(Bind, MessagesHoldValues) {
  LaunchDescriptor d = tiny();
  d.checks = {
      {parsed("n % 8 == 0"), "{{n}} is {n}, remainder {n % 8}, {1 / 0}"}};
  EXPECT_EQ(bindError(d, tinyProblem(16)), "");
  EXPECT_EQ(bindError(d, tinyProblem(13)),
            "{n} is 13, remainder 5, {1 / 0} (got n = 13)");
}

TEST(Bind, AddressArithmetic) {
  LaunchDescriptor d = tiny();
  LaunchParameter p;
  p.kind = LaunchParameter::Kind::Pointer;
  p.name = "end";
  p.value = parsed("x + 2 * n * x.stride0");
  d.parameters.push_back(p);
  EXPECT_EQ(llvm::toString(d.verify()), "");
  EXPECT_EQ(getParameter(bindOrFail(d, tinyProblem(10)), "end").pointer,
            4096u + 1280u);
  d.parameters[0].value = parsed("x - 5000");
  EXPECT_EQ(bindError(d, tinyProblem(10)),
            "parameter 'end': expected an address, but got -904 (x - 5000)");
}

// As PTX lays parameters out: four maps of 128 bytes, a pointer, words.
TEST(Bind, ParameterLayout) {
  LaunchDescriptor d = makeAttentionDescriptor();
  std::vector<ParameterSlot> slots = getParameterLayout(d);
  ASSERT_EQ(slots.size(), 11u);
  const int64_t offsets[] = {0,   128, 256, 384, 512, 520,
                             524, 528, 532, 536, 540};
  for (size_t i = 0; i != 11; ++i)
    EXPECT_EQ(slots[i].offset, offsets[i]);
  std::swap(d.parameters[0], d.parameters[5]);
  slots = getParameterLayout(d);
  EXPECT_EQ(slots[0].size, 4);
  EXPECT_EQ(slots[1].offset, 128 - 64);
  EXPECT_EQ(slots[1].alignment, 64);
}

// The order that descriptors rely on: skip_if, then checks, then parameters.
TEST(Bind, ChecksComeBetweenSkipAndParameters) {
  LaunchDescriptor d = tiny();
  d.skipIf = Expr::symbol("n") == 0;
  d.checks = {{Expr::symbol("n") > 1, "too small"}};
  LaunchParameter p;
  p.name = "huge";
  p.value = Expr::symbol("n") * (int64_t(1) << 40);
  d.parameters.push_back(p);
  EXPECT_EQ(bindError(d, tinyProblem(0)), "");
  EXPECT_EQ(bindError(d, tinyProblem(1)), "too small (got n = 1)");
  EXPECT_NE(bindError(d, tinyProblem(2)).find("parameter 'huge'"),
            std::string::npos);
}
