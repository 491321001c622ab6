// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Conversions between floating-point formats and correctly rounded arithmetic
// in every rounding direction.

#ifndef PTXSIM_LIB_FLOATFORMAT_H
#define PTXSIM_LIB_FLOATFORMAT_H

#include "Decoder.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ptxsim {

inline float bitsToFloat(uint32_t u) {
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
inline uint32_t floatToBits(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

/// The NaN that f32 instructions produce.
constexpr uint32_t kNaN32 = 0x7fffffff;
inline float canonical(float f) { return f != f ? bitsToFloat(kNaN32) : f; }
inline float flush(float f) {
  uint32_t u = floatToBits(f);
  return (u & 0x7f800000) == 0 ? bitsToFloat(u & 0x80000000) : f;
}

/// Modifiers of f32 arithmetic, and what they do to sources and results.
enum ArithFlags : uint32_t { kFtz = 1, kSat = 2 };

inline float takeInput(float f, bool ftz) { return ftz ? flush(f) : f; }
inline float giveResult(float f, uint32_t flags) {
  f = canonical(f);
  if (flags & kFtz)
    f = flush(f);
  if (flags & kSat) // NaN becomes +0
    f = f != f ? 0.0f : f < 0 ? 0.0f : f > 1 ? 1.0f : f == 0 ? 0.0f : f;
  return f;
}

/// A binary format with an implicit leading bit: f16 (5, 10), bf16 (8, 7),
/// f32 (8, 23), tf32 (8, 10), f64 (11, 52).
struct FloatFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
};
constexpr FloatFormat kF16{5, 10}, kBF16{8, 7}, kF32{8, 23}, kF64{11, 52};

/// Bits of \p value rounded to \p format. NaN becomes the all-ones pattern
/// with a clear sign.
uint32_t encode(double value, FloatFormat format, Round round,
                bool satfinite = false);

float decodeF16(uint16_t bits);
inline float decodeBF16(uint16_t bits) {
  return bitsToFloat(uint32_t(bits) << 16);
}

/// f32 to f16 and bf16, round to nearest even.
uint16_t encodeF16(float value);
uint16_t encodeBF16(float value);

/// x + y and a * b + c of f32 values, rounded to odd in double: rounding that
/// once more to a shorter format is correct in any direction.
double addToOdd(double x, double y);
double fmaToOdd(double a, double b, double c);
/// Sum and product in f32 with one rounding. A zero sum of opposite terms is
/// negative only when rounding down.
float addRounded(float a, float b, Round round);
float mulRounded(float a, float b, Round round);
float fmaRounded(float a, float b, float c, Round round);

} // namespace ptxsim

#endif // PTXSIM_LIB_FLOATFORMAT_H
