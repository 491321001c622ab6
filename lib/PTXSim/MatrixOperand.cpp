// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixOperand.h"

#include "FloatFormat.h"
#include "TensorCopy.h"

using namespace ptxsim;

std::string ptxsim::decodeDescriptor(uint64_t bits, MatrixDescriptor &out) {
  auto field = [&](unsigned at, unsigned width) {
    return uint32_t(bits >> at & ((uint64_t(1) << width) - 1));
  };
  if (field(14, 2) || field(30, 2) || field(53, 8))
    return "reserved bits of the matrix descriptor are set";
  if (field(46, 3) != 1)
    return "bits 46 to 48 of the matrix descriptor are not 0b001";
  if (field(49, 3))
    return "matrix base offsets other than 0 are not supported";
  if (field(52, 1))
    return "the absolute leading-dimension mode is not of this target";
  out.start = field(0, 14) << 4;
  out.lbo = field(16, 14) << 4;
  out.sbo = field(32, 14) << 4;
  switch (field(61, 3)) {
  case 0:
    out.swizzle = Swizzle::None;
    break;
  case 1:
    out.swizzle = Swizzle::B128Atom32;
    break;
  case 2:
    out.swizzle = Swizzle::B128;
    break;
  case 4:
    out.swizzle = Swizzle::B64;
    break;
  case 6:
    out.swizzle = Swizzle::B32;
    break;
  default:
    return "swizzle code " + std::to_string(field(61, 3)) + " is invalid";
  }
  return "";
}

uint32_t ptxsim::chunkAddress(const MatrixDescriptor &d, bool kMajor,
                              unsigned mn, unsigned k) {
  unsigned span = d.swizzle == Swizzle::None  ? 16
                  : d.swizzle == Swizzle::B32 ? 32
                  : d.swizzle == Swizzle::B64 ? 64
                                              : 128;
  if (kMajor) {
    // Eight rows of one span each, groups of eight rows SBO apart. Without
    // swizzle a row is one chunk and the next chunk along K is LBO away.
    uint32_t row = d.start + mn / 8 * d.sbo + mn % 8 * span;
    return d.swizzle == Swizzle::None ? row + k / 8 * d.lbo : row + k / 8 * 16;
  }
  if (d.swizzle == Swizzle::None)
    return d.start + mn / 8 * d.sbo + k / 8 * d.lbo + k % 8 * 16;
  // One span along M or N a row, eight k-rows a group, panels LBO apart.
  unsigned width = span / 2;
  return d.start + mn / width * d.lbo + k / 8 * d.sbo + k % 8 * span +
         mn % width * 2;
}

bool ptxsim::readMatrix(Cta &cta, const Op &op, unsigned warp,
                        const MatrixDescriptor &d, bool kMajor, unsigned extent,
                        unsigned depth, bool bf16, const char *what,
                        float *values) {
  unsigned mnStep = kMajor ? 1 : 8, kStep = kMajor ? 8 : 1;
  for (unsigned mn = 0; mn < extent; mn += mnStep)
    for (unsigned k = 0; k < depth; k += kStep) {
      uint32_t a = swizzled(chunkAddress(d, kMajor, mn, k), d.swizzle);
      bool inside = cta.shared.contains(a, 16);
      auto state = inside ? cta.shared.query(a, 16) : SharedMemory::Uninit;
      if (state != SharedMemory::Init) {
        cta.fault(
            op, warp, inside ? "uninitialised" : "out-of-bounds",
            std::string("operand ") + what + " of tcgen05.mma at row " +
                std::to_string(mn) + ", k " + std::to_string(k) +
                " lies at shared address " + hexString(a) +
                " (dynamic shared + " +
                std::to_string(int64_t(a) - cta.program.dynamicSharedBase) +
                (!inside ? "), outside shared memory"
                 : state == SharedMemory::Barrier
                     ? "), which holds an mbarrier"
                     : "), which was never written"));
        return false;
      }
      if (!values)
        continue;
      const uint8_t *chunk = &cta.shared.bytes[a];
      for (unsigned i = 0; i < 8; ++i) {
        uint16_t u = uint16_t(chunk[2 * i] | chunk[2 * i + 1] << 8);
        unsigned row = kMajor ? mn : mn + i, column = kMajor ? k + i : k;
        values[row * depth + column] = bf16 ? decodeBF16(u) : decodeF16(u);
      }
    }
  return true;
}
