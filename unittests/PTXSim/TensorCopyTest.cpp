// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// TMA: boxes, swizzles, edges of the tensor, byte counts and bulk groups.

#include "TestUtil.h"

#include <functional>

using namespace ptxsim;

namespace {

const char *kCopyKernel = R"(.version 8.8
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 dyn[];
.visible .entry copy(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128],
                     .param .u64 dump, .param .u32 bytes, .param .u32 extent,
                     .param .u32 offset, .param .u32 c0, .param .u32 c1,
                     .param .u32 c2)
{
 .reg .pred %p; .reg .b32 %b, %e, %o, %c<3>, %s, %i, %v; .reg .b64 %f, %t, %d;
 mov.b64 %f, from; cvta.param.u64 %f, %f; mov.b64 %t, to; cvta.param.u64 %t, %t;
 ld.param.u32 %b, [bytes]; ld.param.u32 %e, [extent]; ld.param.u32 %o, [offset]; ld.param.u64 %d, [dump];
 ld.param.u32 %c0, [c0]; ld.param.u32 %c1, [c1]; ld.param.u32 %c2, [c2];
 mov.u32 %s, dyn; add.u32 %s, %s, %o; mov.u32 %i, 0;
f: add.u32 %v, %s, %i; st.shared.u32 [%v], -1; add.u32 %i, %i, 4;
 setp.lt.u32 %p, %i, %e; @%p bra f;
 fence.proxy.async.shared::cta;
 mbarrier.init.shared.b64 [dyn], 1;
 fence.mbarrier_init.release.cluster;
 mbarrier.arrive.expect_tx.shared.b64 _, [dyn], %b;
 LOAD
w: mbarrier.try_wait.parity.shared.b64 %p, [dyn], 0; @!%p bra w;
 STORE
 cp.async.bulk.commit_group;
 cp.async.bulk.wait_group 0;
 mov.u32 %i, 0;
l: ld.shared.u32 %v, [%s]; st.global.u32 [%d], %v;
 add.u32 %s, %s, 4; add.s64 %d, %d, 4; add.u32 %i, %i, 4;
 setp.lt.u32 %p, %i, %e; @%p bra l;
 ret;
}
)";

struct Copy {
  Result result;
  std::vector<uint16_t> smem; // the box as it lies in shared memory, and gaps
  std::vector<uint16_t> out;  // the whole destination tensor
};

struct CopyCase {
  std::vector<uint64_t> dims;
  std::vector<uint32_t> box;
  std::vector<int32_t> at;
  Swizzle swizzle = Swizzle::None;
  uint32_t offset = 1024; // from the dynamic array, which is aligned to 1024
  int32_t bytesError = 0;
  std::vector<uint64_t> room = {}; // extents with padding; empty: dims
  bool nan = false;
  bool store = true;
};

uint32_t rowPitch(const CopyCase &c) {
  uint32_t span = c.swizzle == Swizzle::B128  ? 128
                  : c.swizzle == Swizzle::B64 ? 64
                  : c.swizzle == Swizzle::B32 ? 32
                                              : 0;
  return std::max(span, 2 * c.box[0]);
}

uint64_t elements(const std::vector<uint64_t> &dims) {
  uint64_t n = 1;
  for (uint64_t d : dims)
    n *= d;
  return n;
}

