// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Element types of matrix operands and how they lie in memory.

#ifndef PTXSIM_LIB_MATRIXELEMENT_H
#define PTXSIM_LIB_MATRIXELEMENT_H

#include "FloatFormat.h"

namespace ptxsim {

enum class Element : uint8_t {
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  E2M3,
  E3M2,
  E2M1,
};

/// Elements in 16 bytes of shared memory. Formats of six and four bits fill
/// the first 12 and 8 bytes of 16 elements; the rest is padding.
constexpr unsigned perChunk(Element e) {
  return e == Element::TF32 ? 4 : e <= Element::BF16 ? 8 : 16;
}

/// The value of an 8-, 6- or 4-bit code. E4M3 has no infinity, the shorter
/// formats have neither infinity nor NaN.
float decodeSmall(Element e, uint8_t code);

/// Code of \p value, round to nearest even, saturating to the largest finite
/// value; NaN where the format has one, else the largest positive value.
uint8_t encodeSmall(Element e, float value);

/// Element i of a chunk of 16 bytes in shared memory.
float chunkElement(Element e, const uint8_t *chunk, unsigned i);

/// Element i of 32 bytes in TMEM, where short codes lie one a byte: those of
/// six bits in bits 0 to 5, those of four in bits 2 to 5.
float containerElement(Element e, const uint8_t *bytes, unsigned i);

} // namespace ptxsim

#endif // PTXSIM_LIB_MATRIXELEMENT_H
