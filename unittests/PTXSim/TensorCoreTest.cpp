// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// tcgen05.mma against layouts derived the other way round: the simulator goes
// from descriptor to address, these tests place each element by its index.

#include "TestUtil.h"

#include "FloatFormat.h"
#include "MatrixOperand.h"

#include <functional>

using namespace ptxsim;

namespace {

constexpr uint32_t kBase = 1024; // where the dynamic array lies
constexpr unsigned kK = 16;

struct Layout {
  bool kMajor;
  Swizzle swizzle;
  uint64_t lbo, sbo; // bytes
  uint64_t code;     // descriptor bits 61-63
  /// Byte offset of element (mn, k) in the tile.
  std::function<unsigned(unsigned mn, unsigned k)> place;

  uint64_t descriptor(uint32_t offset) const {
    return code << 61 | uint64_t(1) << 46 | (sbo >> 4) << 32 |
           (lbo >> 4) << 16 | (kBase + offset) >> 4;
  }
};

// Rows of `span` bytes; chunk c of row r is at c ^ (bits of the row).
unsigned swizzledRow(unsigned span, unsigned row, unsigned byte) {
  unsigned x = span == 128 ? row & 7 : span == 64 ? row >> 1 & 3 : row >> 2 & 1;
  return row * span + ((byte / 16 ^ x) * 16) + byte % 16;
}

Layout kMajor(Swizzle s) {
  unsigned span = s == Swizzle::B128 ? 128 : s == Swizzle::B64 ? 64 : 32;
  uint64_t code = s == Swizzle::B128 ? 2 : s == Swizzle::B64 ? 4 : 6;
  return {true,
          s,
          16,
          8 * span,
          code,
          [=](unsigned mn, unsigned k) { return swizzledRow(span, mn, 2 * k); }};
}

Layout mnMajor(Swizzle s, unsigned rowsInPanel = kK) {
  unsigned span = s == Swizzle::B128 ? 128 : s == Swizzle::B64 ? 64 : 32;
  uint64_t code = s == Swizzle::B128 ? 2 : s == Swizzle::B64 ? 4 : 6;
  unsigned panel = rowsInPanel * span, width = span / 2;
  return {false, s, panel, 8 * span, code, [=](unsigned mn, unsigned k) {
            return mn / width * panel + swizzledRow(span, k, mn % width * 2);
          }};
}

// Without swizzle: core matrices of 8 rows of 16 bytes.
Layout plainKMajor(uint64_t lbo, uint64_t sbo) {
  return {true, Swizzle::None, lbo, sbo, 0, [=](unsigned mn, unsigned k) {
            return unsigned(mn / 8 * sbo + k / 8 * lbo + mn % 8 * 16 +
                            k % 8 * 2);
          }};
}

struct Problem {
  unsigned m = 128, n = 64;
  Layout a = kMajor(Swizzle::B128), b = kMajor(Swizzle::B128);
  bool bf16 = false, negA = false, negB = false, aInTmem = false,
       accumulate = false, f32 = true;
  uint32_t idesc() const {
    return uint32_t(f32) << 4 | uint32_t(bf16) << 7 | uint32_t(bf16) << 10 |
           uint32_t(negA) << 13 | uint32_t(negB) << 14 |
           uint32_t(!a.kMajor && !aInTmem) << 15 | uint32_t(!b.kMajor) << 16 |
           n / 8 << 17 | m / 16 << 24;
  }
};

struct Outcome {
  Result result;
  double error = 0;
};

Outcome solve(const Problem &p, AsyncMode mode = AsyncMode::Lazy,
              std::function<void(uint64_t &a, uint64_t &b, uint32_t &id)>
                  change = nullptr) {
  Diagnostic diag;
  auto module = Module::parse(readData("one_mma.ptx"), diag);
  EXPECT_TRUE(module) << diag.str();
  const unsigned half = 65536, bytes = 2 * half;
  Memory memory;
  auto *image = memory.allocate("image", bytes);
  auto *words = memory.allocate("a", 128 * 32);
  auto *old = memory.allocate("d", 128 * 1024);
  auto *out = memory.allocate("out", 128 * 1024);
  uint32_t seed = 99;
  auto next = [&] {
    seed = seed * 1664525u + 1013904223u;
    return float(int(seed >> 26) - 32) / 4;
  };
  auto code = [&](float f) { return p.bf16 ? encodeBF16(f) : encodeF16(f); };
  std::vector<float> a(p.m * kK), b(p.n * kK), d(p.m * p.n, 0.0f);
  auto lane = [&](unsigned m) { return p.m == 128 ? m : m % 16 + m / 16 * 32; };
  for (unsigned i = 0; i < p.m; ++i)
    for (unsigned k = 0; k < kK; ++k) {
      uint16_t u = code(a[i * kK + k] = next());
      std::memcpy(image->data + p.a.place(i, k), &u, 2);
      std::memcpy(words->data + lane(i) * 32 + 2 * k, &u, 2);
    }
  for (unsigned i = 0; i < p.n; ++i)
    for (unsigned k = 0; k < kK; ++k) {
      uint16_t u = code(b[i * kK + k] = next());
      std::memcpy(image->data + half + p.b.place(i, k), &u, 2);
    }
  for (unsigned i = 0; i < p.m; ++i)
    for (unsigned j = 0; p.accumulate && j < p.n; ++j) {
      d[i * p.n + j] = next();
      std::memcpy(old->data + lane(i) * 1024 + 4 * j, &d[i * p.n + j], 4);
    }
  uint64_t aDesc = p.a.descriptor(0), bDesc = p.b.descriptor(half);
  uint32_t idesc = p.idesc();
  if (change)
    change(aDesc, bDesc, idesc);
  Launch launch;
  launch.block = {128, 1, 1};
  launch.dynamicSharedBytes = bytes + 32;
  launch.params = {Param::scalar(image->base),
                   Param::scalar(bytes),
                   Param::scalar(aDesc),
                   Param::scalar(bDesc),
                   Param::scalar(idesc),
                   Param::scalar(p.n),
                   Param::scalar(uint32_t(p.accumulate || p.m == 64)),
                   Param::scalar(p.aInTmem ? words->base : uint64_t(0)),
                   Param::scalar(old->base),
                   Param::scalar(out->base)};
  Outcome o;
  o.result = run(*module, launch, memory, modeOptions(mode));
  float sign = p.negA != p.negB ? -1.0f : 1.0f;
  for (unsigned i = 0; i < p.m; ++i)
    for (unsigned j = 0; j < p.n; ++j) {
      float want = d[i * p.n + j];
      for (unsigned k = 0; k < kK; ++k)
        want += sign * a[i * kK + k] * b[j * kK + k];
      if (!p.f32)
        want = decodeF16(encodeF16(want));
      uint32_t u;
      std::memcpy(&u, out->data + lane(i) * 1024 + 4 * j, 4);
      float got = p.f32 ? bitsToFloat(u) : decodeF16(uint16_t(u));
      o.error = std::max<double>(o.error, std::fabs(got - want));
    }
  return o;
}

void expectExact(const Problem &p, const char *what) {
  for (AsyncMode mode :
       {AsyncMode::Eager, AsyncMode::Lazy, AsyncMode::Random}) {
    Outcome o = solve(p, mode);
    EXPECT_TRUE(o.result.ok()) << what << ": " << o.result.str();
    EXPECT_EQ(o.error, 0) << what;
  }
}

TEST(TensorCore, EverySwizzleKMajor) {
  for (Swizzle s : {Swizzle::B128, Swizzle::B64, Swizzle::B32}) {
    Problem p;
    p.a = p.b = kMajor(s);
    expectExact(p, "K-major");
  }
}

TEST(TensorCore, EverySwizzleMnMajor) {
  for (Swizzle s : {Swizzle::B128, Swizzle::B64, Swizzle::B32}) {
    Problem p;
    p.n = 256;
    p.b = mnMajor(s);
    expectExact(p, "B MN-major");
    p.a = mnMajor(s, 128); // panels farther apart
    expectExact(p, "both MN-major");
  }
}

TEST(TensorCore, WithoutSwizzle) {
  Problem p;
  p.a = plainKMajor(128, 256);
  p.b = plainKMajor(2048, 128);
  expectExact(p, "no swizzle");
}

TEST(TensorCore, OperandAFromTmem) {
  Problem p;
  p.aInTmem = true;
  p.b = mnMajor(Swizzle::B128);
  p.n = 128;
  expectExact(p, "TS");
  p.accumulate = true;
  p.bf16 = true;
  expectExact(p, "TS accumulate bf16");
}

TEST(TensorCore, AccumulateNegateAndTypes) {
  Problem p;
  p.accumulate = true;
  expectExact(p, "accumulate");
  p.negA = true;
  expectExact(p, "negate A");
  p.negB = true;
  expectExact(p, "negate both");
  p.negA = false;
  p.bf16 = true;
  expectExact(p, "negate B, bf16");
  Problem h;
  h.f32 = false;
  expectExact(h, "f16 accumulator");
}

TEST(TensorCore, SixtyFourRows) {
  Problem p;
  p.m = 64;
  p.n = 8;
  p.accumulate = true; // fills the unused lanes, which the kernel reads
  expectExact(p, "M = 64");
}

TEST(TensorCore, DecodedFieldsOfTheAttentionDescriptors) {
  MatrixDescriptor d;
  ASSERT_EQ(decodeDescriptor(0x4000404004000000ull | 0x8400 >> 4, d), "");
  EXPECT_EQ(d.start, 0x8400u);
  EXPECT_EQ(d.lbo, 16384u);
  EXPECT_EQ(d.sbo, 1024u);
  EXPECT_EQ(d.swizzle, Swizzle::B128);
}

TEST(TensorCore, MalformedDescriptors) {
  struct Case {
    const char *message;
    std::function<void(uint64_t &, uint64_t &, uint32_t &)> change;
  };
  const Case kCases[] = {
      {"reserved bits of the matrix descriptor",
       [](uint64_t &a, uint64_t &, uint32_t &) { a |= 1u << 14; }},
      {"bits 46 to 48",
       [](uint64_t &, uint64_t &b, uint32_t &) { b &= ~(uint64_t(1) << 46); }},
      {"swizzle code 3",
       [](uint64_t &, uint64_t &b, uint32_t &) { b |= uint64_t(3) << 61; }},
      {"base offsets",
       [](uint64_t &a, uint64_t &, uint32_t &) { a |= uint64_t(1) << 49; }},
      {"M of 64 or 128",
       [](uint64_t &, uint64_t &, uint32_t &id) { id &= ~(31u << 24); }},
      {"but got 264",
       [](uint64_t &, uint64_t &, uint32_t &id) {
         id = (id & ~(63u << 17)) | 33u << 17;
       }},
      {"a type that kind::f16 has not",
       [](uint64_t &, uint64_t &, uint32_t &id) { id |= 2u << 7; }},
      {"reserved bits of the instruction descriptor",
       [](uint64_t &, uint64_t &, uint32_t &id) { id |= 1u << 23; }},
  };
  for (const Case &c : kCases) {
    Outcome o = solve(Problem(), AsyncMode::Eager, c.change);
    ASSERT_EQ(o.result.status, Status::Fault) << c.message;
    EXPECT_NE(o.result.str().find(c.message), std::string::npos)
        << o.result.str();
  }
}

TEST(TensorCore, WrongMajorGivesWrongValues) {
  Problem p;
  Outcome o =
      solve(p, AsyncMode::Eager,
            [](uint64_t &, uint64_t &, uint32_t &id) { id ^= 1u << 16; });
  EXPECT_TRUE(!o.result.ok() || o.error > 0);
}

// tcgen05.ld and st of shape 16x256b spread a row over four threads.
TEST(TensorCore, Shape16x256b) {
  KernelRun r = runThreads(128, R"(
 mov.u32 %w20, %warpid; setp.ne.u32 %p0, %w20, 0; mov.u32 %w21, %laneid;
 @%p0 bra go;
 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [dyn], 32;
go:
 bar.sync 0;
 ld.shared.u32 %w22, [dyn];
 shl.b32 %w23, %w20, 21; add.u32 %w22, %w22, %w23;
 mul.lo.u32 %w1, %w21, 4; add.u32 %w2, %w1, 1; add.u32 %w3, %w1, 2;
 add.u32 %w4, %w1, 3;
 tcgen05.st.sync.aligned.16x256b.x1.b32 [%w22], {%w1, %w2, %w3, %w4};
 add.u32 %w24, %w22, 0x100000;
 tcgen05.st.sync.aligned.16x256b.x1.b32 [%w24], {%w4, %w3, %w2, %w1};
 tcgen05.wait::st.sync.aligned;
 tcgen05.ld.sync.aligned.32x32b.x8.b32 {%w5,%w6,%w7,%w8,%w9,%w10,%w11,%w12}, [%w22];
 tcgen05.wait::ld.sync.aligned;
 mov.b64 %out, {%w6, %w11};
 bar.sync 0;
 @%p0 bra end;
 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %w22, 32;
end:
)",
                           modeOptions(AsyncMode::Lazy));
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (unsigned lane = 0; lane < 32; ++lane) {
    // Column 1 comes from thread 4 * (row % 8) register 1 (rows 0-7) or 3
    // (rows 8-15); column 6 from the fourth of those threads, register 0 or 2.
    unsigned row = lane % 16, reg = row < 8 ? 0 : 2;
    unsigned c1 = 4 * (4 * (row % 8)) + reg + 1;
    unsigned c6 = 4 * (4 * (row % 8) + 3) + reg;
    if (lane >= 16) { // the second store is reversed
      c1 = 4 * (4 * (row % 8)) + 3 - (reg + 1);
      c6 = 4 * (4 * (row % 8) + 3) + 3 - reg;
    }
    EXPECT_EQ(r.out[lane], uint64_t(c6) << 32 | c1) << lane;
  }
}

