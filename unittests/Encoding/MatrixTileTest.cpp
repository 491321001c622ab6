// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/MatrixTile.h"
#include "gtest/gtest.h"
#include <map>
#include <vector>

using namespace fa4;

namespace {

/// Shared memory as TMA leaves it and as the tensor core reads it, each
/// written from its own description and not from MatrixTile.
struct Model {
  MatrixTile tile;
  int64_t base;
  /// (row, column) of the element at a byte address.
  std::map<uint64_t, std::pair<int64_t, int64_t>> memory;

  static uint64_t exclusiveOr(uint64_t address, Swizzle swizzle) {
    switch (swizzle) {
    case Swizzle::B128:
      return address ^ (((address >> 7) & 7) << 4);
    case Swizzle::B64:
      return address ^ (((address >> 7) & 3) << 4);
    case Swizzle::B32:
      return address ^ (((address >> 7) & 1) << 4);
    case Swizzle::None:
      break;
    }
    return address;
  }

  static int64_t chunksPerRow(Swizzle swizzle) {
    return swizzle == Swizzle::B128  ? 8
           : swizzle == Swizzle::B64 ? 4
           : swizzle == Swizzle::B32 ? 2
                                     : 1;
  }

  /// One box per panel, each written row after row, chunk after chunk.
  void fillByTma() {
    int64_t perChunk = 16 / tile.elementBytes;
    int64_t panelColumns = chunksPerRow(tile.swizzle) * perChunk;
    uint64_t address = static_cast<uint64_t>(base);
    for (int64_t panel = 0; panel < tile.columns; panel += panelColumns)
      for (int64_t row = 0; row != tile.rows; ++row)
        for (int64_t c = 0; c != panelColumns; ++c) {
          memory[exclusiveOr(address, tile.swizzle)] = {row, panel + c};
          address += static_cast<uint64_t>(tile.elementBytes);
        }
  }

