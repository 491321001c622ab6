// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Encoding/SmemDescriptor.h"
#include "llvm/ADT/Twine.h"

using namespace fa4;
using llvm::createStringError;
using llvm::Twine;

// The low bit of the constant 0b001 in bits 46-48 of a tcgen05 descriptor.
static constexpr unsigned versionBit = 46;
static constexpr unsigned baseOffsetLow = 49;

static uint64_t getSwizzleCode(Swizzle swizzle) {
  // As wgmma counts them, in bits 62-63; tcgen05 reads the same bits as the
  // upper two of a three-bit field.
  switch (swizzle) {
  case Swizzle::B128:
    return 1;
  case Swizzle::B64:
    return 2;
  case Swizzle::B32:
    return 3;
  case Swizzle::None:
    break;
  }
  return 0;
}

static llvm::Error checkOffset(const char *field, int64_t value) {
  // 14 bits of 16-byte units.
  if (value < 0 || value >= (int64_t(1) << 18) || value % 16 != 0)
    return createStringError(
        Twine("'") + field +
        "': expected a multiple of 16 from 0 to 262128 bytes, but got " +
        Twine(value));
  return llvm::Error::success();
}

llvm::Error SmemDescriptor::verify() const {
  if (llvm::Error error = checkOffset("startAddress", startAddress))
    return error;
  if (llvm::Error error = checkOffset("leadingByteOffset", leadingByteOffset))
    return error;
  if (llvm::Error error = checkOffset("strideByteOffset", strideByteOffset))
    return error;
  if (baseOffset < 0 || baseOffset > 7)
    return createStringError("'baseOffset': expected 0 to 7, but got " +
                             Twine(baseOffset));
  return llvm::Error::success();
}

llvm::Expected<uint64_t> SmemDescriptor::encode(MmaFlavour flavour) const {
  if (llvm::Error error = verify())
    return std::move(error);
  uint64_t bits = static_cast<uint64_t>(startAddress) >> 4;
  bits |= (static_cast<uint64_t>(leadingByteOffset) >> 4) << 16;
  bits |= (static_cast<uint64_t>(strideByteOffset) >> 4) << 32;
  bits |= static_cast<uint64_t>(baseOffset) << baseOffsetLow;
  bits |= getSwizzleCode(swizzle) << 62;
  if (flavour == MmaFlavour::Tcgen05)
    bits |= uint64_t(1) << versionBit;
  return bits;
}

llvm::Expected<SmemDescriptor> SmemDescriptor::decode(uint64_t bits,
                                                      MmaFlavour flavour) {
  bool tcgen05 = flavour == MmaFlavour::Tcgen05;
  const char *name = tcgen05 ? "tcgen05" : "wgmma";
  uint64_t version = (bits >> versionBit) & 7;
  uint64_t expected = tcgen05 ? 1 : 0;
  if (version != expected)
    return createStringError("bits 46-48 of a " + Twine(name) +
                             " matrix descriptor: expected " + Twine(expected) +
                             ", but got " + Twine(version));
  if (tcgen05 && (bits >> 52 & 1))
    return createStringError("bit 52 of a tcgen05 matrix descriptor: expected "
                             "0 (relative leading offset), but got 1");
  if (tcgen05 && (bits >> 61 & 1))
    return createStringError("'swizzle': expected code 0 (none), 2 (128B), 4 "
                             "(64B) or 6 (32B), but got code " +
                             Twine(bits >> 61));
  constexpr uint64_t known = 0xC00FFFFF3FFF3FFF;
  for (unsigned bit = 0; bit != 64; ++bit)
    if ((bits & ~known) >> bit & 1)
      return createStringError("bit " + Twine(bit) + " of a " + name +
                               " matrix descriptor: expected 0, but got 1");

  SmemDescriptor result;
  result.startAddress = static_cast<int64_t>((bits & 0x3FFF) << 4);
  result.leadingByteOffset = static_cast<int64_t>((bits >> 16 & 0x3FFF) << 4);
  result.strideByteOffset = static_cast<int64_t>((bits >> 32 & 0x3FFF) << 4);
  result.baseOffset = static_cast<int64_t>(bits >> baseOffsetLow & 7);
  for (Swizzle swizzle : allSwizzles)
    if (getSwizzleCode(swizzle) == bits >> 62)
      result.swizzle = swizzle;
  return result;
}

bool SmemDescriptor::operator==(const SmemDescriptor &other) const {
  return startAddress == other.startAddress &&
         leadingByteOffset == other.leadingByteOffset &&
         strideByteOffset == other.strideByteOffset &&
         baseOffset == other.baseOffset && swizzle == other.swizzle;
}
