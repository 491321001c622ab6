// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/MatrixTile.h"
#include "llvm/ADT/Twine.h"

using namespace fa4;
using llvm::createStringError;
using llvm::Twine;

// Rows that the swizzle and the stride offset treat as one group, and the
// bytes of one core-matrix row.
static constexpr int64_t groupRows = 8;
static constexpr int64_t unitBytes = 16;

llvm::Error MatrixTile::verify() const {
  bool kMajor = major == MajorMode::K;
  if (elementBytes != 1 && elementBytes != 2 && !(kMajor && elementBytes == 4))
    return createStringError(Twine("'elementBytes': expected ") +
                             (kMajor ? "1, 2 or 4 in a K-major tile"
                                     : "1 or 2 in an MN-major tile") +
                             ", but got " + Twine(elementBytes));
  // Bounds the products below; no tile of shared memory comes near it.
  constexpr int64_t limit = 1 << 16;
  if (rows <= 0 || rows > limit || rows % groupRows != 0)
    return createStringError(
        "'rows': expected a positive multiple of 8 up to 65536, but got " +
        Twine(rows));
  int64_t span = getSpanBytes(swizzle);
  if (columns <= 0 || columns > limit || columns * elementBytes % span != 0)
    return createStringError("'columns': expected a positive multiple of " +
                             Twine(span / elementBytes) + " (panels of " +
                             Twine(span) + " bytes) up to 65536, but got " +
                             Twine(columns));
  int64_t kExtent = kMajor ? columns : rows;
  if (kExtent % getKPerStep() != 0)
    return createStringError(
        Twine(kMajor ? "'columns'" : "'rows'") + ": expected a multiple of " +
        Twine(getKPerStep()) + " (the K of one instruction), but got " +
        Twine(kExtent));
  if (getBytes() > (int64_t(1) << 18))
    return createStringError(
        "the tile: expected at most 262144 bytes of shared memory, but got " +
        Twine(getBytes()));
  return llvm::Error::success();
}

int64_t MatrixTile::getKSteps() const {
  return (major == MajorMode::K ? columns : rows) / getKPerStep();
}

int64_t MatrixTile::getLeadingByteOffset() const {
  if (major == MajorMode::MN && swizzle == Swizzle::None)
    return groupRows * unitBytes;
  return getPanelBytes();
}

int64_t MatrixTile::getStrideByteOffset() const {
  if (major == MajorMode::MN && swizzle == Swizzle::None)
    return getPanelBytes();
  return groupRows * getSpanBytes(swizzle);
}

llvm::Expected<SmemDescriptor>
MatrixTile::getDescriptor(int64_t address) const {
  if (llvm::Error error = verify())
    return std::move(error);
  if (address % getPatternBytes(swizzle) != 0)
    return createStringError("the tile's address: expected a multiple of " +
                             Twine(getPatternBytes(swizzle)) +
                             " bytes for swizzle " + stringifySwizzle(swizzle) +
                             ", but got " + Twine(address));
  SmemDescriptor descriptor;
  descriptor.startAddress = address;
  // A single panel has no next one. Its height may then exceed the field.
  bool ignored = swizzle != Swizzle::None && getPanelCount() == 1;
  descriptor.leadingByteOffset = ignored ? unitBytes : getLeadingByteOffset();
  descriptor.strideByteOffset = getStrideByteOffset();
  descriptor.swizzle = swizzle;
  if (llvm::Error error = descriptor.verify())
    return std::move(error);
  return descriptor;
}

llvm::Expected<int64_t> MatrixTile::getKStepOffset16(int64_t step) const {
  if (llvm::Error error = verify())
    return std::move(error);
  if (step < 0 || step >= getKSteps())
    return createStringError("the K step: expected 0 to " +
                             Twine(getKSteps() - 1) + ", but got " +
                             Twine(step));
  int64_t span = getSpanBytes(swizzle);
  if (major == MajorMode::MN)
    return step * getKPerStep() * span / unitBytes;
  // Along a swizzled row the start address moves by bytes below bit 7, which
  // leaves the row bits that feed the exclusive or alone.
  int64_t bytes = step * getKPerStep() * elementBytes;
  return (bytes / span * getPanelBytes() + bytes % span) / unitBytes;
}

llvm::Expected<int64_t> MatrixTile::getByteOffset(int64_t row,
                                                  int64_t column) const {
  if (llvm::Error error = verify())
    return std::move(error);
  if (row < 0 || row >= rows)
    return createStringError("the row: expected 0 to " + Twine(rows - 1) +
                             ", but got " + Twine(row));
  if (column < 0 || column >= columns)
    return createStringError("the column: expected 0 to " + Twine(columns - 1) +
                             ", but got " + Twine(column));
  int64_t span = getSpanBytes(swizzle);
  int64_t bytes = column * elementBytes;
  int64_t offset = bytes / span * getPanelBytes() + row * span + bytes % span;
  return static_cast<int64_t>(
      applySwizzle(static_cast<uint64_t>(offset), swizzle));
}