std::string tmemFault(const std::string &body, AsyncMode mode) {
  KernelRun r = runThreads(
      32,
      " tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [dyn], 64;\n"
      " ld.shared.u32 %w1, [dyn];\n" +
          body + "\n tcgen05.dealloc.cta_group::1.sync.aligned.b32 %w1, 64;",
      modeOptions(mode));
  return r.result.faults.empty() ? statusName(r.result.status)
                                 : r.result.faults[0].kind;
}

TEST(TensorCore, TmemFaults) {
  std::string ld = " tcgen05.ld.sync.aligned.32x32b.x1.b32 {%w2}, [%w1]; ";
  std::string st = " tcgen05.st.sync.aligned.32x32b.x1.b32 [%w1], {%w0}; ";
  std::string waitSt = " tcgen05.wait::st.sync.aligned; ";
  EXPECT_EQ(tmemFault(ld, AsyncMode::Eager), "uninitialised");
  std::string waitLd = " tcgen05.wait::ld.sync.aligned; ";
  EXPECT_EQ(tmemFault(st + waitSt + ld + waitLd, AsyncMode::Lazy), "ok");
  EXPECT_EQ(tmemFault(st + waitSt + ld, AsyncMode::Lazy),
            "race"); // a late read
  EXPECT_EQ(tmemFault(st + ld, AsyncMode::Lazy), "race");
  EXPECT_EQ(tmemFault(st, AsyncMode::Lazy), "race"); // dealloc under a store
  EXPECT_EQ(tmemFault(" add.u32 %w1, %w1, 64; " + st, AsyncMode::Eager),
            "tmem-unallocated");
  EXPECT_EQ(tmemFault(" add.u32 %w1, %w1, 0x200000; " + st, AsyncMode::Eager),
            "tmem-lanes");
  EXPECT_EQ(tmemFault(" tcgen05.alloc.cta_group::1.sync.aligned.shared::cta."
                      "b32 [dyn], 128;",
                      AsyncMode::Eager),
            "bad-tmem");
  EXPECT_EQ(tmemFault(" tcgen05.alloc.cta_group::1.sync.aligned.shared::cta."
                      "b32 [dyn], 48;",
                      AsyncMode::Eager),
            "bad-tmem");
  EXPECT_EQ(tmemFault(" tcgen05.relinquish_alloc_permit.cta_group::1.sync."
                      "aligned; tcgen05.alloc.cta_group::1.sync.aligned."
                      "shared::cta.b32 [dyn], 32;",
                      AsyncMode::Eager),
            "bad-tmem");
  EXPECT_EQ(tmemFault(" tcgen05.dealloc.cta_group::1.sync.aligned.b32 %w1, "
                      "32;",
                      AsyncMode::Eager),
            "bad-tmem");
}

} // namespace
