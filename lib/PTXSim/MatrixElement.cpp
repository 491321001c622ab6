// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixElement.h"

#include <limits>

using namespace ptxsim;

namespace {

struct Small {
  unsigned exponentBits, mantissaBits;
  int bias;
};

Small formatOf(Element e) {
  switch (e) {
  case Element::E4M3:
    return {4, 3, 7};
  case Element::E5M2:
    return {5, 2, 15};
  case Element::E2M3:
    return {2, 3, 1};
  case Element::E3M2:
    return {3, 2, 3};
  default:
    return {2, 1, 1};
  }
}

uint16_t load16(const uint8_t *p) { return uint16_t(p[0] | p[1] << 8); }

float loadTF32(const uint8_t *p) {
  // The tensor core ignores the mantissa bits that tf32 has not.
  uint32_t u = uint32_t(load16(p)) | uint32_t(load16(p + 2)) << 16;
  return bitsToFloat(u & 0xffffe000u);
}

} // namespace

float ptxsim::decodeSmall(Element e, uint8_t code) {
  Small f = formatOf(e);
  unsigned m = f.mantissaBits, width = f.exponentBits + m;
  unsigned exponent = code >> m & ((1u << f.exponentBits) - 1);
  unsigned mantissa = code & ((1u << m) - 1);
  bool negative = code >> width & 1;
  if (e == Element::E4M3 && (code & 0x7f) == 0x7f)
    return std::numeric_limits<float>::quiet_NaN();
  if (e == Element::E5M2 && exponent == 31) {
    float special = mantissa ? std::numeric_limits<float>::quiet_NaN()
                             : std::numeric_limits<float>::infinity();
    return negative ? -special : special;
  }
  float v = exponent == 0 ? std::ldexp(float(mantissa), 1 - f.bias - int(m))
                          : std::ldexp(float(mantissa + (1u << m)),
                                       int(exponent) - f.bias - int(m));
  return negative ? -v : v;
}

uint8_t ptxsim::encodeSmall(Element e, float value) {
  Small f = formatOf(e);
  unsigned m = f.mantissaBits, width = f.exponentBits + m;
  uint8_t sign = std::signbit(value) ? uint8_t(1u << width) : 0;
  // The largest finite code of each format.
  uint8_t largest = e == Element::E4M3   ? 0x7e
                    : e == Element::E5M2 ? 0x7b
                                         : uint8_t((1u << width) - 1);
  if (std::isnan(value))
    return e <= Element::E5M2 ? 0x7f : largest;
  double magnitude = std::fabs(double(value));
  if (magnitude >= decodeSmall(e, largest))
    return sign | largest;
  if (magnitude == 0)
    return sign;
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - f.bias);
  double scaled = std::ldexp(magnitude, int(m) - exponent);
  double whole = std::floor(scaled), rest = scaled - whole;
  unsigned q = unsigned(whole);
  q += rest > 0.5 || (rest == 0.5 && (q & 1));
  unsigned code = unsigned(exponent - (1 - f.bias)) * (1u << m) + q;
  return sign | uint8_t(std::min<unsigned>(code, largest));
}

float ptxsim::chunkElement(Element e, const uint8_t *chunk, unsigned i) {
  switch (e) {
  case Element::F16:
    return decodeF16(load16(chunk + 2 * i));
  case Element::BF16:
    return decodeBF16(load16(chunk + 2 * i));
  case Element::TF32:
    return loadTF32(chunk + 4 * i);
  case Element::E4M3:
  case Element::E5M2:
    return decodeSmall(e, chunk[i]);
  case Element::E2M3:
  case Element::E3M2: {
    unsigned bit = 6 * i;
    unsigned two = chunk[bit / 8] | (bit / 8 + 1 < 12 ? chunk[bit / 8 + 1] : 0u)
                                        << 8;
    return decodeSmall(e, uint8_t(two >> bit % 8 & 0x3f));
  }
  case Element::E2M1:
    return decodeSmall(e, uint8_t(chunk[i / 2] >> 4 * (i % 2) & 0xf));
  }
  return 0;
}

float ptxsim::containerElement(Element e, const uint8_t *bytes, unsigned i) {
  switch (e) {
  case Element::E2M3:
  case Element::E3M2:
    return decodeSmall(e, bytes[i] & 0x3f);
  case Element::E2M1:
    return decodeSmall(e, bytes[i] >> 2 & 0xf);
  default:
    return chunkElement(e, bytes, i);
  }
}
