// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// IEEE arithmetic rounds as the host's rounding mode says. This file is
// compiled so that the compiler moves nothing across a change of the mode.

#include "DoubleOps.h"

#include <cfenv>
#include <cmath>

using namespace ptxsim;

namespace {

class RoundingMode {
public:
  explicit RoundingMode(Round round) : before(std::fegetround()) {
    std::fesetround(round == Round::RZ   ? FE_TOWARDZERO
                    : round == Round::RM ? FE_DOWNWARD
                    : round == Round::RP ? FE_UPWARD
                                         : FE_TONEAREST);
  }
  ~RoundingMode() { std::fesetround(before); }

private:
  int before;
};

} // namespace

double ptxsim::roundedDouble(DoubleOp what, double x, double y, double z,
                             Round round) {
  volatile double a = x, b = y, c = z, r = 0;
  RoundingMode mode(round);
  switch (what) {
  case DoubleOp::Add:
    r = a + b;
    break;
  case DoubleOp::Sub:
    r = a - b;
    break;
  case DoubleOp::Mul:
    r = a * b;
    break;
  case DoubleOp::Fma:
    r = std::fma(a, b, c);
    break;
  case DoubleOp::Div:
    r = a / b;
    break;
  case DoubleOp::Sqrt:
    r = std::sqrt(a);
    break;
  case DoubleOp::Rcp:
    r = 1.0 / a;
    break;
  }
  return r;
}

double ptxsim::integerToDouble(uint64_t v, bool isSignedInt, Round round) {
  volatile uint64_t u = v;
  volatile double r;
  RoundingMode mode(round);
  // Both halves are exact, so that the sum rounds once.
  volatile double high = isSignedInt ? double(int32_t(int64_t(u) >> 32))
                                     : double(uint32_t(u >> 32));
  volatile double scaled = high * 4294967296.0, low = double(uint32_t(u));
  r = scaled + low;
  return r;
}

Step ptxsim::execDouble(Warp &w, const Op &op, uint32_t mask) {
  DoubleOp what = DoubleOp(op.imm);
  const double *a = w.reg<double>(op.a);
  const double *b = op.b == kNone ? a : w.reg<double>(op.b);
  const double *c = op.c == kNone ? a : w.reg<double>(op.c);
  double *d = w.reg<double>(op.d);
  forLanes(mask, [&](unsigned i) {
    d[i] = roundedDouble(what, a[i], b[i], c[i], Round(op.aux2));
  });
  return Step::Next;
}
