// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small instructions: dot products of bytes, 24-bit products, sign extension,
// classes of floating-point values, cache hints.

#include "FloatFormat.h"
#include "Lanewise.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

using namespace ptxsim;

namespace {

// dp4a and dp2a: products of bytes, or of 16-bit values and bytes, summed.
// aux bit 0: a is signed, bit 1: b is signed, bit 2: dp2a, bit 3: .hi.
Step execDot(Warp &w, const Op &op, uint32_t mask) {
  bool two = op.aux & 4;
  forLanes(mask, [&](unsigned i) {
    uint32_t a = w.reg<uint32_t>(op.a)[i], b = w.reg<uint32_t>(op.b)[i],
             sum = w.reg<uint32_t>(op.c)[i];
    if (op.aux & 8)
      b >>= 16;
    for (unsigned k = 0; k < (two ? 2u : 4u); ++k) {
      uint32_t x = two ? a >> (16 * k) & 0xffff : a >> (8 * k) & 0xff,
               y = b >> (8 * k) & 0xff;
      if (op.aux & 1)
        x = two ? uint32_t(int32_t(int16_t(x))) : uint32_t(int32_t(int8_t(x)));
      if (op.aux & 2)
        y = uint32_t(int32_t(int8_t(y)));
      sum += x * y;
    }
    w.reg<uint32_t>(op.d)[i] = sum;
  });
  return Step::Next;
}

bool decodeDot(Decoder &d) {
  bool two = d.mnemonic() == "dp2a", hi = two && d.take("hi");
  if (two && !hi && !d.take("lo"))
    return d.fail("expected '.lo' or '.hi'");
  Type a = d.takeType(), b = d.takeType();
  auto word = [](Type t) { return t == Type::U32 || t == Type::S32; };
  if (!word(a) || !word(b))
    return d.fail("expected types u32 or s32");
  d.op.aux = unsigned(isSigned(a)) | isSigned(b) * 2 | two * 4 | hi * 8;
  d.op.fn = execDot;
  return takeOperands(d, Type::B32, 3);
}

// The low 24 bits of each factor; .lo is the low 32 bits of the product, .hi
// its bits 16 to 47.
template <class T, bool Hi> T mul24(T a, T b) {
  auto low = [](T v) {
    return std::is_signed_v<T> ? int64_t(int32_t(uint32_t(v) << 8) >> 8)
                               : int64_t(uint32_t(v) & 0xffffff);
  };
  return T((low(a) * low(b)) >> (Hi ? 16 : 0));
}

template <class T, bool Hi> struct Mul24 {
  static T apply(T a, T b) { return mul24<T, Hi>(a, b); }
};

template <class T, bool Hi, bool Sat> struct Mad24 {
  static T apply(T a, T b, T c) {
    T product = mul24<T, Hi>(a, b);
    if (!Sat)
      return T(uint32_t(product) + uint32_t(c));
    int64_t sum = int64_t(product) + int64_t(c);
    return T(std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
  }
};

template <class T, bool Hi> ExecFn pick24(bool mad, bool sat) {
  return !mad  ? binary<T, T, T, Mul24<T, Hi>>
         : sat ? ternary<T, T, T, T, Mad24<T, Hi, true>>
               : ternary<T, T, T, T, Mad24<T, Hi, false>>;
}

bool decodeMul24(Decoder &d) {
  bool lo = d.take("lo"), hi = d.take("hi"), mad = d.mnemonic() == "mad24";
  Type t = d.takeType();
  if (lo == hi || (t != Type::U32 && t != Type::S32))
    return false;
  bool sat = mad && hi && t == Type::S32 && d.take("sat");
  if (t == Type::S32)
    d.op.fn =
        hi ? pick24<int32_t, true>(mad, sat) : pick24<int32_t, false>(mad, sat);
  else
    d.op.fn = hi ? pick24<uint32_t, true>(mad, sat)
                 : pick24<uint32_t, false>(mad, sat);
  return takeOperands(d, t, mad ? 3 : 2);
}

// szext: the low b bits, extended. Clamped widths above 31 keep all.
Step execSzext(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned i) {
    uint32_t a = w.reg<uint32_t>(op.a)[i], n = w.reg<uint32_t>(op.b)[i];
    n = op.aux2 ? n & 31 : std::min(n, 32u);
    uint32_t r = n == 32 ? a : a & ((1u << n) - 1);
    if (op.aux && n && n < 32 && r >> (n - 1) & 1)
      r |= ~0u << n;
    w.reg<uint32_t>(op.d)[i] = r;
  });
  return Step::Next;
}

