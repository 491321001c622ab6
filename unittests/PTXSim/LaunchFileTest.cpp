// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// JSON, expressions, .npy files, and launch descriptors.

#include "TestUtil.h"

#include "Expr.h"
#include "Json.h"
#include "ptxsim/LaunchFile.h"
#include "ptxsim/Npy.h"

#include <cstdio>

using namespace ptxsim;

namespace {

std::string valueOf(const std::string &text) {
  int64_t v = 0;
  std::string error;
  bool good = evaluate(
      text,
      [](const std::string &name, int64_t &out) {
        out = name == "x" ? 7 : name == "q.stride0" ? -3 : 0;
        return name == "x" || name == "q.stride0";
      },
      v, error);
  return good ? std::to_string(v) : "error";
}

TEST(LaunchFileTest, Expressions) {
  EXPECT_EQ(valueOf("1 + 2 * 3 - -4"), "11");
  EXPECT_EQ(valueOf("10 - 3 - 2"), "5");
  EXPECT_EQ(valueOf("-7 / 2"), "-4");
  EXPECT_EQ(valueOf("-7 % 2"), "1");
  EXPECT_EQ(valueOf("7 % -2"), "-1");
  EXPECT_EQ(valueOf("ceildiv(-7, 2)"), "-3");
  EXPECT_EQ(valueOf("ceildiv(x, 2)"), "4");
  EXPECT_EQ(valueOf("min(x, q.stride0) + max(1, 2)"), "-1");
  EXPECT_EQ(valueOf("select(x > 7, 1 / 0, 5)"), "5");
  EXPECT_EQ(valueOf("x >= 7 && x != 8 || 1 / 0"), "1");
  EXPECT_EQ(valueOf("0 && 1 / 0"), "0");
  EXPECT_EQ(valueOf("log2floor(1023)"), "9");
  EXPECT_EQ(valueOf("(2 < 3) + (3 <= 3) * 2"), "3");
  for (const char *bad :
       {"1 / 0", "1 +", "y", "1 < 2 < 3", "9223372036854775807 + 1",
        "log2floor(0)", "f(1)", "(1", "1)", "", "min(1)", "1 2"})
    EXPECT_EQ(valueOf(bad), "error") << bad;
  EXPECT_EQ(valueOf(std::string(500, '(') + "1" + std::string(500, ')')),
            "error");
}

TEST(LaunchFileTest, Json) {
  Json v;
  std::string error;
  ASSERT_TRUE(parseJson(R"({"a": [1, -2.5e1, "x\n\u00e9", true, null], "b":
  {"c": 9223372036854775807}})",
                        v, error))
      << error;
  EXPECT_EQ(v.find("a")->array[1].real, -25);
  EXPECT_EQ(v.find("a")->array[2].string, "x\n\xc3\xa9");
  EXPECT_EQ(v.find("b")->find("c")->integer, INT64_MAX);
  for (const char *bad :
       {"", "{", "[1,]", "{\"a\" 1}", "{\"a\":1,\"a\":2}", "01x", "\"abc",
        "[1] 2", "9223372036854775808", "\"\\u12\"", "-", "tru"})
    EXPECT_FALSE(parseJson(bad, v, error)) << bad;
  EXPECT_FALSE(parseJson(std::string(100000, '['), v, error));
}