  /// Address of element (mn, k) of one instruction by the canonical layouts,
  /// in elements of T = 16 bytes / element size; e.g. K-major 128B:
  /// ((8, m), (T, 2k)) : ((8T, SBO), (1, T)), MN-major 128B:
  /// ((T, 8, m), (8, k)) : ((1, T, LBO), (8T, SBO)).
  uint64_t readAddress(const SmemDescriptor &d, int64_t mn, int64_t k) const {
    int64_t t = 16 / tile.elementBytes;
    int64_t leading = d.leadingByteOffset / tile.elementBytes;
    int64_t stride = d.strideByteOffset / tile.elementBytes;
    int64_t s = chunksPerRow(d.swizzle);
    int64_t element;
    if (tile.major == MajorMode::K) {
      element = (mn % 8) * s * t + (mn / 8) * stride + k % t;
      element += (k / t) * (d.swizzle == Swizzle::None ? leading : t);
    } else if (d.swizzle == Swizzle::None) {
      element = mn % t + (mn / t) * stride + (k % 8) * t + (k / 8) * leading;
    } else {
      element = mn % t + (mn / t % s) * t + (mn / t / s) * leading;
      element += (k % 8) * s * t + (k / 8) * stride;
    }
    return exclusiveOr(
        static_cast<uint64_t>(d.startAddress + element * tile.elementBytes),
        d.swizzle);
  }
};

MatrixTile makeTile(MajorMode major, int64_t rows, int64_t columns,
                    int64_t elementBytes = 2, Swizzle swizzle = Swizzle::B128) {
  MatrixTile tile;
  tile.major = major;
  tile.rows = rows;
  tile.columns = columns;
  tile.elementBytes = elementBytes;
  tile.swizzle = swizzle;
  return tile;
}

int64_t stepOffset(const MatrixTile &tile, int64_t step) {
  llvm::Expected<int64_t> offset = tile.getKStepOffset16(step);
  if (offset)
    return *offset;
  ADD_FAILURE() << llvm::toString(offset.takeError());
  return -1;
}

void checkAgainstModel(const MatrixTile &tile) {
  SCOPED_TRACE("rows " + std::to_string(tile.rows) + " columns " +
               std::to_string(tile.columns) + " bytes " +
               std::to_string(tile.elementBytes) + " swizzle " +
               stringifySwizzle(tile.swizzle).str() +
               (tile.major == MajorMode::K ? " K" : " MN"));
  Model model{tile, 0x3000, {}};
  model.fillByTma();
  ASSERT_EQ(int64_t(model.memory.size()), tile.rows * tile.columns);
  for (int64_t row = 0; row != tile.rows; ++row)
    for (int64_t column = 0; column != tile.columns; ++column) {
      llvm::Expected<int64_t> offset = tile.getByteOffset(row, column);
      ASSERT_TRUE(bool(offset)) << llvm::toString(offset.takeError());
      ASSERT_EQ(model.memory.at(uint64_t(model.base + *offset)),
                std::make_pair(row, column));
    }

  llvm::Expected<SmemDescriptor> descriptor = tile.getDescriptor(model.base);
  ASSERT_TRUE(bool(descriptor)) << llvm::toString(descriptor.takeError());
  bool kMajor = tile.major == MajorMode::K;
  int64_t kPerStep = 32 / tile.elementBytes;
  int64_t mnExtent = kMajor ? tile.rows : tile.columns;
  ASSERT_EQ(tile.getKSteps() * kPerStep, kMajor ? tile.columns : tile.rows);
  for (int64_t step = 0; step != tile.getKSteps(); ++step) {
    // As the kernel does it: the offset is added to the encoded word.
    llvm::Expected<uint64_t> word = descriptor->encode(MmaFlavour::Tcgen05);
    ASSERT_TRUE(bool(word));
    auto moved = SmemDescriptor::decode(
        *word + uint64_t(stepOffset(tile, step)), MmaFlavour::Tcgen05);
    ASSERT_TRUE(bool(moved)) << llvm::toString(moved.takeError());
    for (int64_t mn = 0; mn != mnExtent; ++mn)
      for (int64_t k = 0; k != kPerStep; ++k) {
        auto found = model.memory.find(model.readAddress(*moved, mn, k));
        ASSERT_NE(found, model.memory.end()) << "mn " << mn << " k " << k;
        int64_t globalK = step * kPerStep + k;
        ASSERT_EQ(found->second, kMajor ? std::make_pair(mn, globalK)
                                        : std::make_pair(globalK, mn))
            << "step " << step << " mn " << mn << " k " << k;
      }
  }
}

} // namespace

TEST(MatrixTile, KMajorStepsOfAttention) {
  MatrixTile q = makeTile(MajorMode::K, 128, 128);
  const int64_t expected[] = {0, 2, 4, 6, 1024, 1026, 1028, 1030};
  ASSERT_EQ(q.getKSteps(), 8);
  for (int64_t step = 0; step != 8; ++step)
    EXPECT_EQ(stepOffset(q, step), expected[step]);
  EXPECT_EQ(stepOffset(makeTile(MajorMode::K, 64, 128), 4), 512);
  EXPECT_EQ(stepOffset(makeTile(MajorMode::K, 176, 128), 4), 1408);
}

TEST(MatrixTile, MNMajorStepsOfAttention) {
  MatrixTile v = makeTile(MajorMode::MN, 128, 128);
  ASSERT_EQ(v.getKSteps(), 8);
  for (int64_t step = 0; step != 8; ++step) {
    EXPECT_EQ(stepOffset(v, step), step * 128);
    EXPECT_EQ(stepOffset(makeTile(MajorMode::MN, 128, 64), step), step * 128);
  }
}

TEST(MatrixTile, DescriptorOfAttention) {
  for (MajorMode major : {MajorMode::K, MajorMode::MN}) {
    auto descriptor = makeTile(major, 128, 128).getDescriptor(0x8400);
    ASSERT_TRUE(bool(descriptor)) << llvm::toString(descriptor.takeError());
    llvm::Expected<uint64_t> bits = descriptor->encode(MmaFlavour::Tcgen05);
    ASSERT_TRUE(bool(bits));
    EXPECT_EQ(*bits, 4611756662116581376u + 0x840u);
  }
  // The panel stride follows the height: 64 rows, 512 units.
  auto descriptor = makeTile(MajorMode::MN, 64, 128).getDescriptor(0);
  ASSERT_TRUE(bool(descriptor));
  EXPECT_EQ(descriptor->leadingByteOffset, 512 * 16);
  EXPECT_EQ(descriptor->strideByteOffset, 64 * 16);
}