/// Copies a box of a tensor that counts 1, 2, 3, ... into shared memory and
/// from there to the same place of another tensor.
Copy runCopy(const CopyCase &c, AsyncMode mode,
             const std::function<void(std::string &)> &change = nullptr) {
  static const char *kAt[] = {"{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2}",
                              "{%c0, %c1, %c2, 0}", "{%c0, %c1, %c2, 0, 0}"};
  unsigned rank = unsigned(c.dims.size());
  std::string text = kCopyKernel, dim = std::to_string(rank) + "d";
  std::string at = kAt[rank - 1];
  text.replace(text.find("LOAD"), 4,
               "cp.async.bulk.tensor." + dim +
                   ".shared::cta.global.tile.mbarrier::complete_tx::bytes "
                   "[%s], [%f, " +
                   at + "], [dyn];");
  text.replace(text.find("STORE"), 5,
               !c.store ? ""
                        : "cp.async.bulk.tensor." + dim +
                              ".global.shared::cta.tile.bulk_group [%t, " + at +
                              "], [%s];");
  if (change)
    change(text);
  Copy copy;
  Diagnostic diag;
  auto module = Module::parse(text, diag);
  EXPECT_TRUE(module) << diag.str();
  if (!module)
    return copy;
  const std::vector<uint64_t> &room = c.room.empty() ? c.dims : c.room;
  uint64_t n = elements(room);
  Memory memory;
  auto *from = memory.allocate("from", 2 * n);
  auto *to = memory.allocate("to", 2 * n);
  TensorMap map;
  map.type = c.nan ? ElementType::F16 : ElementType::U16;
  map.nanFill = c.nan;
  map.dims = c.dims;
  uint64_t stride = 2;
  for (unsigned i = 0; i + 1 < rank; ++i)
    map.strides.push_back(stride *= room[i]);
  map.box = c.box;
  map.swizzle = c.swizzle;
  for (uint64_t i = 0; i < n; ++i) {
    uint16_t v = uint16_t(i + 1);
    std::memcpy(from->data + 2 * i, &v, 2);
  }
  uint32_t bytes = 2;
  for (uint32_t b : c.box)
    bytes *= b;
  uint32_t extent = bytes / (2 * c.box[0]) * rowPitch(c);
  auto *dump = memory.allocate("dump", extent);
  Launch launch;
  launch.dynamicSharedBytes = c.offset + extent;
  map.address = from->base;
  launch.params.push_back(Param::tensorMap(map));
  map.address = to->base;
  launch.params.push_back(Param::tensorMap(map));
  launch.params.push_back(Param::scalar(dump->base));
  launch.params.push_back(Param::scalar(bytes + uint32_t(c.bytesError)));
  launch.params.push_back(Param::scalar(extent));
  launch.params.push_back(Param::scalar(c.offset));
  for (unsigned i = 0; i < 3; ++i)
    launch.params.push_back(Param::scalar(i < c.at.size() ? c.at[i] : 0));
  copy.result = run(*module, launch, memory, modeOptions(mode));
  copy.smem.resize(extent / 2);
  std::memcpy(copy.smem.data(), dump->data, extent);
  copy.out.resize(n);
  std::memcpy(copy.out.data(), to->data, 2 * n);
  return copy;
}

/// The element of the tensor at these coordinates, 0 outside.
uint16_t element(const CopyCase &c, std::vector<int64_t> at) {
  uint64_t index = 0;
  for (size_t i = c.dims.size(); i-- > 0;) {
    if (at[i] < 0 || uint64_t(at[i]) >= c.dims[i])
      return 0;
    index = index * (c.room.empty() ? c.dims : c.room)[i] + uint64_t(at[i]);
  }
  return uint16_t(index + 1);
}

void expectCopy(const CopyCase &c) {
  for (AsyncMode mode :
       {AsyncMode::Eager, AsyncMode::Lazy, AsyncMode::Random}) {
    Copy copy = runCopy(c, mode);
    ASSERT_TRUE(copy.result.ok()) << copy.result.str();
    std::vector<uint16_t> want(copy.out.size(), 0);
    std::vector<uint16_t> shared(copy.smem.size(), 0xffff);
    uint32_t n = 1;
    for (uint32_t b : c.box)
      n *= b;
    for (uint32_t i = 0; i < n; ++i) {
      std::vector<int64_t> at(c.dims.size());
      uint32_t rest = i;
      for (size_t j = 0; j < c.dims.size(); ++j) {
        at[j] = (j < c.at.size() ? c.at[j] : 0) + int64_t(rest % c.box[j]);
        rest /= c.box[j];
      }
      uint16_t e = element(c, at);
      if (e && c.store)
        want[e - 1] = e;
      // The pattern is one of absolute address bits.
      uint32_t a =
          1024 + c.offset + i / c.box[0] * rowPitch(c) + 2 * (i % c.box[0]);
      uint32_t shift = a >> 7;
      uint32_t x = c.swizzle == Swizzle::B128  ? (shift & 7) * 16
                   : c.swizzle == Swizzle::B64 ? (shift & 3) * 16
                   : c.swizzle == Swizzle::B32 ? (shift & 1) * 16
                                               : 0;
      shared[((a ^ x) - 1024 - c.offset) / 2] = !e && c.nan ? 0x7ff7 : e;
    }
    EXPECT_EQ(copy.smem, shared);
    EXPECT_EQ(copy.out, want);
  }
}

TEST(TensorCopy, EveryRank) {
  expectCopy({{256}, {64}, {96}});
  expectCopy({{64, 20}, {32, 8}, {16, 5}});
  expectCopy({{16, 6, 5}, {8, 4, 3}, {8, 1, 2}});
  expectCopy({{16, 6, 5, 3}, {8, 2, 3, 2}, {0, 3, 1}});
  expectCopy({{16, 4, 3, 2, 2}, {16, 2, 3, 2, 2}, {0, 1, 0}});
}

