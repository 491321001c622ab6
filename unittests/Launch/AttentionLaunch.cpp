// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionLaunch.h"
#include "gtest/gtest.h"

using namespace fa4;
using namespace fa4::test;

static Expr sym(llvm::StringRef name) { return Expr::symbol(name); }

static LaunchSymbol dimSymbol(const char *name, const char *operand,
                              int64_t index) {
  return {name, operand, LaunchSymbol::Source::Dim, index};
}

/// The byte stride of a dimension of `extent` elements; TMA wants a legal one
/// even where the extent is 1 and the caller's stride means nothing.
static Expr byteStride(const Expr &extent, const Expr &elements) {
  return select(extent > 1, 2 * elements, 16);
}

static LaunchParameter makeMap(const char *name, Expr base,
                               std::vector<Expr> dims,
                               std::vector<Expr> strides,
                               std::vector<Expr> box) {
  LaunchParameter parameter;
  parameter.kind = LaunchParameter::Kind::TensorMap;
  parameter.name = name;
  parameter.tensorMap.base = std::move(base);
  parameter.tensorMap.dims = std::move(dims);
  parameter.tensorMap.strides = std::move(strides);
  parameter.tensorMap.box = std::move(box);
  parameter.tensorMap.swizzle = Swizzle::B128;
  parameter.tensorMap.l2Promotion = L2Promotion::B128;
  return parameter;
}

static LaunchParameter makeScalar(const char *name) {
  LaunchParameter parameter;
  parameter.kind = LaunchParameter::Kind::I32;
  parameter.name = name;
  parameter.value = sym(name);
  return parameter;
}

/// Rows of a tile are 128 / pack positions of pack heads each.
static LaunchParameter makeQueryMap(const char *name, const std::string &tensor,
                                    int64_t headDim) {
  Expr pack = sym("pack");
  Expr position = sym(tensor + ".stride1"), head = sym(tensor + ".stride2");
  return makeMap(name, sym(tensor),
                 {headDim, pack, sym("Sq"), sym("Hq") / pack, sym("B")},
                 {byteStride(pack, head), byteStride(sym("Sq"), position),
                  byteStride(sym("Hq") / pack, pack * head),
                  byteStride(sym("B"), sym(tensor + ".stride0"))},
                 {64, pack, 128 / pack, 1, 1});
}

/// Without keys the map still has to be legal, and to stay inside q: one row of
/// it, whose values every mask hides.
static LaunchParameter makeKeyMap(const char *name, const std::string &tensor,
                                  int64_t headDim) {
  Expr heads = select(sym("Skv") > 0, sym("Hkv"), 1);
  Expr batches = select(sym("Skv") > 0, sym("B"), 1);
  return makeMap(name, select(sym("Skv") > 0, sym(tensor), sym("q")),
                 {headDim, max(sym("Skv"), 1), heads, batches},
                 {byteStride(sym("Skv"), sym(tensor + ".stride1")),
                  byteStride(heads, sym(tensor + ".stride2")),
                  byteStride(batches, sym(tensor + ".stride0"))},
                 {64, 128, 1, 1});
}

static void addStrideChecks(LaunchDescriptor &d, const std::string &tensor,
                            const char *sequence, const char *heads) {
  const char *extents[] = {"B", sequence, heads};
  const bool isKey = tensor == "k" || tensor == "v";
  for (int i = 0; i != 3; ++i) {
    std::string stride = tensor + ".stride" + std::to_string(i);
    Expr unused = sym(extents[i]) <= 1;
    if (isKey && i != 1)
      unused = unused || sym("Skv") == 0;
    d.checks.push_back({unused || 2 * sym(stride) % 16 == 0,
                        "operand '" + tensor + "', dimension " +
                            std::to_string(i) + ": byte stride {2 * " + stride +
                            "} is not a multiple of 16, as TMA requires"});
    if (tensor == "o")
      d.checks.push_back({unused || sym(stride) != 0,
                          "operand 'o', dimension " + std::to_string(i) +
                              ": stride 0 would write elements twice"});
  }
}

