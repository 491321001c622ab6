// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The shapes of tcgen05.ld and .st. The simulator goes from thread and register
// to lane and column. These tests go from a bit of a lane to the thread and
// register that hold it, by the strides in bits of the ISA's figures.

#include "WordsUtil.h"

#include "Tcgen05Shapes.h"

using namespace ptxsim;

namespace {

struct Shape {
  const char *name;
  TmemShape shape;
  unsigned registers; // of one repetition
  unsigned lanes;
};

const Shape kShapes[] = {{"16x64b", TmemShape::k16x64b, 1, 16},
                         {"16x128b", TmemShape::k16x128b, 2, 16},
                         {"16x256b", TmemShape::k16x256b, 4, 16},
                         {"32x32b", TmemShape::k32x32b, 1, 32},
                         {"16x32bx2", TmemShape::k16x32bx2, 1, 16}};

/// Thread and register of the word that starts at \p bit of a lane's row. The
/// half is 1 for the second block of 16x32bx2.
void owner(TmemShape shape, unsigned lane, unsigned bit, unsigned half,
           unsigned &thread, unsigned &reg) {
  switch (shape) {
  case TmemShape::k16x64b:
    // 64 bits a repetition: bit 32 is worth two threads, lane 8 one, lane 1
    // four.
    thread = bit / 32 % 2 * 2 + lane / 8 + lane % 8 * 4;
    reg = bit / 64;
    break;
  case TmemShape::k16x128b:
    // 128 bits a repetition: bit 32 is worth one thread, lane 1 four; lane 8
    // is the other register.
    thread = bit / 32 % 4 + lane % 8 * 4;
    reg = bit / 128 * 2 + lane / 8;
    break;
  case TmemShape::k16x256b:
    // 256 bits: two registers side by side a thread, two more 8 lanes down.
    thread = bit / 64 % 4 + lane % 8 * 4;
    reg = bit / 256 * 4 + lane / 8 * 2 + bit / 32 % 2;
    break;
  case TmemShape::k32x32b:
    thread = lane;
    reg = bit / 32;
    break;
  case TmemShape::k16x32bx2:
    thread = lane + 16 * half;
    reg = bit / 32;
    break;
  }
}

TEST(TmemShape, BitsToRegistersIsTheInverse) {
  for (const Shape &s : kShapes)
    for (unsigned x = 1; x * s.registers <= 128; x *= 2) {
      unsigned registers = x * s.registers,
               halves = s.shape == TmemShape::k16x32bx2 ? 2 : 1;
      unsigned words = 0;
      for (unsigned half = 0; half < halves; ++half)
        for (unsigned lane = 0; lane < s.lanes; ++lane)
          for (unsigned c = 0; c < tmemColumns(s.shape, registers); ++c) {
            unsigned thread, reg;
            owner(s.shape, lane, 32 * c, half, thread, reg);
            ASSERT_LT(thread, 32u);
            ASSERT_LT(reg, registers);
            TmemPlace p = tmemPlace(s.shape, thread, reg);
            ASSERT_EQ(p.lane, lane) << s.name;
            ASSERT_EQ(p.column, c) << s.name;
            ASSERT_EQ(p.half, half) << s.name;
            ++words;
          }
      EXPECT_EQ(words, 32 * registers) << s.name; // each word once
    }
}

const char kAlloc[] = R"( mov.u32 %t0, smem;
 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%t0], 512;
 ld.shared.u32 %t1, [%t0];
)";
const char kDealloc[] =
    "\n tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t1, 512;\n";

/// Fills TMEM columns 0 .. 287 of lanes 0 .. 31 with lane << 16 | column.
std::string fillTmem() {
  std::string s;
  for (unsigned c = 0; c < 288; c += 32) {
    for (unsigned i = 0; i < 32; ++i)
      s += " mad.lo.u32 %r" + std::to_string(i + 1) + ", %tid, 65536, " +
           std::to_string(c + i) + ";";
    s += " add.u32 %t2, %t1, " + std::to_string(c) +
         "; tcgen05.st.sync.aligned.32x32b.x32.b32 [%t2], " +
         registerList("%r", 1, 32) + ";";
  }
  return s + " tcgen05.wait::st.sync.aligned;\n";
}

