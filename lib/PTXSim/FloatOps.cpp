// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Floating-point arithmetic: f32 and packed f32x2 in every rounding mode,
// f64, half precision, and the approximate functions.

#include "DoubleOps.h"
#include "FloatFormat.h"
#include "Lanewise.h"

using namespace ptxsim;

namespace {

// f32 and f32x2. A 64-bit register of 32 lanes is 64 floats in a row, so the
// packed form is the same loop over twice as many values.

struct AddF {
  static float apply(float a, float b, float) { return a + b; }
};
struct SubF {
  static float apply(float a, float b, float) { return a - b; }
};
struct MulF {
  static float apply(float a, float b, float) { return a * b; }
};

template <class F, bool Ftz>
void nearestLoop(float *d, const float *a, const float *b, unsigned n) {
  PTXSIM_VECTOR_LOOP
  for (unsigned i = 0; i < n; ++i) {
    float x = Ftz ? flush(a[i]) : a[i], y = Ftz ? flush(b[i]) : b[i];
    float r = canonical(F::apply(x, y, 0));
    d[i] = Ftz ? flush(r) : r;
  }
}

#if defined(__x86_64__) && defined(__clang__)
#define PTXSIM_CLONES                                                          \
  __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define PTXSIM_CLONES
#endif

// std::fma rounds once with or without the instruction; the clone only makes
// it fast.
PTXSIM_CLONES void fmaLoop(float *d, const float *a, const float *b,
                           const float *c, unsigned n) {
  PTXSIM_VECTOR_LOOP
  for (unsigned i = 0; i < n; ++i)
    d[i] = canonical(__builtin_fmaf(a[i], b[i], c[i]));
}
PTXSIM_CLONES void fmaFtzLoop(float *d, const float *a, const float *b,
                              const float *c, unsigned n) {
  PTXSIM_VECTOR_LOOP
  for (unsigned i = 0; i < n; ++i)
    d[i] =
        flush(canonical(__builtin_fmaf(flush(a[i]), flush(b[i]), flush(c[i]))));
}

float arith(FloatOp what, float a, float b, float c, Round round) {
  if (what == FloatOp::Sub)
    b = -b;
  if (round == Round::RN) {
    switch (what) {
    case FloatOp::Mul:
      return a * b;
    case FloatOp::Fma:
      return std::fma(a, b, c);
    default:
      return a + b;
    }
  }
  switch (what) {
  case FloatOp::Mul:
    return mulRounded(a, b, round);
  case FloatOp::Fma:
    return fmaRounded(a, b, c, round);
  default:
    return addRounded(a, b, round);
  }
}

// One value: the general case. aux: flags, aux2: round, aux3: values a lane.
template <FloatOp What> Step execArith(Warp &w, const Op &op, uint32_t mask) {
  unsigned per = op.aux3;
  float *d = w.reg<float>(op.d);
  const float *a = w.reg<float>(op.a), *b = w.reg<float>(op.b);
  const float *c = What == FloatOp::Fma ? w.reg<float>(op.c) : a;
  Round round = Round(op.aux2);
  bool ftz = op.aux & kFtz;
  if (mask == ~0u && round == Round::RN && !(op.aux & kSat)) {
    unsigned n = 32 * per;
    if (What == FloatOp::Fma)
      (ftz ? fmaFtzLoop : fmaLoop)(d, a, b, c, n);
    else if (What == FloatOp::Add)
      (ftz ? nearestLoop<AddF, true> : nearestLoop<AddF, false>)(d, a, b, n);
    else if (What == FloatOp::Sub)
      (ftz ? nearestLoop<SubF, true> : nearestLoop<SubF, false>)(d, a, b, n);
    else
      (ftz ? nearestLoop<MulF, true> : nearestLoop<MulF, false>)(d, a, b, n);
    return Step::Next;
  }
  forLanes(mask, [&](unsigned lane) {
    for (unsigned i = lane * per; i < (lane + 1) * per; ++i)
      d[i] = giveResult(arith(What, takeInput(a[i], ftz), takeInput(b[i], ftz),
                              takeInput(c[i], ftz), round),
                        op.aux);
  });
  return Step::Next;
}

// f64, round to nearest.
struct AddD {
  static double apply(double a, double b) { return a + b; }
};
struct SubD {
  static double apply(double a, double b) { return a - b; }
};
struct MulD {
  static double apply(double a, double b) { return a * b; }
};
struct FmaD {
  static double apply(double a, double b, double c) {
    return std::fma(a, b, c);
  }
};
struct MinD {
  static double apply(double a, double b) {
    if (a == b)
      return std::signbit(a) ? a : b;
    return std::isnan(a) ? b : std::isnan(b) || a < b ? a : b;
  }
};
struct MaxD {
  static double apply(double a, double b) {
    if (a == b)
      return std::signbit(a) ? b : a;
    return std::isnan(a) ? b : std::isnan(b) || a > b ? a : b;
  }
};

// Minimum and maximum of two or three f32 values.
enum MinMaxFlags : uint32_t { kNaN = 4, kXorSign = 8, kAbs = 16 };

float minMax(float a, float b, bool max, uint32_t flags) {
  if (a != a || b != b) {
    if (flags & kNaN || (a != a && b != b))
      return bitsToFloat(kNaN32);
    return a != a ? b : a;
  }
  if (a == b) // +0 is greater than -0
    return std::signbit(a) == max ? b : a;
  return (a > b) == max ? a : b;
}

template <bool Max> Step execMinMax(Warp &w, const Op &op, uint32_t mask) {
  float *d = w.reg<float>(op.d);
  const float *a = w.reg<float>(op.a), *b = w.reg<float>(op.b);
  const float *c = op.c == kNone ? nullptr : w.reg<float>(op.c);
  bool ftz = op.aux & kFtz;
  forLanes(mask, [&](unsigned i) {
    float x = takeInput(a[i], ftz), y = takeInput(b[i], ftz);
    uint32_t sign = 0;
    if (op.aux & (kXorSign | kAbs)) {
      sign = floatToBits(x) ^ floatToBits(y);
      x = std::fabs(x);
      y = std::fabs(y);
    }
    float r = minMax(x, y, Max, op.aux);
    if (c) {
      float z = takeInput(c[i], ftz);
      if (op.aux & (kXorSign | kAbs)) {
        sign ^= floatToBits(z);
        z = std::fabs(z);
      }
      r = minMax(r, z, Max, op.aux);
    }
    if (op.aux & kXorSign && r == r) // NaN has no sign
      r = bitsToFloat((floatToBits(r) & 0x7fffffff) | (sign & 0x80000000));
    d[i] = r;
  });
  return Step::Next;
}

constexpr float kSmallestF16 = 6.103515625e-5f; // of the normal ones, 2^-14

// Sums and products of half-precision and f32 values in f32. a (and b of an
// fma) are half precision. aux: flags, aux2: round, aux3: FloatOp, imm: bf16.
Step execMixed(Warp &w, const Op &op, uint32_t mask) {
  auto half = [&](uint32_t reg, unsigned i) {
    uint16_t u = w.reg<uint16_t>(reg)[i];
    return op.imm ? decodeBF16(u) : decodeF16(u);
  };
  FloatOp what = FloatOp(op.aux3);
  forLanes(mask, [&](unsigned i) {
    float a = half(op.a, i);
    float b = what == FloatOp::Fma ? half(op.b, i) : w.reg<float>(op.b)[i];
    float c = what == FloatOp::Fma ? w.reg<float>(op.c)[i] : 0.0f;
    w.reg<float>(op.d)[i] =
        giveResult(arith(what, a, b, c, Round(op.aux2)), op.aux);
  });
  return Step::Next;
}

bool decodeMixed(Decoder &d, FloatOp what, Round round, bool bf16) {
  if (what != FloatOp::Add && what != FloatOp::Sub && what != FloatOp::Fma)
    return d.fail("no mixed precision here");
  Type half = bf16 ? Type::BF16 : Type::F16;
  bool fma = what == FloatOp::Fma;
  if (!d.expectOps(fma ? 4 : 3))
    return false;
  d.op.d = d.dst(d.operand(0), Type::F32);
  d.op.a = d.src(d.operand(1), half);
  d.op.b = d.src(d.operand(2), fma ? half : Type::F32);
  if (fma)
    d.op.c = d.src(d.operand(3), Type::F32);
  d.op.aux2 = unsigned(round);
  d.op.aux3 = unsigned(what);
  d.op.imm = bf16;
  d.op.fn = execMixed;
  return d.ok();
}

// The NaN with which a tensor load fills elements outside the tensor, and
// which makes the result of an '.oob' instruction zero, whatever its sign.
constexpr uint16_t kOutside = 0x7ff7;
bool isOutside(uint16_t u) { return (u & 0x7fff) == kOutside; }
enum HalfFlags : uint32_t { kRelu = 32, kOutOfBounds = 64 };

// Half precision: aux2 holds the operation, imm 1 for bf16, aux3 the number
// of values a lane.
Step execHalf(Warp &w, const Op &op, uint32_t mask) {
  unsigned per = op.aux3;
  bool bf = op.imm;
  uint16_t *d = w.reg<uint16_t>(op.d);
  const uint16_t *a = w.reg<uint16_t>(op.a);
  const uint16_t *b = op.b == kNone ? a : w.reg<uint16_t>(op.b);
  const uint16_t *c = op.c == kNone ? a : w.reg<uint16_t>(op.c);
  FloatFormat format = bf ? kBF16 : kF16;
  FloatOp what = FloatOp(op.aux2);
  auto get = [&](uint16_t u) {
    float f = bf ? decodeBF16(u) : decodeF16(u);
    if (op.aux & kFtz && std::fabs(f) < kSmallestF16 && !bf)
      return std::copysign(0.0f, f);
    return f;
  };
  forLanes(mask, [&](unsigned lane) {
    for (unsigned i = lane * per; i < (lane + 1) * per; ++i) {
      float x = get(a[i]), y = get(b[i]), z = get(c[i]);
      double r;
      switch (what) {
      case FloatOp::Add:
        r = addToOdd(x, y);
        break;
      case FloatOp::Sub:
        r = addToOdd(x, -y);
        break;
      case FloatOp::Mul:
        r = double(x) * double(y);
        break;
      case FloatOp::Fma:
        r = fmaToOdd(x, y, z);
        if (r == 0)
          r = std::fma(x, y, z);
        break;
      case FloatOp::Neg:
        r = -x;
        break;
      case FloatOp::Abs:
        r = std::fabs(x);
        break;
      default:
        if (op.aux & kXorSign) {
          r = minMax(std::fabs(x), std::fabs(y), what == FloatOp::Max, op.aux);
          if (r == r)
            r = std::signbit(x) != std::signbit(y) ? -r : r;
        } else {
          r = minMax(x, y, what == FloatOp::Max, op.aux);
        }
        break;
      }
      if (op.aux & kOutOfBounds && (isOutside(a[i]) || isOutside(b[i])))
        r = 0;
      if (op.aux & kRelu && r <= 0)
        r = 0;
      uint16_t u = uint16_t(encode(r, format, Round::RN));
      if (op.aux & kSat && !(r > 0)) // NaN and -0 too
        u = 0;
      else if (op.aux & kSat && r > 1)
        u = bf ? 0x3f80 : 0x3c00;
      // What is tiny before rounding is flushed, even if it would round up to
      // the smallest normal number.
      if (op.aux & kFtz && !bf && std::fabs(r) < kSmallestF16)
        u &= 0x8000;
      d[i] = u;
    }
  });
  return Step::Next;
}

template <bool Neg> struct SignF {
  static uint32_t apply(uint32_t u) {
    uint32_t magnitude = u & 0x7fffffffu;
    return magnitude > 0x7f800000u ? kNaN32 : Neg ? u ^ 0x80000000u : magnitude;
  }
};
template <bool Neg> struct SignFtzF {
  static uint32_t apply(uint32_t u) {
    return SignF<Neg>::apply(floatToBits(flush(bitsToFloat(u))));
  }
};
template <bool Neg> struct SignD {
  static uint64_t apply(uint64_t u) {
    constexpr uint64_t sign = uint64_t(1) << 63;
    return Neg ? u ^ sign : u & ~sign;
  }
};

} // namespace