TEST(LaunchFileTest, NpyRoundTrip) {
  std::string path = testing::TempDir() + "ptxsim_round_trip.npy", error;
  NpyArray a{"<f2", {2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, b;
  ASSERT_TRUE(writeNpy(path, a, error)) << error;
  ASSERT_TRUE(readNpy(path, b, error)) << error;
  EXPECT_EQ(a.descr, b.descr);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.data, b.data);
  FILE *f = std::fopen(path.c_str(), "r+b");
  ASSERT_TRUE(f);
  std::fputc('X', f);
  std::fclose(f);
  EXPECT_FALSE(readNpy(path, b, error));
  std::remove(path.c_str());
  EXPECT_FALSE(readNpy(path, b, error));
}

const char *kDescriptor = R"json({
  "schema": 1, "kernel": "k", "chip": "sm_100a", "ptx": "8.8",
  "tensors": [{"name": "q", "type": "f16", "shape": ["S", 64],
               "strides": ["q.stride0", 1]}],
  "symbols": [{"name": "S", "operand": "q", "dim": 0},
              {"name": "q.stride0", "operand": "q", "stride": 0}],
  "derived": [{"name": "tiles", "value": "ceildiv(S, 128)"},
              {"name": "unused", "value": "1 / (S - S)"}],
  "checks": [{"require": "2 * q.stride0 % 16 == 0",
              "message": "stride {2 * q.stride0} breaks a {{rule}}"}],
  "skip_if": "S == 0",
  "parameters": [
    {"name": "map", "kind": "tensor_map", "base": "q", "type": "f16",
     "dims": [64, "S"], "strides": ["2 * q.stride0"], "box": [64, 128],
     "swizzle": "128B", "interleave": "none", "l2_promotion": "128B",
     "oob_fill": "zero"},
    {"name": "q", "kind": "pointer", "value": "q + 16"},
    {"name": "S", "kind": "i32", "value": "S"},
    {"name": "scale", "kind": "f32", "input": "scale", "factor": 2.0}],
  "grid": ["tiles", 1, 1], "block": [128, 1, 1], "dynamic_shared_bytes": 2048,
  "roles": []})json";

TEST(LaunchFileTest, BindsADescriptor) {
  Call call;
  call.tensors = {{"q", ElementType::F16, {300, 64}, {72, 1}, 0x123400000}};
  call.scalars["scale"] = 0.25;
  Launch launch;
  bool skip = true;
  std::string error;
  ASSERT_TRUE(bindDescriptor(kDescriptor, call, launch, skip, error)) << error;
  EXPECT_FALSE(skip);
  EXPECT_EQ(launch.kernel, "k");
  EXPECT_EQ(launch.grid[0], 3u);
  EXPECT_EQ(launch.dynamicSharedBytes, 2048u);
  ASSERT_EQ(launch.params.size(), 4u);
  EXPECT_EQ(launch.params[0].map.dims[1], 300u);
  EXPECT_EQ(launch.params[0].map.strides[0], 144u);
  EXPECT_EQ(launch.params[0].map.address, 0x123400000u);
  EXPECT_EQ(launch.params[1].bytes, Param::scalar<uint64_t>(0x123400010).bytes);
  EXPECT_EQ(launch.params[2].bytes, Param::scalar<int32_t>(300).bytes);
  EXPECT_EQ(launch.params[3].bytes, Param::scalar(0.5f).bytes);
}

std::string bindError(const Call &call) {
  Launch launch;
  bool skip;
  std::string error;
  return bindDescriptor(kDescriptor, call, launch, skip, error)
             ? (skip ? "skip" : "ok")
             : error;
}

TEST(LaunchFileTest, RefusesWhatDoesNotFit) {
  Call call;
  call.tensors = {{"q", ElementType::F16, {300, 64}, {65, 1}, 0x1000}};
  call.scalars["scale"] = 1;
  EXPECT_EQ(bindError(call), "stride 130 breaks a {rule}");
  call.tensors[0].strides[0] = 64;
  EXPECT_EQ(bindError(call), "ok");
  call.tensors[0].shape[0] = 0;
  EXPECT_EQ(bindError(call), "skip");
  call.tensors[0].shape = {300, 32};
  EXPECT_EQ(bindError(call), "tensor 'q', dimension 1: extent 32, expected 64");
  call.tensors[0].shape = {300, 64};
  call.tensors[0].strides[1] = 2;
  EXPECT_EQ(bindError(call), "tensor 'q', dimension 1: stride 2, expected 1");
  call.tensors[0].strides[1] = 1;
  call.tensors[0].type = ElementType::BF16;
  EXPECT_EQ(bindError(call), "tensor 'q' has element type bf16, expected f16");
  call.tensors[0].type = ElementType::F16;
  call.scalars["scal"] = 1;
  EXPECT_EQ(bindError(call), "the kernel has no scalar 'scal', it has scale");
  call.scalars.clear();
  EXPECT_EQ(bindError(call), "scalar 'scale' is not given");
  call.tensors.clear();
  EXPECT_EQ(bindError(call), "tensor 'q' is not given");
}