LaunchDescriptor fa4::test::makeAttentionDescriptor(int64_t headDim) {
  LaunchDescriptor d;
  d.kernel = "attention_f16_d" + std::to_string(headDim);
  d.chip = "sm_100a";
  d.ptx = "8.8";
  d.versions = {"0.1.0", "22.1.8", "13.0.88"};

  for (const char *name : {"q", "k", "v", "o"}) {
    bool isKey = name[0] == 'k' || name[0] == 'v';
    LaunchTensor tensor;
    tensor.name = name;
    tensor.shape = {sym("B"), sym(isKey ? "Skv" : "Sq"),
                    sym(isKey ? "Hkv" : "Hq"), headDim};
    for (int i = 0; i != 3; ++i)
      tensor.strides.push_back(
          sym(tensor.name + ".stride" + std::to_string(i)));
    tensor.strides.push_back(1);
    d.tensors.push_back(std::move(tensor));
  }
  LaunchTensor lse;
  lse.name = "lse";
  lse.elementType = ElementType::F32;
  lse.shape = {sym("B"), sym("Hq"), sym("Sq")};
  lse.strides = {sym("Hq") * sym("Sq"), sym("Sq"), 1};
  d.tensors.push_back(std::move(lse));

  d.symbols = {dimSymbol("B", "q", 0), dimSymbol("Sq", "q", 1),
               dimSymbol("Skv", "k", 1), dimSymbol("Hq", "q", 2),
               dimSymbol("Hkv", "k", 2)};
  for (const char *tensor : {"q", "k", "v", "o"})
    for (int i = 0; i != 3; ++i)
      d.symbols.push_back({std::string(tensor) + ".stride" + std::to_string(i),
                           tensor, LaunchSymbol::Source::Stride, i});

  d.derived = {{"group", sym("Hq") / sym("Hkv")},
               {"pack", select(128 % sym("group") == 0, sym("group"), 1)},
               {"tasks", ceilDiv(sym("Sq") * sym("pack"), 256) *
                             (sym("Hq") / sym("pack")) * sym("B")}};

  d.checks = {{sym("Hq") == 0 || sym("Hkv") > 0 && sym("Hq") % sym("Hkv") == 0,
               "{Hq} query heads cannot share {Hkv} key heads evenly"}};
  addStrideChecks(d, "q", "Sq", "Hq");
  addStrideChecks(d, "k", "Skv", "Hkv");
  addStrideChecks(d, "v", "Skv", "Hkv");
  addStrideChecks(d, "o", "Sq", "Hq");
  d.skipIf = sym("B") == 0 || sym("Sq") == 0 || sym("Hq") == 0;

  d.parameters = {
      makeQueryMap("q_map", "q", headDim), makeKeyMap("k_map", "k", headDim),
      makeKeyMap("v_map", "v", headDim), makeQueryMap("o_map", "o", headDim)};
  LaunchParameter pointer;
  pointer.kind = LaunchParameter::Kind::Pointer;
  pointer.name = "lse";
  pointer.value = sym("lse");
  d.parameters.push_back(pointer);
  for (const char *name : {"Sq", "Skv", "Hq", "pack", "tasks"})
    d.parameters.push_back(makeScalar(name));
  LaunchParameter scale;
  scale.kind = LaunchParameter::Kind::F32;
  scale.name = "scale_log2";
  scale.f32 = {"scale", 1.4426950408889634};
  d.parameters.push_back(scale);

  d.grid = {min(148, sym("tasks")), 1, 1};
  d.block = {512, 1, 1};
  d.dynamicSharedBytes = 231424;
  d.roles = {{"softmax0", 4, 200}, {"softmax1", 4, 200}, {"correction", 4, 64},
             {"mma", 1, 48},       {"load", 1, 48},      {"store", 1, 48},
             {"idle", 1, 48}};
  return d;
}

static TensorArgument makeArgument(std::initializer_list<int64_t> shape,
                                   uint64_t address,
                                   ElementType type = ElementType::F16) {
  TensorArgument argument;
  argument.elementType = type;
  argument.shape.assign(shape.begin(), shape.end());
  argument.strides.assign(shape.size(), 1);
  for (size_t i = shape.size() - 1; i != 0; --i)
    argument.strides[i - 1] = argument.strides[i] * argument.shape[i];
  argument.address = address;
  return argument;
}

Problem fa4::test::makeProblem(int64_t b, int64_t sq, int64_t skv, int64_t hq,
                               int64_t hkv, int64_t headDim) {
  Problem problem;
  problem.tensors["q"] = makeArgument({b, sq, hq, headDim}, 0x7f1000000000);
  problem.tensors["k"] = makeArgument({b, skv, hkv, headDim}, 0x7f2000000000);
  problem.tensors["v"] = makeArgument({b, skv, hkv, headDim}, 0x7f3000000000);
  problem.tensors["o"] = makeArgument({b, sq, hq, headDim}, 0x7f4000000000);
  problem.tensors["lse"] =
      makeArgument({b, hq, sq}, 0x7f5000000000, ElementType::F32);
  problem.scalars["scale"] = 0.125;
  return problem;
}

BoundParameter fa4::test::getParameter(const BoundLaunch &launch,
                                       llvm::StringRef name) {
  for (const BoundParameter &parameter : launch.parameters)
    if (parameter.name == name)
      return parameter;
  ADD_FAILURE() << "no parameter " << name.str();
  return BoundParameter();
}

BoundLaunch fa4::test::bindOrFail(const LaunchDescriptor &descriptor,
                                  const Problem &problem) {
  llvm::Expected<BoundLaunch> launch = bind(descriptor, problem);
  if (launch)
    return std::move(*launch);
  ADD_FAILURE() << llvm::toString(launch.takeError());
  return BoundLaunch();
}

std::string fa4::test::bindError(const LaunchDescriptor &descriptor,
                                 const Problem &problem) {
  llvm::Expected<BoundLaunch> launch = bind(descriptor, problem);
  return launch ? "" : llvm::toString(launch.takeError());
}
