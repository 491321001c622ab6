// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One tile of an MMA operand in shared memory, stored as panels the way TMA
// writes them, and how a descriptor walks it along K.
//
// A tile has `rows` rows of `columns` contiguous elements. It is cut into
// panels one swizzle span wide (64 f16 columns for 128B; 16 bytes without a
// swizzle); panel p holds its rows one after another, span bytes each, at
// p * rows * span. Within a panel the swizzle permutes 16-byte chunks.
//
// Units: rows and columns are elements, offsets are bytes unless a name says
// units of 16 bytes.
// Errors: verify() and the queries that take indices name what is out of range.
// Source: PTX ISA, "Canonical layouts" of tcgen05 and wgmma.

#ifndef FA4_ENCODING_MATRIXTILE_H
#define FA4_ENCODING_MATRIXTILE_H

#include "fa4/Encoding/MajorMode.h"
#include "fa4/Encoding/SmemDescriptor.h"
#include "fa4/Encoding/Swizzle.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace fa4 {

struct MatrixTile {
  /// K-major: rows run along M or N, columns along K (Q and K of attention).
  /// MN-major: rows run along K, columns along M or N (V).
  MajorMode major = MajorMode::K;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t elementBytes = 2;
  Swizzle swizzle = Swizzle::B128;

  /// Rows in groups of 8, columns in whole panels, a K extent in whole
  /// instructions, elements of 1 or 2 bytes (also 4 if K-major), and offsets
  /// that fit a descriptor.
  llvm::Error verify() const;

  int64_t getPanelBytes() const { return rows * getSpanBytes(swizzle); }
  int64_t getPanelCount() const {
    return columns * elementBytes / getSpanBytes(swizzle);
  }
  int64_t getBytes() const { return rows * columns * elementBytes; }

  /// Elements of K that one instruction consumes: 32 bytes' worth.
  int64_t getKPerStep() const { return 32 / elementBytes; }
  /// Instructions that walk the tile's whole K extent.
  int64_t getKSteps() const;

  /// What the descriptor of this tile holds, in bytes:
  /// | major | swizzle | leading                    | stride               |
  /// |-------|---------|----------------------------|----------------------|
  /// | K     | none    | next 16-byte column        | next 8 rows          |
  /// | K     | other   | panel; hardware ignores it | next 8 rows          |
  /// | MN    | none    | next 8 rows (of K)         | next 8 columns       |
  /// | MN    | other   | next panel                 | next 8 rows (of K)   |
  int64_t getLeadingByteOffset() const;
  int64_t getStrideByteOffset() const;
  /// The descriptor of the whole tile at `address`, which must be a multiple
  /// of the swizzle's pattern so that its base offset is 0.
  llvm::Expected<SmemDescriptor> getDescriptor(int64_t address) const;

  /// What K step `step` adds to the descriptor, in units of 16 bytes. The sum
  /// moves the start address and never carries out of its field.
  llvm::Expected<int64_t> getKStepOffset16(int64_t step) const;

  /// Where TMA puts element (row, column) of the tile, in bytes from a base
  /// that is a multiple of the swizzle's pattern. Row and column must lie in
  /// the tile.
  llvm::Expected<int64_t> getByteOffset(int64_t row, int64_t column) const;
};

} // namespace fa4

#endif // FA4_ENCODING_MATRIXTILE_H