TEST(TmemShape, Load) {
  for (const Shape &s : kShapes)
    for (bool pack : {false, true})
      for (unsigned x : {1u, 4u, 16u}) {
        unsigned n = x * s.registers;
        bool split = s.shape == TmemShape::k16x32bx2;
        unsigned laneBase = s.lanes == 16 ? 16 : 0;
        std::string body = kAlloc + fillTmem() + " add.u32 %t2, %t1, " +
                           std::to_string((laneBase << 16) + 3) +
                           "; tcgen05.ld.sync.aligned." + s.name + ".x" +
                           std::to_string(x) + (pack ? ".pack::16b" : "") +
                           ".b32 " + registerList("%r", 100, n) + ", [%t2]" +
                           (split ? ", 100" : "") +
                           "; tcgen05.wait::ld.sync.aligned; mul.wide.u32 "
                           "%d1, %tid, 4; add.u64 %d1, %d1, %op;";
        for (unsigned r = 0; r < n; ++r)
          body += " st.global.u32 [%d1+" + std::to_string(128 * r) + "], %r" +
                  std::to_string(100 + r) + ";";
        WordsRun run = runWords(body + kDealloc, {}, 32 * n);
        ASSERT_TRUE(run.result.ok()) << run.result.str();
        for (unsigned half = 0; half <= unsigned(split); ++half)
          for (unsigned lane = 0; lane < s.lanes; ++lane)
            for (unsigned c = 0; c < tmemColumns(s.shape, n); ++c) {
              unsigned thread, reg;
              owner(s.shape, lane, 32 * c, half, thread, reg);
              unsigned column = 3 + 100 * half + (pack ? 2 * c : c);
              uint32_t want = (laneBase + lane) << 16 | column;
              if (pack) // the low halves of two columns
                want = column | (column + 1) << 16;
              ASSERT_EQ(run.out[32 * reg + thread], want)
                  << s.name << " x" << x << " pack " << pack;
            }
      }
}

TEST(TmemShape, Store) {
  for (const Shape &s : kShapes)
    for (bool unpack : {false, true}) {
      unsigned n = 2 * s.registers;
      bool split = s.shape == TmemShape::k16x32bx2;
      std::string body = kAlloc + fillTmem();
      for (unsigned r = 0; r < n; ++r)
        body += " mad.lo.u32 %r" + std::to_string(100 + r) +
                ", %tid, 0x10001, " + std::to_string(0x2000100 * (r + 1)) + ";";
      body += std::string(" tcgen05.st.sync.aligned.") + s.name + ".x2" +
              (unpack ? ".unpack::16b" : "") + ".b32 [%t1]" +
              (split ? ", 16" : "") + ", " + registerList("%r", 100, n) +
              "; tcgen05.wait::st.sync.aligned; "
              "tcgen05.ld.sync.aligned.32x32b.x32.b32 " +
              registerList("%r", 1, 32) +
              ", [%t1]; tcgen05.wait::ld.sync.aligned; mul.wide.u32 %d1, %tid, "
              "128; add.u64 %d1, %d1, %op;";
      for (unsigned c = 0; c < 32; ++c)
        body += " st.global.u32 [%d1+" + std::to_string(4 * c) + "], %r" +
                std::to_string(1 + c) + ";";
      WordsRun run = runWords(body + kDealloc, {}, 32 * 32);
      ASSERT_TRUE(run.result.ok()) << run.result.str();
      for (unsigned half = 0; half <= unsigned(split); ++half)
        for (unsigned lane = 0; lane < s.lanes; ++lane)
          for (unsigned c = 0; c < tmemColumns(s.shape, n); ++c) {
            unsigned thread, reg;
            owner(s.shape, lane, 32 * c, half, thread, reg);
            uint32_t value = thread * 0x10001 + 0x2000100 * (reg + 1);
            unsigned column = 16 * half + (unpack ? 2 * c : c);
            uint32_t first = run.out[32 * lane + column];
            if (!unpack) {
              ASSERT_EQ(first, value) << s.name;
            } else {
              ASSERT_EQ(first, value & 0xffff) << s.name;
              ASSERT_EQ(run.out[32 * lane + column + 1], value >> 16) << s.name;
            }
          }
    }
}

TEST(TmemShape, SecondHalfOutsideTheAllocation) {
  WordsRun r = runWords(std::string(" mov.u32 %t0, smem; "
                                    "tcgen05.alloc.cta_group::1.sync.aligned."
                                    "shared::cta.b32 [%t0], 32; ld.shared.u32 "
                                    "%t1, [%t0]; tcgen05.st.sync.aligned."
                                    "16x32bx2.x1.b32 [%t1], 32, {%r1};"),
                        {}, 1);
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].kind, "tmem-unallocated");
}

// tcgen05.cp: 128 rows of 16 or 32 bytes, core matrices of 8 rows, without
// swizzle: SBO 256, LBO 128.
unsigned rowPlace(unsigned row, unsigned byte) {
  return row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16;
}

WordsRun copy(const std::string &form, unsigned rows, unsigned bytes,
              const std::string &after = "") {
  std::vector<uint32_t> image(2048);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned w = 0; w < bytes / 4; ++w)
      image[(1024 + rowPlace(row, 4 * w)) / 4] = row << 16 | (w + 1);
  uint64_t desc = uint64_t(1) << 46 | uint64_t(256 >> 4) << 32 |
                  uint64_t(128 >> 4) << 16 | (1024 + 1024) >> 4;
  std::string body =
      fillShared(2048) + R"( setp.ge.u32 %p2, %tid, 32; @%p2 bra ready;
 mov.u32 %t0, smem; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%t0], 32;
 setp.eq.u32 %p1, %tid, 0; @%p1 mbarrier.init.shared::cta.b64 [%t0+8], 1; bar.warp.sync -1;