TEST(TensorCopy, EverySwizzle) {
  expectCopy({{128, 64}, {64, 32}, {64, 7}, Swizzle::B128});
  expectCopy({{128, 64}, {32, 32}, {32, 7}, Swizzle::B64});
  expectCopy({{128, 64}, {16, 32}, {16, 7}, Swizzle::B32});
  // Boxes narrower than the span, and a second panel.
  expectCopy({{128, 64}, {16, 16}, {16, 7}, Swizzle::B128});
  expectCopy({{64, 40, 2}, {64, 16, 2}, {0, 8, 0}, Swizzle::B128});
}

TEST(TensorCopy, OutsideTheTensor) {
  expectCopy({{64, 20}, {32, 8}, {48, 16}});
  CopyCase before{{64, 20}, {32, 8}, {-8, -3}};
  before.store = false;
  expectCopy(before);
  before.nan = true;
  expectCopy(before);
  expectCopy({{64, 20}, {32, 8}, {64, 0}});
  expectCopy({{64, 20}, {32, 8}, {0, 100}, Swizzle::B64});
  expectCopy({{64, 10, 3}, {64, 8, 1}, {0, 6, 1}, Swizzle::B128});
}

// Behind a narrow row the swizzle's span is left as it was.
TEST(TensorCopy, NarrowRowsTakeTheSpan) {
  expectCopy({{64, 24}, {8, 20}, {8, 4}, Swizzle::B32});
  expectCopy({{64, 24}, {16, 12}, {8, 9}, Swizzle::B64});
  expectCopy({{64, 24}, {8, 12}, {8, 9}, Swizzle::B128});
  expectCopy({{64, 24}, {24, 8}, {8, 9}, Swizzle::B128});
}

TEST(TensorCopy, CoordinatesThatStopTheHardware) {
  auto expect = [](CopyCase c, const char *message) {
    Copy copy = runCopy(c, AsyncMode::Eager);
    ASSERT_EQ(copy.result.status, Status::Fault) << message;
    EXPECT_EQ(copy.result.faults[0].kind, "bad-coordinate");
    EXPECT_EQ(copy.result.faults[0].message, message);
  };
  expect({{64, 20}, {32, 8}, {4, 0}},
         "the first coordinate is 4, which is 8 bytes; expected a multiple of "
         "16 bytes");
  expect({{64, 20}, {32, 8}, {-1, 0}},
         "the first coordinate is -1, which is -2 bytes; expected a multiple "
         "of 16 bytes");
  expect({{64, 20}, {32, 8}, {0, -8}},
         "coordinate 1 of a store is -8; expected 0 or more");
  expect({{64, 20}, {32, 8}, {-8, 0}},
         "coordinate 0 of a store is -8; expected 0 or more");
}

// A load fills from the tensor's edge on; a store writes whole 16 bytes.
TEST(TensorCopy, StoresWriteThePaddingOfTheLast16Bytes) {
  CopyCase c{{28, 20}, {16, 8}, {16, 3}};
  c.room = {40, 20};
  c.nan = true;
  Copy copy = runCopy(c, AsyncMode::Eager);
  ASSERT_TRUE(copy.result.ok()) << copy.result.str();
  for (uint64_t i = 0; i < copy.out.size(); ++i) {
    uint64_t x = i % 40, y = i / 40;
    bool inBox = y >= 3 && y < 11 && x >= 16 && x < 32;
    EXPECT_EQ(copy.out[i], !inBox ? 0 : x < 28 ? i + 1 : 0x7ff7) << i;
  }
}

TEST(TensorCopy, ByteCountIsTheWholeBox) {
  CopyCase c{{64, 20}, {32, 8}, {48, 16}};
  c.bytesError = 16;
  Copy copy = runCopy(c, AsyncMode::Eager);
  EXPECT_EQ(copy.result.status, Status::Deadlock) << copy.result.str();
}

TEST(TensorCopy, MisalignedDestination) {
  CopyCase c{{64, 20}, {32, 8}, {0, 0}};
  c.offset = 1024 + 64;
  Copy copy = runCopy(c, AsyncMode::Eager);
  ASSERT_EQ(copy.result.status, Status::Fault);
  EXPECT_EQ(copy.result.faults[0].kind, "misaligned");
}

void drop(std::string &text, const std::string &what) {
  size_t at = text.find(what);
  ASSERT_NE(at, std::string::npos);
  text.erase(at, what.size());
}

