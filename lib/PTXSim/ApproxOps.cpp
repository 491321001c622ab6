// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Division and the approximate functions.

#include "DoubleOps.h"
#include "FloatFormat.h"
#include "Lanewise.h"

using namespace ptxsim;

namespace {

// Approximate functions: computed in double and rounded once, which is within
// the bounds PTX states.
enum class Approx : uint8_t { Ex2, Lg2, Rcp, Rsqrt, Sqrt, Sin, Cos, Tanh };

double approximate(Approx f, double x) {
  switch (f) {
  case Approx::Ex2:
    return std::exp2(x);
  case Approx::Lg2:
    return std::log2(x);
  case Approx::Rcp:
    return 1 / x;
  case Approx::Rsqrt:
    return 1 / std::sqrt(x);
  case Approx::Sqrt:
    return std::sqrt(x);
  case Approx::Sin:
    return std::sin(x);
  case Approx::Cos:
    return std::cos(x);
  case Approx::Tanh:
    return std::tanh(x);
  }
  return 0;
}

template <Approx F> Step execApprox(Warp &w, const Op &op, uint32_t mask) {
  float *d = w.reg<float>(op.d);
  const float *a = w.reg<float>(op.a);
  bool ftz = op.aux & kFtz;
  forLanes(mask, [&](unsigned i) {
    float x = takeInput(a[i], ftz);
    // Correct rounding in another direction than to nearest (rcp.rz and so
    // on) starts from the double result.
    double r = approximate(F, x);
    float f = Round(op.aux2) == Round::RN
                  ? float(r)
                  : bitsToFloat(encode(r, kF32, Round(op.aux2)));
    d[i] = giveResult(f, op.aux & kFtz);
  });
  return Step::Next;
}

template <Approx F> struct ApproxD {
  static double apply(double x) { return approximate(F, x); }
};

/// rcp and rsqrt.approx.ftz.f64 read and write the upper 32 bits only, and
/// flush subnormals.
template <Approx F> struct ApproxHighD {
  static double high(double x) {
    uint64_t u;
    std::memcpy(&u, &x, 8);
    u &=
        (u & 0x7ff0000000000000) == 0 ? 0x8000000000000000 : 0xffffffff00000000;
    std::memcpy(&x, &u, 8);
    return x;
  }
  static double apply(double x) {
    double r = approximate(F, high(x));
    const uint64_t nan = 0x7fffffff00000000;
    if (r != r)
      std::memcpy(&r, &nan, 8);
    return high(r);
  }
};

Step execHalfApprox(Warp &w, const Op &op, uint32_t mask) {
  unsigned per = op.aux3;
  bool bf = op.imm;
  forLanes(mask, [&](unsigned lane) {
    for (unsigned i = lane * per; i < (lane + 1) * per; ++i) {
      uint16_t u = w.reg<uint16_t>(op.a)[i];
      float x = bf ? decodeBF16(u) : decodeF16(u);
      if (op.aux & kFtz)
        x = flush(x);
      uint16_t r = uint16_t(encode(approximate(Approx(op.aux2), x),
                                   bf ? kBF16 : kF16, Round::RN));
      if (op.aux & kFtz && (r & 0x7f80) == 0) // of bf16 only
        r &= 0x8000;
      w.reg<uint16_t>(op.d)[i] = r;
    }
  });
  return Step::Next;
}

template <Approx F> bool decodeApprox(Decoder &d) {
  bool approx = d.take("approx");
  Round round = d.takeRounding();
  if (d.take("ftz"))
    d.op.aux |= kFtz;
  Type t = d.takeType();
  if (approx == (round != Round::None))
    return d.fail("expected '.approx' or a rounding mode");
  if (!approx && F != Approx::Rcp && F != Approx::Sqrt)
    return false;
  d.op.aux2 = unsigned(approx ? Round::RN : round);
  if (t == Type::F32) {
    d.op.fn = execApprox<F>;
  } else if (t == Type::F64 && (round == Round::RN || approx)) {
    d.op.fn = approx && d.op.aux & kFtz ? unary<double, double, ApproxHighD<F>>
                                        : unary<double, double, ApproxD<F>>;
  } else if (t == Type::F64 && round <= Round::RP) {
    d.op.imm = int64_t(F == Approx::Rcp ? DoubleOp::Rcp : DoubleOp::Sqrt);
    d.op.fn = execDouble;
  } else if (F == Approx::Ex2 || F == Approx::Tanh) {
    d.op.aux2 = unsigned(F);
    d.op.imm = t == Type::BF16 || t == Type::BF16x2;
    d.op.aux3 = bitWidth(t) / 16;
    if (t == Type::F16 || t == Type::F16x2 || d.op.imm)
      d.op.fn = execHalfApprox;
  }
  return takeOperands(d, t, 1);
}

// Division: correctly rounded, or within the bounds of .approx and .full.
Step execDiv(Warp &w, const Op &op, uint32_t mask) {
  float *d = w.reg<float>(op.d);
  const float *a = w.reg<float>(op.a), *b = w.reg<float>(op.b);
  bool ftz = op.aux & kFtz;
  forLanes(mask, [&](unsigned i) {
    float x = takeInput(a[i], ftz), y = takeInput(b[i], ftz);
    // A quotient of f32 values is never as close to an f32 value as the double
    // result's error, unless it is that value.
    float r =
        Round(op.aux2) == Round::RN
            ? x / y
            : bitsToFloat(encode(double(x) / double(y), kF32, Round(op.aux2)));
    d[i] = giveResult(r, op.aux);
  });
  return Step::Next;
}
struct DivD {
  static double apply(double a, double b) { return a / b; }
};

} // namespace

namespace ptxsim {
bool decodeIntegerDiv(Decoder &d, Type t);
}

static bool decodeDiv(Decoder &d) {
  d.takeAny({"approx", "full"});
  Round round = d.takeRounding();
  if (d.take("ftz"))
    d.op.aux |= kFtz;
  Type t = d.takeType();
  if (!isFloat(t))
    return round == Round::None && !d.op.aux && decodeIntegerDiv(d, t);
  d.op.aux2 = unsigned(round == Round::None ? Round::RN : round);
  if (round > Round::RP)
    return d.fail("this rounding mode is not allowed here");
  d.op.fn = t == Type::F32   ? execDiv
            : t == Type::F64 ? binary<double, double, double, DivD>
                             : nullptr;
  if (t == Type::F64 && d.op.aux2 != unsigned(Round::RN)) {
    d.op.imm = int64_t(DoubleOp::Div);
    d.op.fn = execDouble;
  }
  return takeOperands(d, t, 2);
}

const DecodeEntry ptxsim::kFloatOps[] = {{"ex2", decodeApprox<Approx::Ex2>},
                                         {"lg2", decodeApprox<Approx::Lg2>},
                                         {"rcp", decodeApprox<Approx::Rcp>},
                                         {"sqrt", decodeApprox<Approx::Sqrt>},
                                         {"rsqrt", decodeApprox<Approx::Rsqrt>},
                                         {"sin", decodeApprox<Approx::Sin>},
                                         {"cos", decodeApprox<Approx::Cos>},
                                         {"tanh", decodeApprox<Approx::Tanh>},
                                         {"div", decodeDiv},
                                         {nullptr, nullptr}};