ready: bar.sync 0; mov.u32 %t0, smem; ld.shared.u32 %t1, [%t0]; shr.u32 %t3, %tid, 5; shl.b32 %t4, %t3, 21; add.u32 %t2, %t1, %t4;
)";
  body += " mov.u32 %r1, 0;";
  for (unsigned i = 1; i < 8; ++i)
    body += " mov.u32 %r" + std::to_string(i + 1) + ", 0;";
  body +=
      " tcgen05.st.sync.aligned.32x32b.x8.b32 [%t2], " +
      registerList("%r", 1, 8) +
      "; tcgen05.wait::st.sync.aligned; bar.sync 0; setp.ne.u32 %p3, "
      "%tid, 0; @%p3 bra wait; mov.b64 %d1, " +
      std::to_string(desc) + "; " + form + " [%t1], %d1; " + after +
      R"( tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%t0+8];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%t0+8], 0; @!%p4 bra wait;
 bar.sync 0; tcgen05.ld.sync.aligned.32x32b.x8.b32 )" +
      registerList("%r", 1, 8) +
      ", [%t2]; tcgen05.wait::ld.sync.aligned; mul.wide.u32 %d1, %tid, 32; "
      "add.u64 %d1, %d1, %op;";
  for (unsigned c = 0; c < 8; ++c)
    body += " st.global.u32 [%d1+" + std::to_string(4 * c) + "], %r" +
            std::to_string(1 + c) + ";";
  body += " bar.sync 0; @%p2 bra out; "
          "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t1, 32; out:";
  return runWords(body, image, 128 * 8, 128, modeOptions(AsyncMode::Lazy),
                  16384);
}

TEST(TmemCopy, Shapes) {
  struct Case {
    const char *form;
    unsigned rows, bytes;
    int (*rowOf)(unsigned lane); // -1: not written
  };
  const Case cases[] = {
      {"128x256b", 128, 32, [](unsigned l) { return int(l); }},
      {"4x256b", 4, 32, [](unsigned l) { return l < 4 ? int(l) : -1; }},
      {"128x128b", 128, 16, [](unsigned l) { return int(l); }},
      {"64x128b.warpx2::02_13", 64, 16, [](unsigned l) { return int(l % 64); }},
      {"64x128b.warpx2::01_23", 64, 16,
       [](unsigned l) { return int(l / 64 * 32 + l % 32); }},
      {"32x128b.warpx4", 32, 16, [](unsigned l) { return int(l % 32); }}};
  for (const Case &c : cases) {
    WordsRun r =
        copy(std::string("tcgen05.cp.cta_group::1.") + c.form, c.rows, c.bytes);
    ASSERT_TRUE(r.result.ok()) << r.result.str();
    for (unsigned lane = 0; lane < 128; ++lane)
      for (unsigned w = 0; w < 8; ++w) {
        int row = c.rowOf(lane);
        bool written = row >= 0 && w < c.bytes / 4;
        ASSERT_EQ(r.out[8 * lane + w],
                  written ? uint32_t(row) << 16 | (w + 1) : 0u)
            << c.form << " lane " << lane << " word " << w;
      }
  }
}

TEST(TmemCopy, Decompression) {
  // Sixteen codes of four bits become bytes with the code in bits 2 to 5.
  WordsRun r =
      copy("tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b4x16_p64", 32, 16);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  // Row 5 begins with the words 0x00050001, 0x00050002.
  EXPECT_EQ(r.out[8 * 5 + 0], 0x00000004u);
  EXPECT_EQ(r.out[8 * 5 + 1], 0x00000014u);
  EXPECT_EQ(r.out[8 * 5 + 2], 0x00000008u);
  r = copy("tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b6x16_p32", 32, 16);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  // 0x00050001 = codes 1, 0, 0x10 (bits 12-17), 1 (bits 18-23) and so on.
  EXPECT_EQ(r.out[8 * 5 + 0], 0x01100001u);
}

TEST(TmemCopy, ShiftDown) {
  WordsRun r = copy("tcgen05.cp.cta_group::1.128x256b", 128, 32,
                    "add.u32 %t5, %t1, 0x200000; "
                    "tcgen05.shift.cta_group::1.down [%t5];");
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (unsigned lane = 0; lane < 128; ++lane) {
    unsigned row = lane > 32 && lane < 64 ? lane - 1 : lane;
    EXPECT_EQ(r.out[8 * lane + 7], row << 16 | 8) << lane;
  }
}

} // namespace