// A header that claims more than the file has, or any machine.
TEST(LaunchFileTest, NpyShorterThanItSays) {
  std::string path = testing::TempDir() + "ptxsim_short.npy", error;
  for (const char *shape :
       {"(3,), ", "(1, 274877906944), ", "(18446744073709551615, 2), "}) {
    std::string header =
        std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") +
        shape + "}";
    std::ofstream(path, std::ios::binary)
        << std::string("\x93NUMPY\x01\x00", 8) << char(header.size()) << '\0'
        << header << "12345678";
    NpyArray array;
    EXPECT_FALSE(readNpy(path, array, error)) << shape;
  }
  std::remove(path.c_str());
}

TEST(LaunchFileTest, RefusesLaunchFiles) {
  std::string dir = testing::TempDir() + "ptxsim_refuse_", error;
  ASSERT_TRUE(
      writeNpy(dir + "a.npy", {"<f2", {4}, std::vector<uint8_t>(8)}, error));
  std::ofstream(dir + "d.json") << R"({"kernel": "k", "parameters": [
    {"name": "x", "kind": "pointer", "value": "x"}],
    "grid": [1, 1, 1], "block": [1, 1, 1]})";
  auto load = [&](const std::string &fields, const std::string &more = "") {
    std::ofstream(dir + "l.json")
        << "{\"descriptor\": \"" << dir << "d.json\"" << more
        << ", \"tensors\": {\"x\": " << fields << "}}";
    Memory memory;
    LaunchFile file;
    error.clear();
    return loadLaunchFile(dir + "l.json", memory, file, error);
  };
  std::string in = "{\"in\": \"" + dir + "a.npy\"";
  std::string elements = "{\"elements\": \"" + dir + "a.npy\"";
  ASSERT_TRUE(load(in + "}")) << error;
  ASSERT_TRUE(load(in + ", \"shape\": [2], \"offset\": 2}")) << error;
  ASSERT_TRUE(load(elements + R"(, "type": "f16", "shape": [2, 2],
                              "strides": [1000000, 1]})"))
      << error;
  ASSERT_TRUE(load(R"({"shape": [4], "type": "f16", "fill": -1,
                       "address": "0x700000000"})"))
      << error;
  struct Case {
    std::string fields, expected;
  } cases[] = {
      {"5", "expected an object for tensor 'x'"},
      {R"({"in": 5})", "expected a string as 'in'"},
      {R"({"in": ""})", "expected a string as 'in'"},
      {R"({"in": "a\u0000b"})", "expected a string as 'in'"},
      {R"({"elements": 5, "shape": [1]})", "expected a string as 'elements'"},
      {in + R"(, "type": 5})", "expected a string as 'type'"},
      {in + R"(, "out": 5})", "expected a string as 'out'"},
      {in + R"(, "out": "no/such/folder/o.npy"})", "cannot be written"},
      {in + R"(, "shape": 5})", "expected a list of integers as 'shape'"},
      {in + R"(, "shape": [1.5]})", "expected a list of integers as 'shape'"},
      {in + R"(, "strides": 5})", "expected a list of integers as 'strides'"},
      {in + R"(, "strides": [1, 2]})", "has 2 strides for 1 dimensions"},
      {in + R"(, "strides": [-1]})", "a negative extent or stride"},
      {in + R"(, "shape": [-1]})", "a negative extent or stride"},
      {in + R"(, "offset": "x"})", "expected an integer as 'offset'"},
      {in + R"(, "offset": 1.5})", "expected an integer as 'offset'"},
      {in + R"(, "offset": -1})", "a negative offset"},
      {in + R"(, "offset": 1})", "reaches past the end of its file"},
      {in + R"(, "type": "f32"})", "reaches past the end of its file"},
      // Each of these wraps around in 64 bits.
      {in + R"(, "shape": [4611686018427387904, 4]})", "more than 2^63 bytes"},
      {in + R"(, "shape": [2, 2], "strides": [9223372036854775807, 3]})",
       "more than 2^63 bytes"},
      {elements + R"(, "type": "f64", "shape": [2305843009213693953]})",
       "more than 2^63 bytes"},
      {elements + R"(, "type": "f16", "shape": [4], "offset": -3})",
       "a negative offset"},
      {in + R"(, "address": "zzz"})",
       "expected an integer, or one in a string"},
      {in + R"(, "address": "0x12zz"})",
       "expected an integer, or one in a string"},
      {in + R"(, "address": -4})", "expected an integer, or one in a string"},
      {R"({"shape": [4], "type": "f16", "fill": 1.5})",
       "expected an integer as 'fill'"},
      {R"({"shape": [4], "type": "f16", "fill": 65536})",
       "expected 16 bits as 'fill'"},
  };
  for (const Case &c : cases) {
    EXPECT_FALSE(load(c.fields)) << c.fields;
    EXPECT_NE(error.find(c.expected), std::string::npos)
        << c.fields << " gave " << error;
  }
  EXPECT_FALSE(load(in + "}", ", \"scalars\": 5"));
  EXPECT_NE(error.find("expected an object 'scalars'"), std::string::npos);
  for (const char *name : {"a.npy", "d.json", "l.json"})
    std::remove((dir + name).c_str());
}

