// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatFormat.h"

#include <limits>

using namespace ptxsim;

uint32_t ptxsim::encode(double value, FloatFormat format, Round round,
                        bool satfinite) {
  const unsigned m = format.mantissaBits, e = format.exponentBits;
  const uint32_t infinity = ((1u << e) - 1) << m, largest = infinity - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (e + m) : 0;
  if (std::isnan(value))
    return (1u << (e + m)) - 1;
  if (std::isinf(value))
    return sign | (satfinite ? largest : infinity);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return sign;
  const int minExponent = 2 - (1 << (e - 1));
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, minExponent);
  double scaled = std::ldexp(magnitude, int(m) - exponent);
  double whole = std::floor(scaled), rest = scaled - whole;
  uint64_t q = uint64_t(whole);
  bool up = false;
  switch (round) {
  case Round::RZ:
    break;
  case Round::RM:
    up = sign && rest > 0;
    break;
  case Round::RP:
    up = !sign && rest > 0;
    break;
  case Round::RNA:
    up = rest >= 0.5;
    break;
  default:
    up = rest > 0.5 || (rest == 0.5 && (q & 1));
    break;
  }
  q += up;
  uint64_t bits = (uint64_t(exponent - minExponent) << m) + q;
  if (bits < infinity)
    return sign | uint32_t(bits);
  bool toInfinity = round == Round::RM   ? sign != 0
                    : round == Round::RP ? sign == 0
                                         : round != Round::RZ;
  return sign | (toInfinity && !satfinite ? infinity : largest);
}

float ptxsim::decodeF16(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 0x1f,
           mantissa = bits & 0x3ff;
  if (exponent == 31)
    return bitsToFloat(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    float f = float(mantissa) * 5.9604644775390625e-8f; // 2^-24
    return bitsToFloat(sign | floatToBits(f));
  }
  return bitsToFloat(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t ptxsim::encodeF16(float value) {
  uint32_t u = floatToBits(value), sign = u >> 16 & 0x8000;
  u &= 0x7fffffff;
  if (u > 0x7f800000)
    return 0x7fff;
  if (u >= 0x47800000) // 2^16 and above
    return uint16_t(sign | 0x7c00);
  if (u < 0x38800000) { // below 2^-14: adding 0.5 aligns the mantissa
    float f = bitsToFloat(u) + 0.5f;
    return uint16_t(sign | (floatToBits(f) - 0x3f000000));
  }
  u += 0xfff + (u >> 13 & 1);
  return uint16_t(sign | (u - 0x38000000) >> 13);
}

uint16_t ptxsim::encodeBF16(float value) {
  uint32_t u = floatToBits(value);
  if ((u & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// Knuth's two-sum gives the rounding error exactly; a nonzero error makes the
// last bit sticky.
static double stickyBit(double sum, double error) {
  if (error == 0 || !std::isfinite(sum))
    return sum;
  int64_t bits;
  std::memcpy(&bits, &sum, 8);
  if ((error > 0) != (sum > 0) && sum != 0)
    --bits; // sum is farther from zero than the exact value
  bits |= 1;
  std::memcpy(&sum, &bits, 8);
  return sum;
}

double ptxsim::addToOdd(double x, double y) {
  double s = x + y;
  double t = s - x;
  double error = (x - (s - t)) + (y - t);
  return stickyBit(s, error);
}

double ptxsim::fmaToOdd(double a, double b, double c) {
  return addToOdd(a * b, c); // the product of two f32 values is exact
}

static float finish(double odd, bool negativeZero, Round round) {
  if (odd == 0)
    return negativeZero ? -0.0f : 0.0f;
  return bitsToFloat(encode(odd, kF32, round));
}

static bool zeroSign(bool x, bool y, Round round) {
  return x == y ? x : round == Round::RM;
}

float ptxsim::addRounded(float a, float b, Round round) {
  return finish(addToOdd(a, b),
                zeroSign(std::signbit(a), std::signbit(b), round), round);
}

float ptxsim::mulRounded(float a, float b, Round round) {
  return finish(double(a) * double(b), std::signbit(a) != std::signbit(b),
                round);
}

float ptxsim::fmaRounded(float a, float b, float c, Round round) {
  return finish(
      fmaToOdd(a, b, c),
      zeroSign(std::signbit(a) != std::signbit(b), std::signbit(c), round),
      round);
}