bool ptxsim::decodeFloatArithmetic(Decoder &d, Type type, FloatOp what) {
  Round round = d.takeRounding();
  if (d.take("ftz"))
    d.op.aux |= kFtz;
  if (d.take("sat"))
    d.op.aux |= kSat;
  unsigned sources = what == FloatOp::Fma                           ? 3
                     : what == FloatOp::Neg || what == FloatOp::Abs ? 1
                                                                    : 2;
  bool minMaxOp = what == FloatOp::Min || what == FloatOp::Max;
  bool signOp = sources == 1;
  if (minMaxOp) {
    if (d.take("NaN"))
      d.op.aux |= kNaN;
    if (d.take("xorsign")) {
      if (!d.take("abs"))
        return false;
      d.op.aux |= kXorSign;
    }
    if (type == Type::F32 && d.numOps() == 4) {
      sources = 3;
      if (d.take("abs"))
        d.op.aux |= kAbs;
    }
  }
  bool half = type == Type::F16 || type == Type::F16x2 || type == Type::BF16 ||
              type == Type::BF16x2;
  if (what == FloatOp::Fma && half) {
    if (d.take("oob"))
      d.op.aux |= kOutOfBounds;
    if (d.take("relu"))
      d.op.aux |= kRelu;
  }
  if ((minMaxOp || signOp) && round != Round::None)
    return d.fail("no rounding mode is allowed here");
  if (round == Round::None)
    round = Round::RN;
  if (round > Round::RP)
    return d.fail("this rounding mode is not allowed here");
  if (type == Type::F32)
    for (bool bf16 : {false, true})
      if (d.take(bf16 ? "bf16" : "f16"))
        return decodeMixed(d, what, round, bf16);
  d.op.aux2 = unsigned(round);
  switch (type) {
  case Type::F32:
  case Type::F32x2:
    d.op.aux3 = type == Type::F32 ? 1 : 2;
    if (minMaxOp || signOp) {
      if (type == Type::F32x2)
        return false;
      bool ftz = d.op.aux & kFtz, neg = what == FloatOp::Neg;
      if (minMaxOp)
        d.op.fn = what == FloatOp::Max ? execMinMax<true> : execMinMax<false>;
      else if (ftz)
        d.op.fn = neg ? unary<uint32_t, uint32_t, SignFtzF<true>>
                      : unary<uint32_t, uint32_t, SignFtzF<false>>;
      else
        d.op.fn = neg ? unary<uint32_t, uint32_t, SignF<true>>
                      : unary<uint32_t, uint32_t, SignF<false>>;
      break;
    }
    d.op.fn = what == FloatOp::Add   ? execArith<FloatOp::Add>
              : what == FloatOp::Sub ? execArith<FloatOp::Sub>
              : what == FloatOp::Mul ? execArith<FloatOp::Mul>
                                     : execArith<FloatOp::Fma>;
    break;
  case Type::F64:
    if (d.op.aux)
      return d.fail("this modifier does not go with f64");
    if (round != Round::RN) {
      d.op.imm = int64_t(what == FloatOp::Add   ? DoubleOp::Add
                         : what == FloatOp::Sub ? DoubleOp::Sub
                         : what == FloatOp::Mul ? DoubleOp::Mul
                                                : DoubleOp::Fma);
      d.op.fn = execDouble;
      break;
    }
    switch (what) {
    case FloatOp::Add:
      d.op.fn = binary<double, double, double, AddD>;
      break;
    case FloatOp::Sub:
      d.op.fn = binary<double, double, double, SubD>;
      break;
    case FloatOp::Mul:
      d.op.fn = binary<double, double, double, MulD>;
      break;
    case FloatOp::Fma:
      d.op.fn = ternary<double, double, double, double, FmaD>;
      break;
    case FloatOp::Min:
      d.op.fn = binary<double, double, double, MinD>;
      break;
    case FloatOp::Max:
      d.op.fn = binary<double, double, double, MaxD>;
      break;
    case FloatOp::Neg:
      d.op.fn = unary<uint64_t, uint64_t, SignD<true>>;
      break;
    case FloatOp::Abs:
      d.op.fn = unary<uint64_t, uint64_t, SignD<false>>;
      break;
    }
    break;
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
    if (round != Round::RN)
      return d.fail("half-precision arithmetic rounds to nearest");
    d.op.fn = execHalf;
    d.op.imm = type == Type::BF16 || type == Type::BF16x2;
    d.op.aux2 = unsigned(what);
    d.op.aux3 = bitWidth(type) / 16;
    break;
  default:
    return false;
  }
  return takeOperands(d, type, sources);
}
