// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tcgen05Shapes.h"

using namespace ptxsim;

bool ptxsim::tmemShapeByName(const std::string &name, TmemShape &shape) {
  static constexpr const char *kNames[] = {"16x64b", "16x128b", "16x256b",
                                           "32x32b", "16x32bx2"};
  for (unsigned i = 0; i < 5; ++i)
    if (name == kNames[i]) {
      shape = TmemShape(i);
      return true;
    }
  return false;
}

unsigned ptxsim::tmemRegisters(TmemShape shape) {
  return shape == TmemShape::k16x128b   ? 2
         : shape == TmemShape::k16x256b ? 4
                                        : 1;
}

unsigned ptxsim::tmemColumns(TmemShape shape, unsigned registers) {
  bool narrow = shape == TmemShape::k32x32b || shape == TmemShape::k16x32bx2;
  return narrow ? registers : 2 * registers;
}

TmemPlace ptxsim::tmemPlace(TmemShape shape, unsigned t, unsigned r) {
  switch (shape) {
  case TmemShape::k16x64b: // a pair of threads holds lanes 8 apart
    return {t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * r, 0};
  case TmemShape::k16x128b:
    return {t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2), 0};
  case TmemShape::k16x256b:
    return {t / 4 + 8 * (r / 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r / 4), 0};
  case TmemShape::k32x32b:
    return {t, r, 0};
  case TmemShape::k16x32bx2:
    return {t % 16, r, t / 16};
  }
  return {0, 0, 0};
}