// Whatever the descriptor and the step say, the tensor core must find in
// memory the element that TMA put there.
TEST(MatrixTile, TensorCoreReadsWhatTmaWrote) {
  for (Swizzle swizzle : allSwizzles) {
    for (int64_t bytes : {1, 2, 4}) {
      int64_t span = getSpanBytes(swizzle) / bytes;
      for (int64_t rows : {8, 64, 128, 176})
        for (int64_t panels : {1, 2, 4}) {
          int64_t columns = span * panels;
          if (columns * bytes % 32 != 0)
            continue;
          checkAgainstModel(
              makeTile(MajorMode::K, rows, columns, bytes, swizzle));
        }
      if (bytes == 4)
        continue;
      for (int64_t rows : {32, 64, 128, 192})
        for (int64_t panels : {1, 2, 3})
          checkAgainstModel(
              makeTile(MajorMode::MN, rows, span * panels, bytes, swizzle));
    }
  }
}

TEST(MatrixTile, Refusals) {
  auto error = [](const MatrixTile &tile) {
    return llvm::toString(tile.verify());
  };
  EXPECT_EQ(
      error(makeTile(MajorMode::K, 100, 64)),
      "'rows': expected a positive multiple of 8 up to 65536, but got 100");
  EXPECT_EQ(error(makeTile(MajorMode::K, 0, 64)),
            "'rows': expected a positive multiple of 8 up to 65536, but got 0");
  EXPECT_EQ(error(makeTile(MajorMode::K, 128, 96)),
            "'columns': expected a positive multiple of 64 (panels of 128 "
            "bytes) up to 65536, but got 96");
  EXPECT_EQ(error(makeTile(MajorMode::MN, 24, 64)),
            "'rows': expected a multiple of 16 (the K of one instruction), but "
            "got 24");
  EXPECT_EQ(error(makeTile(MajorMode::K, 8, 8, 2, Swizzle::None)),
            "'columns': expected a multiple of 16 (the K of one instruction), "
            "but got 8");
  EXPECT_EQ(error(makeTile(MajorMode::MN, 16, 32, 4)),
            "'elementBytes': expected 1 or 2 in an MN-major tile, but got 4");
  EXPECT_EQ(error(makeTile(MajorMode::K, 16, 32, 3)),
            "'elementBytes': expected 1, 2 or 4 in a K-major tile, but got 3");
  EXPECT_EQ(error(makeTile(MajorMode::K, 65536, 65536)),
            "the tile: expected at most 262144 bytes of shared memory, but got "
            "8589934592");

  MatrixTile tile = makeTile(MajorMode::K, 128, 128);
  auto address = tile.getDescriptor(512);
  ASSERT_FALSE(bool(address));
  EXPECT_EQ(llvm::toString(address.takeError()),
            "the tile's address: expected a multiple of 1024 bytes for swizzle "
            "128B, but got 512");
  for (int64_t step : {-1, 8}) {
    auto offset = tile.getKStepOffset16(step);
    ASSERT_FALSE(bool(offset));
    EXPECT_EQ(llvm::toString(offset.takeError()),
              "the K step: expected 0 to 7, but got " + std::to_string(step));
  }
  auto row = tile.getByteOffset(128, 0);
  ASSERT_FALSE(bool(row));
  EXPECT_EQ(llvm::toString(row.takeError()),
            "the row: expected 0 to 127, but got 128");
  auto column = tile.getByteOffset(0, -1);
  ASSERT_FALSE(bool(column));
  EXPECT_EQ(llvm::toString(column.takeError()),
            "the column: expected 0 to 127, but got -1");
}