TEST(TensorCopy, MissingWaitsAreFound) {
  CopyCase c{{64, 20}, {32, 8}, {0, 0}};
  Copy copy = runCopy(c, AsyncMode::Lazy,
                      [](std::string &t) { drop(t, "@!%p bra w;"); });
  EXPECT_TRUE(copy.result.ok()); // try_wait itself waits
  copy = runCopy(c, AsyncMode::Lazy, [](std::string &t) {
    drop(t, "w: mbarrier.try_wait.parity.shared.b64 %p, [dyn], 0; @!%p bra w;");
  });
  ASSERT_EQ(copy.result.status, Status::Fault);
  EXPECT_EQ(copy.result.faults[0].kind, "uninitialised");
  copy = runCopy(c, AsyncMode::Lazy, [](std::string &t) {
    drop(t, "cp.async.bulk.wait_group 0;");
  });
  ASSERT_EQ(copy.result.status, Status::Fault);
  EXPECT_EQ(copy.result.faults[0].kind, "early-exit");
  EXPECT_NE(copy.result.faults[0].text.find("cp.async.bulk.tensor.2d.global"),
            std::string::npos)
      << copy.result.faults[0].text;
}

TEST(TensorCopy, LoadIsInFlightAtExit) {
  CopyCase c{{64, 20}, {32, 8}, {0, 0}};
  for (AsyncMode mode : {AsyncMode::Lazy, AsyncMode::Random}) {
    Copy copy = runCopy(c, mode, [](std::string &t) {
      size_t at = t.find("w: mbarrier.try_wait");
      ASSERT_NE(at, std::string::npos);
      t.insert(at, "ret; ");
    });
    // A random engine may be done with it by then.
    if (mode == AsyncMode::Random && copy.result.ok())
      continue;
    ASSERT_EQ(copy.result.status, Status::Fault);
    EXPECT_EQ(copy.result.faults[0].kind, "early-exit");
    EXPECT_NE(copy.result.faults[0].text.find("cp.async.bulk.tensor.2d.shared"),
              std::string::npos);
  }
}

TEST(TensorCopy, ReadWaitReleasesTheSourceOnly) {
  CopyCase c{{64, 20}, {32, 8}, {0, 0}};
  Copy copy = runCopy(c, AsyncMode::Lazy, [](std::string &t) {
    size_t at = t.find("wait_group 0");
    t.replace(at, 12, "wait_group.read 0");
  });
  EXPECT_TRUE(copy.result.ok()) << copy.result.str();
}

TEST(TensorCopy, RankMustMatch) {
  CopyCase c{{64, 20}, {32, 8}, {0, 0}};
  Copy copy = runCopy(c, AsyncMode::Eager, [](std::string &t) {
    size_t at = t.find("tensor.2d.shared");
    t.replace(at, 16, "tensor.3d.shared");
    at = t.find("[%f, {%c0, %c1}]");
    t.replace(at, 16, "[%f, {%c0, %c1, %c2}]");
  });
  ASSERT_EQ(copy.result.status, Status::Fault);
  EXPECT_EQ(copy.result.faults[0].kind, "bad-tensor-map");
}

TEST(TensorCopy, RulesOfTheMap) {
  TensorMap good;
  good.dims = {64, 10};
  good.strides = {128};
  good.box = {64, 8};
  good.swizzle = Swizzle::B128;
  EXPECT_EQ(good.check(), "");
  auto expect = [&](const char *message,
                    const std::function<void(TensorMap &)> &change) {
    TensorMap map = good;
    change(map);
    EXPECT_NE(map.check().find(message), std::string::npos)
        << message << ": " << map.check();
  };
  expect("multiple of 16", [](TensorMap &m) { m.address = 8; });
  expect("extent 0", [](TensorMap &m) { m.dims[1] = 0; });
  expect("box size 257", [](TensorMap &m) { m.box[1] = 257; });
  expect("stride of 120", [](TensorMap &m) { m.strides[0] = 120; });
  expect("below 2^40", [](TensorMap &m) { m.strides[0] = uint64_t(1) << 40; });
  expect("swizzle span", [](TensorMap &m) { m.box[0] = 128; });
  expect("not a multiple of 16", [](TensorMap &m) { m.box[0] = 4; });
  expect("rank of 1 to 5", [](TensorMap &m) {
    m.dims.resize(6, 1);
    m.strides.resize(5, 16);
    m.box.resize(6, 1);
  });
}

} // namespace