bool decodeSzext(Decoder &d) {
  d.op.aux2 = d.take("wrap");
  if (!d.op.aux2 && !d.take("clamp"))
    return false;
  Type t = d.takeType();
  if (t != Type::U32 && t != Type::S32)
    return false;
  d.op.aux = isSigned(t);
  d.op.fn = execSzext;
  return takeOperands(d, t, 2);
}

// fns: position of the n-th set bit from a base; n may be negative.
Step execFns(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned i) {
    uint32_t bits = w.reg<uint32_t>(op.a)[i], base = w.reg<uint32_t>(op.b)[i];
    int32_t n = w.reg<int32_t>(op.c)[i];
    uint32_t found = ~0u;
    if (base < 32) {
      int32_t step = n < 0 ? -1 : 1;
      int64_t left = n < 0 ? -int64_t(n) : n;
      if (n == 0)
        found = bits >> base & 1 ? base : ~0u;
      for (int32_t at = int32_t(base); left && at >= 0 && at < 32; at += step)
        if (bits >> at & 1 && --left == 0)
          found = uint32_t(at);
    }
    w.reg<uint32_t>(op.d)[i] = found;
  });
  return Step::Next;
}

bool decodeFns(Decoder &d) {
  d.op.fn = execFns;
  return d.take("b32") && takeOperands(d, Type::B32, 3);
}

enum Class : uint32_t {
  kFinite,
  kInfinite,
  kNumber,
  kNotANumber,
  kNormal,
  kSubnormal
};

template <class T> Step execTest(Warp &w, const Op &op, uint32_t mask) {
  uint32_t r = 0;
  forLanes(mask, [&](unsigned i) {
    T v = w.reg<T>(op.a)[i];
    bool is = false;
    switch (Class(op.aux)) {
    case kFinite:
      is = std::isfinite(v);
      break;
    case kInfinite:
      is = std::isinf(v);
      break;
    case kNumber:
      is = !std::isnan(v);
      break;
    case kNotANumber:
      is = std::isnan(v);
      break;
    case kNormal:
      is = std::isfinite(v) && std::fpclassify(v) != FP_SUBNORMAL;
      break;
    case kSubnormal:
      is = std::fpclassify(v) == FP_SUBNORMAL;
      break;
    }
    r |= uint32_t(is) << i;
  });
  w.setPred(op.d, mask, r);
  return Step::Next;
}

bool decodeTest(Decoder &d) {
  static constexpr const char *kNames[] = {
      "finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  bool found = false;
  for (unsigned i = 0; i < 6; ++i)
    if (d.take(kNames[i])) {
      d.op.aux = i;
      found = true;
    }
  Type t = d.takeType();
  if (!found || !d.expectOps(2) || (t != Type::F32 && t != Type::F64))
    return false;
  d.op.d = d.predicate(d.operand(0));
  d.op.a = d.src(d.operand(1), t);
  d.op.fn = t == Type::F32 ? execTest<float> : execTest<double>;
  return d.ok();
}

// copysign: the sign of a on the magnitude of b.
template <class U> struct CopySign {
  static U apply(U a, U b) {
    constexpr U sign = U(1) << (8 * sizeof(U) - 1);
    return (a & sign) | (b & ~sign);
  }
};

bool decodeCopySign(Decoder &d) {
  Type t = d.takeType();
  d.op.fn = t == Type::F32
                ? binary<uint32_t, uint32_t, uint32_t, CopySign<uint32_t>>
            : t == Type::F64
                ? binary<uint64_t, uint64_t, uint64_t, CopySign<uint64_t>>
                : nullptr;
  return takeOperands(d, t, 2);
}

Step execNothing(Warp &, const Op &, uint32_t) { return Step::Next; }

// Cache control has no effect on values, except that 'discard' allows the
// machine to lose them: then they may still be there.
bool decodeCacheHint(Decoder &d) {
  d.take("global");
  int64_t size;
  if (!d.takeAny({"L2", "L2::evict_normal"}) || !d.expectOps(2) ||
      !d.address(d.operand(0)) || !d.immediate(d.operand(1), size))
    return false;
  d.op.fn = execNothing;
  return size == 128 || d.fail("expected a size of 128");
}

bool decodePmEvent(Decoder &d) {
  d.take("mask");
  int64_t event;
  d.op.fn = execNothing;
  return d.expectOps(1) && d.immediate(d.operand(0), event);
}

} // namespace

const DecodeEntry ptxsim::kMiscOps[] = {
    {"dp4a", decodeDot},          {"dp2a", decodeDot},
    {"szext", decodeSzext},       {"mul24", decodeMul24},
    {"mad24", decodeMul24},       {"fns", decodeFns},
    {"testp", decodeTest},        {"copysign", decodeCopySign},
    {"discard", decodeCacheHint}, {"applypriority", decodeCacheHint},
    {"pmevent", decodePmEvent},   {nullptr, nullptr}};
