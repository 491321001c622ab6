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

std::string ptxsim::decodeWgmmaDescriptor(uint64_t bits,
                                          MatrixDescriptor &out) {
  auto field = [&](unsigned at, unsigned width) {
    return uint32_t(bits >> at & ((uint64_t(1) << width) - 1));
  };
  if (field(14, 2) || field(30, 2) || field(46, 3) || field(52, 10))
    return "reserved bits of the matrix descriptor are set";
  if (field(49, 3))
    return "matrix base offsets other than 0 are not supported";
  out.start = field(0, 14) << 4;
  out.lbo = field(16, 14) << 4;
  out.sbo = field(32, 14) << 4;
  static constexpr Swizzle kSwizzles[] = {Swizzle::None, Swizzle::B128,
                                          Swizzle::B64, Swizzle::B32};
  out.swizzle = kSwizzles[field(62, 2)];
  return "";
}

uint32_t ptxsim::chunkAddress(const MatrixDescriptor &d, bool kMajor,
                              unsigned mn, unsigned k, unsigned per) {
  unsigned span = d.swizzle == Swizzle::None  ? 16
                  : d.swizzle == Swizzle::B32 ? 32
                  : d.swizzle == Swizzle::B64 ? 64
                                              : 128;
  if (kMajor) {
    // Eight rows of one span each, groups of eight rows SBO apart. Without
    // swizzle a row is one chunk and the next chunk along K is LBO away.
    uint32_t row = d.start + mn / 8 * d.sbo + mn % 8 * span;
    return row + k / per * (d.swizzle == Swizzle::None ? d.lbo : 16);
  }
  if (d.swizzle == Swizzle::None)
    return d.start + mn / per * d.sbo + k / 8 * d.lbo + k % 8 * 16;
  // One span along M or N a row, eight k-rows a group, panels LBO apart.
  unsigned width = span / 16 * per;
  return d.start + mn / width * d.lbo + k / 8 * d.sbo + k % 8 * span +
         mn % width / per * 16;
}

bool ptxsim::checkChunk(Cta &cta, const Op &op, unsigned warp, uint32_t address,
                        const std::string &what) {
  bool inside = cta.shared.contains(address, 16);
  auto state = inside ? cta.shared.query(address, 16) : SharedMemory::Uninit;
  if (state == SharedMemory::Init)
    return true;
  cta.fault(
      op, warp, inside ? "uninitialised" : "out-of-bounds",
      what + " lies at shared address " + cta.program.sharedText(address) +
          (!inside                          ? ", outside shared memory"
           : state == SharedMemory::Barrier ? ", which holds an mbarrier"
                                            : ", which was never written"));
  return false;
}

static std::string mmaName(const Cta &cta, const Op &op) {
  const Instr *in = cta.program.source[size_t(&op - cta.program.ops.data())];
  return in->parts[0] + "." + in->parts[1];
}

bool ptxsim::readMatrix(Cta &cta, const Op &op, unsigned warp,
                        const MatrixDescriptor &d, bool kMajor, unsigned extent,
                        unsigned depth, Element element, const char *what,
                        float *values) {
  const unsigned per = perChunk(element);
  for (unsigned mn = 0; mn < extent; mn += kMajor ? 1 : per)
    for (unsigned k = 0; k < depth; k += kMajor ? per : 1) {
      uint32_t a = swizzled(chunkAddress(d, kMajor, mn, k, per), d.swizzle);
      bool ready = cta.shared.contains(a, 16) &&
                   cta.shared.query(a, 16) == SharedMemory::Init;
      if (!ready)
        return checkChunk(cta, op, warp, a,
                          std::string("operand ") + what + " of " +
                              mmaName(cta, op) + " at row " +
                              std::to_string(mn) + ", k " + std::to_string(k));
      if (!values)
        continue;
      const uint8_t *chunk = &cta.shared.bytes[a];
      if (kMajor && element == Element::F16) { // the common case
        for (unsigned i = 0; i < 8; ++i)
          values[mn * depth + k + i] =
              decodeF16(uint16_t(chunk[2 * i] | chunk[2 * i + 1] << 8));
        continue;
      }
      for (unsigned i = 0; i < per; ++i) {
        unsigned row = kMajor ? mn : mn + i, column = kMajor ? k + i : k;
        values[row * depth + column] = chunkElement(element, chunk, i);
      }
    }
  return true;
}
