// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// ldmatrix and stmatrix: an element's fragment register is computed here from
// its place in the matrix, the other way round than in the simulator.

#include "WordsUtil.h"

using namespace ptxsim;

namespace {

/// Rows of 16 bytes in shared memory; the byte at offset i is a function of i.
std::vector<uint32_t> pattern(unsigned bytes) {
  std::vector<uint32_t> words(bytes / 4);
  for (unsigned i = 0; i < bytes; ++i)
    words[i / 4] |= uint32_t((i * 7 + i / 256) & 0xff) << (8 * (i % 4));
  return words;
}

uint8_t byteAt(const std::vector<uint32_t> &words, unsigned i) {
  return uint8_t(words[i / 4] >> (8 * (i % 4)));
}

std::string laneRow = " mov.u32 %t0, smem; mad.lo.u32 %t0, %tid, 16, %t0;\n";

WordsRun load(const std::string &form, unsigned registers,
              const std::vector<uint32_t> &data) {
  std::string stores;
  for (unsigned r = 0; r < registers; ++r)
    stores += " st.global.u32 [%d1+" + std::to_string(128 * r) + "], %r" +
              std::to_string(r + 1) + ";";
  return runWords(fillShared(unsigned(data.size())) + laneRow + " " + form +
                      " " + registerList("%r", 1, registers) +
                      ", [%t0]; mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %d1, "
                      "%op;" +
                      stores,
                  data, 32 * registers);
}

TEST(LdMatrix, HalfWords) {
  for (bool trans : {false, true})
    for (unsigned count : {1u, 2u, 4u}) {
      auto data = pattern(512);
      WordsRun r = load("ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                            (trans ? ".trans" : "") + ".shared.b16",
                        count, data);
      ASSERT_TRUE(r.result.ok()) << r.result.str();
      for (unsigned m = 0; m < count; ++m)
        for (unsigned row = 0; row < 8; ++row)
          for (unsigned column = 0; column < 8; ++column) {
            unsigned i = trans ? column : row, j = trans ? row : column;
            uint32_t word = r.out[32 * m + 4 * i + j / 2];
            unsigned at = 16 * (8 * m + row) + 2 * column;
            EXPECT_EQ(uint16_t(word >> (16 * (j % 2))),
                      byteAt(data, at) | byteAt(data, at + 1) << 8)
                << "x" << count << " trans " << trans << " matrix " << m;
          }
    }
}

TEST(LdMatrix, Bytes) {
  // A 16 x 16 matrix of bytes, transposed: element (i, j) of the result is
  // byte i of memory row j; lane 4 (i % 8) + j / 4 has it.
  for (unsigned count : {1u, 2u}) {
    auto data = pattern(512);
    WordsRun r = load("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) +
                          ".trans.shared.b8",
                      2 * count, data);
    ASSERT_TRUE(r.result.ok()) << r.result.str();
    for (unsigned m = 0; m < count; ++m)
      for (unsigned i = 0; i < 16; ++i)
        for (unsigned j = 0; j < 16; ++j) {
          uint32_t word = r.out[32 * (2 * m + i / 8) + 4 * (i % 8) + j / 4];
          EXPECT_EQ(uint8_t(word >> (8 * (j % 4))),
                    byteAt(data, 16 * (16 * m + j) + i));
        }
  }
}

TEST(StMatrix, LoadUndoesStore) {
  for (std::string form : {"m8n8.x4.shared.b16", "m8n8.x4.trans.shared.b16"}) {
    WordsRun r =
        runWords(laneRow + R"( mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %d1, %op;
 mad.lo.u32 %r1, %tid, 1000, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r1, 3;
 stmatrix.sync.aligned.)" +
                     form +
                     R"( [%t0], {%r1, %r2, %r3, %r4};
 ldmatrix.sync.aligned.)" +
                     form +
                     R"( {%r5, %r6, %r7, %r8}, [%t0];
 st.global.u32 [%d1], %r5; st.global.u32 [%d1+128], %r6; st.global.u32 [%d1+256], %r7; st.global.u32 [%d1+384], %r8;)",
                 {}, 128);
    ASSERT_TRUE(r.result.ok()) << r.result.str();
    for (unsigned i = 0; i < 128; ++i)
      EXPECT_EQ(r.out[i], i % 32 * 1000 + 1 + i / 32);
  }
}

TEST(StMatrix, BytePlaces) {
  // m16n8 transposed: element (i, j) goes to byte i of memory row j.
  WordsRun r = runWords(
      laneRow +
          R"( mul.lo.u32 %r1, %tid, 0x04040404; add.u32 %r1, %r1, 0x03020100;
 setp.lt.u32 %p1, %tid, 8;
 stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%t0], {%r1};
 mul.wide.u32 %d1, %tid, 16; add.u64 %d1, %d1, %op;
 @!%p1 bra out; ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%t0]; st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5};
out:)",
      {}, 32);
  ASSERT_TRUE(r.result.ok()) << r.result.str();
  for (unsigned j = 0; j < 8; ++j)
    for (unsigned i = 0; i < 16; ++i) {
      unsigned lane = 4 * j + i / 4;
      EXPECT_EQ(byteAt(r.out, 16 * j + i), 4 * lane + i % 4);
    }
}

TEST(LdMatrix, Faults) {
  WordsRun r = runWords(" mov.u32 %t0, smem; ldmatrix.sync.aligned.m8n8.x1."
                        "shared.b16 {%r1}, [%t0+8];",
                        {}, 1);
  ASSERT_EQ(r.result.status, Status::Fault);
  EXPECT_EQ(r.result.faults[0].kind, "misaligned");
  r = runWords(" mov.u32 %t0, smem; ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
               "{%r1}, [%t0];",
               {}, 1);
  EXPECT_EQ(r.result.faults[0].kind, "uninitialised");
}

} // namespace