// The same score tile as a launch file with .npy buffers.
TEST(LaunchFileTest, RunsFromFiles) {
  std::string dir = testing::TempDir() + "ptxsim_launch_", error;
  NpyArray ones{"<f2", {128, 64}, std::vector<uint8_t>(128 * 128)};
  for (size_t i = 0; i < ones.data.size(); i += 2)
    ones.data[i + 1] = 0x3c;
  ASSERT_TRUE(writeNpy(dir + "q.npy", ones, error));
  auto write = [&](const std::string &name, const std::string &text) {
    std::ofstream(dir + name) << text;
  };
  std::string map = R"("kind": "tensor_map", "type": "f16", "dims": [64, 128],
    "strides": [128], "box": [64, 128], "swizzle": "128B")";
  write("d.json", R"({"kernel": "score_tile", "parameters": [
    {"name": "q", "base": "q", )" +
                      map + R"(},
    {"name": "k", "base": "k", )" +
                      map + R"(},
    {"name": "s", "kind": "pointer", "value": "s"}],
    "grid": [1, 1, 1], "block": [128, 1, 1], "dynamic_shared_bytes": 32800})");
  write("l.json", "{\"descriptor\": \"" + dir + "d.json\", \"tensors\": {" +
                      "\"q\": {\"in\": \"" + dir +
                      "q.npy\"}, \"k\": {\"in\": \"" + dir +
                      "q.npy\", \"address\": \"0x700000000\"}, \"s\": " +
                      "{\"shape\": [128, 128], \"type\": \"f32\", \"out\": \"" +
                      dir + "s.npy\"}}}");
  Memory memory;
  LaunchFile file;
  ASSERT_TRUE(loadLaunchFile(dir + "l.json", memory, file, error)) << error;
  Diagnostic diag;
  auto module = Module::parse(readData("score_tile.ptx"), diag);
  ASSERT_TRUE(module);
  Result r = run(*module, file.launch, memory, Options());
  ASSERT_TRUE(r.ok()) << r.str();
  ASSERT_TRUE(writeOutputs(file, memory, error)) << error;
  NpyArray s;
  ASSERT_TRUE(readNpy(dir + "s.npy", s, error)) << error;
  EXPECT_EQ(s.descr, "<f4");
  EXPECT_EQ(s.shape, (std::vector<uint64_t>{128, 128}));
  uint32_t u;
  std::memcpy(&u, &s.data[4 * (128 * 5 + 31)], 4);
  EXPECT_EQ(asF32(u), 64);
  // The kernel writes 32 columns; the rest keeps the NaN it started with.
  std::memcpy(&u, &s.data[4 * (128 * 5 + 32)], 4);
  EXPECT_EQ(u, 0x7fffffffu);
  for (const char *name : {"q.npy", "d.json", "l.json", "s.npy"})
    std::remove((dir + name).c_str());
}

} // namespace
