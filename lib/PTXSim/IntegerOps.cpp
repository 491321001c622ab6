// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Integer arithmetic, and the mnemonics that integers share with floats.

#include "Lanewise.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

using namespace ptxsim;

namespace {

template <class T> using Unsigned = std::make_unsigned_t<T>;

// Wrap-around arithmetic is done unsigned: signed overflow is undefined in
// C++ but not in PTX. The 16-bit types are widened by hand, as C++ would
// promote them to a signed int.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 2, uint32_t, Unsigned<T>>;

template <class T> struct IAdd {
  static T apply(T a, T b) { return T(Wide<T>(a) + Wide<T>(b)); }
};
template <class T> struct ISub {
  static T apply(T a, T b) { return T(Wide<T>(a) - Wide<T>(b)); }
};
template <class T> struct IMulLo {
  static T apply(T a, T b) { return T(Wide<T>(a) * Wide<T>(b)); }
};
template <class T> struct Double;
template <> struct Double<uint16_t> {
  using type = uint32_t;
};
template <> struct Double<int16_t> {
  using type = int32_t;
};
template <> struct Double<uint32_t> {
  using type = uint64_t;
};
template <> struct Double<int32_t> {
  using type = int64_t;
};
template <> struct Double<uint64_t> {
  using type = unsigned __int128;
};
template <> struct Double<int64_t> {
  using type = __int128;
};
template <class T> using DoubleT = typename Double<T>::type;

template <class T> struct IMulHi {
  static T apply(T a, T b) {
    return T((DoubleT<T>(a) * DoubleT<T>(b)) >> (8 * sizeof(T)));
  }
};
template <class T> struct IMulWide {
  static DoubleT<T> apply(T a, T b) { return DoubleT<T>(a) * DoubleT<T>(b); }
};
template <class T, class M> struct IMad {
  static T apply(T a, T b, T c) { return IAdd<T>::apply(M::apply(a, b), c); }
};
template <class T> struct IMadWide {
  static DoubleT<T> apply(T a, T b, DoubleT<T> c) {
    return IAdd<DoubleT<T>>::apply(IMulWide<T>::apply(a, b), c);
  }
};
// Division by zero is unspecified in PTX; machines give all ones.
template <class T> struct IDiv {
  static T apply(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return ISub<T>::apply(0, a);
    return T(a / b);
  }
};
template <class T> struct IRem {
  static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return T(a % b);
  }
};
template <class T> struct IMin {
  static T apply(T a, T b) { return a < b ? a : b; }
};
template <class T> struct IMax {
  static T apply(T a, T b) { return a > b ? a : b; }
};
template <class T> struct INeg {
  static T apply(T a) { return ISub<T>::apply(0, a); }
};
template <class T> struct IAbs {
  static T apply(T a) { return a < 0 ? ISub<T>::apply(0, a) : a; }
};
template <class T> struct ISad {
  static T apply(T a, T b, T c) {
    return IAdd<T>::apply(c,
                          a < b ? ISub<T>::apply(b, a) : ISub<T>::apply(a, b));
  }
};
template <class T> struct IAddSat {
  static T apply(T a, T b) {
    int64_t s = int64_t(a) + int64_t(b);
    return T(s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s);
  }
};
template <class T> struct ISubSat {
  static T apply(T a, T b) {
    int64_t s = int64_t(a) - int64_t(b);
    return T(s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s);
  }
};

template <template <class> class F> ExecFn pickBinary(Type t) {
  switch (t) {
  case Type::U16:
  case Type::B16:
    return binary<uint16_t, uint16_t, uint16_t, F<uint16_t>>;
  case Type::S16:
    return binary<int16_t, int16_t, int16_t, F<int16_t>>;
  case Type::U32:
  case Type::B32:
    return binary<uint32_t, uint32_t, uint32_t, F<uint32_t>>;
  case Type::S32:
    return binary<int32_t, int32_t, int32_t, F<int32_t>>;
  case Type::U64:
  case Type::B64:
    return binary<uint64_t, uint64_t, uint64_t, F<uint64_t>>;
  case Type::S64:
    return binary<int64_t, int64_t, int64_t, F<int64_t>>;
  default:
    return nullptr;
  }
}

template <template <class> class F> ExecFn pickSigned(Type t) {
  switch (t) {
  case Type::S16:
    return unary<int16_t, int16_t, F<int16_t>>;
  case Type::S32:
    return unary<int32_t, int32_t, F<int32_t>>;
  case Type::S64:
    return unary<int64_t, int64_t, F<int64_t>>;
  default:
    return nullptr;
  }
}

template <template <class> class M> ExecFn pickMad(Type t) {
#define CASE(TYPE, T)                                                          \
  case Type::TYPE:                                                             \
    return ternary<T, T, T, T, IMad<T, M<T>>>;
  switch (t) {
    CASE(U16, uint16_t)
    CASE(S16, int16_t)
    CASE(U32, uint32_t)
    CASE(S32, int32_t)
    CASE(U64, uint64_t)
    CASE(S64, int64_t)
  default:
    return nullptr;
  }
#undef CASE
}

Type widened(Type t) {
  switch (t) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  case Type::S32:
    return Type::S64;
  default:
    return Type::None;
  }
}

// Extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc.
template <class T> Step execCarry(Warp &w, const Op &op, uint32_t mask) {
  enum {
    kSubtract = 1,
    kReadsCarry = 2,
    kWritesCarry = 4,
    kMadLo = 8,
    kMadHi = 16
  };
  uint32_t carryIn = w.pred(kCarry), carryOut = 0;
  forLanes(mask, [&](unsigned i) {
    using W = unsigned __int128;
    W a = w.reg<T>(op.a)[i], b = w.reg<T>(op.b)[i];
    if (op.aux & (kMadLo | kMadHi)) {
      // imm: the product's high half is of signed operands.
      W product = a * b;
      if (op.imm) {
        using S = std::make_signed_t<T>;
        product = W(__int128(S(a)) * __int128(S(b)));
      }
      a = T(op.aux & kMadHi ? product >> (8 * sizeof(T)) : product);
      b = w.reg<T>(op.c)[i];
    }
    // A subtraction is a + ~b + 1, and the flag its carry: clear after a
    // borrow. That shows where additions and subtractions share a chain.
    bool in = op.aux & kReadsCarry ? carryIn >> i & 1 : op.aux & kSubtract;
    W sum = a + (op.aux & kSubtract ? W(T(~b)) : b) + in;
    w.reg<T>(op.d)[i] = T(sum);
    carryOut |= uint32_t(sum >> (8 * sizeof(T)) & 1) << i;
  });
  if (op.aux & kWritesCarry)
    w.setPred(kCarry, mask, carryOut);
  return Step::Next;
}

bool decodeCarry(Decoder &d, uint32_t flags, Type t, unsigned sources) {
  if (d.take("cc"))
    flags |= 4;
  d.op.aux = flags;
  d.op.imm = isSigned(t);
  d.op.fn = bitWidth(t) == 32   ? execCarry<uint32_t>
            : bitWidth(t) == 64 ? execCarry<uint64_t>
                                : nullptr;
  return takeOperands(d, t, sources);
}

bool hasCarryOut(const Decoder &d) {
  for (const std::string &p : d.in->parts)
    if (p == "cc")
      return true;
  return false;
}

// Packed 16-bit integers. aux bit 0: signed, bit 1: negative results become
// zero; aux2: operation.
enum PackedOp : uint32_t { kPackedAdd, kPackedMin, kPackedMax };

Step execPacked(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    for (unsigned i = 2 * lane; i < 2 * lane + 2; ++i) {
      uint16_t a = w.reg<uint16_t>(op.a)[i], b = w.reg<uint16_t>(op.b)[i];
      bool less = op.aux & 1 ? int16_t(a) < int16_t(b) : a < b;
      uint16_t r = op.aux2 == kPackedAdd             ? uint16_t(a + b)
                   : (op.aux2 == kPackedMin) == less ? a
                                                     : b;
      if (op.aux & 2 && int16_t(r) < 0)
        r = 0;
      w.reg<uint16_t>(op.d)[i] = r;
    }
  });
  return Step::Next;
}

/// Takes a packed type, if there is one.
bool takePacked(Decoder &d, PackedOp what) {
  bool isSignedType = d.take("s16x2");
  if (!isSignedType && !d.take("u16x2"))
    return false;
  d.op.aux = isSignedType;
  if (isSignedType && what != kPackedAdd && d.take("relu"))
    d.op.aux |= 2;
  d.op.aux2 = what;
  d.op.fn = execPacked;
  takeOperands(d, Type::B32, 2);
  return true;
}

template <bool Max> struct IMinMaxRelu {
  static int32_t apply(int32_t a, int32_t b) {
    return std::max(0, Max ? std::max(a, b) : std::min(a, b));
  }
};

int32_t saturated(int64_t v) {
  return int32_t(std::min<int64_t>(std::max<int64_t>(v, INT32_MIN), INT32_MAX));
}

struct IMadHiSat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return saturated((int64_t(a) * b >> 32) + c);
  }
};

bool decodeAdd(Decoder &d) {
  if (d.mnemonic() == "add" && takePacked(d, kPackedAdd))
    return d.ok();
  Type t = d.takeType();
  bool sub = d.mnemonic() == "sub";
  if (isFloat(t))
    return decodeFloatArithmetic(d, t, sub ? FloatOp::Sub : FloatOp::Add);
  if (hasCarryOut(d))
    return decodeCarry(d, sub ? 1 : 0, t, 2);
  if (d.take("sat")) {
    if (t != Type::S32)
      return d.fail("expected type s32 with '.sat'");
    d.op.fn = sub ? binary<int32_t, int32_t, int32_t, ISubSat<int32_t>>
                  : binary<int32_t, int32_t, int32_t, IAddSat<int32_t>>;
  } else {
    d.op.fn = sub ? pickBinary<ISub>(t) : pickBinary<IAdd>(t);
  }
  return takeOperands(d, t, 2);
}

bool decodeAddC(Decoder &d) {
  Type t = d.takeType();
  return decodeCarry(d, d.mnemonic() == "subc" ? 3 : 2, t, 2);
}

ExecFn pickWideMul(Type t) {
  switch (t) {
  case Type::U16:
    return binary<uint32_t, uint16_t, uint16_t, IMulWide<uint16_t>>;
  case Type::S16:
    return binary<int32_t, int16_t, int16_t, IMulWide<int16_t>>;
  case Type::U32:
    return binary<uint64_t, uint32_t, uint32_t, IMulWide<uint32_t>>;
  case Type::S32:
    return binary<int64_t, int32_t, int32_t, IMulWide<int32_t>>;
  default:
    return nullptr;
  }
}

ExecFn pickWideMad(Type t) {
  switch (t) {
  case Type::U16:
    return ternary<uint32_t, uint16_t, uint16_t, uint32_t, IMadWide<uint16_t>>;
  case Type::S16:
    return ternary<int32_t, int16_t, int16_t, int32_t, IMadWide<int16_t>>;
  case Type::U32:
    return ternary<uint64_t, uint32_t, uint32_t, uint64_t, IMadWide<uint32_t>>;
  case Type::S32:
    return ternary<int64_t, int32_t, int32_t, int64_t, IMadWide<int32_t>>;
  default:
    return nullptr;
  }
}

/// `.wide`: factors of type \p t; the result, and what is added to it, of twice
/// the width.
bool decodeWide(Decoder &d, Type t, ExecFn fn, unsigned sources) {
  if (!d.expectOps(1 + sources) || !fn)
    return false;
  Type result = widened(t);
  d.op.fn = fn;
  d.op.d = d.dst(d.operand(0), result);
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), t);
  if (sources > 2)
    d.op.c = d.src(d.operand(3), result);
  return d.ok();
}

bool decodeMul(Decoder &d) {
  bool lo = d.take("lo"), hi = d.take("hi"), wide = d.take("wide");
  Type t = d.takeType();
  if (isFloat(t))
    return decodeFloatArithmetic(d, t, FloatOp::Mul);
  if (wide)
    return decodeWide(d, t, pickWideMul(t), 2);
  if (lo == hi)
    return d.fail("expected '.lo', '.hi' or '.wide'");
  d.op.fn = lo ? pickBinary<IMulLo>(t) : pickBinary<IMulHi>(t);
  return takeOperands(d, t, 2);
}

bool decodeMad(Decoder &d) {
  bool carryIn = d.mnemonic() == "madc";
  bool lo = d.take("lo"), hi = d.take("hi"), wide = d.take("wide");
  Type t = d.takeType();
  if (isFloat(t))
    return decodeFloatArithmetic(d, t, FloatOp::Fma);
  if (carryIn || hasCarryOut(d)) {
    if (lo == hi)
      return false;
    return decodeCarry(d, (carryIn ? 2 : 0) | (lo ? 8 : 16), t, 3);
  }
  if (wide)
    return decodeWide(d, t, pickWideMad(t), 3);
  if (lo == hi)
    return d.fail("expected '.lo', '.hi' or '.wide'");
  d.op.fn = lo ? pickMad<IMulLo>(t) : pickMad<IMulHi>(t);
  if (hi && t == Type::S32 && d.take("sat"))
    d.op.fn = ternary<int32_t, int32_t, int32_t, int32_t, IMadHiSat>;
  return takeOperands(d, t, 3);
}

bool decodeRem(Decoder &d) {
  Type t = d.takeType();
  d.op.fn = pickBinary<IRem>(t);
  return takeOperands(d, t, 2);
}

bool decodeMinMax(Decoder &d) {
  bool max = d.mnemonic() == "max";
  if (takePacked(d, max ? kPackedMax : kPackedMin))
    return d.ok();
  Type t = d.takeType();
  if (t == Type::S32 && d.take("relu")) {
    d.op.fn = max ? binary<int32_t, int32_t, int32_t, IMinMaxRelu<true>>
                  : binary<int32_t, int32_t, int32_t, IMinMaxRelu<false>>;
    return takeOperands(d, t, 2);
  }
  if (isFloat(t))
    return decodeFloatArithmetic(d, t, max ? FloatOp::Max : FloatOp::Min);
  d.op.fn = max ? pickBinary<IMax>(t) : pickBinary<IMin>(t);
  return takeOperands(d, t, 2);
}

bool decodeNegAbs(Decoder &d) {
  Type t = d.takeType();
  bool neg = d.mnemonic() == "neg";
  if (isFloat(t))
    return decodeFloatArithmetic(d, t, neg ? FloatOp::Neg : FloatOp::Abs);
  d.op.fn = neg ? pickSigned<INeg>(t) : pickSigned<IAbs>(t);
  return takeOperands(d, t, 1);
}

bool decodeSad(Decoder &d) {
  Type t = d.takeType();
  switch (t) {
  case Type::U16:
    d.op.fn = ternary<uint16_t, uint16_t, uint16_t, uint16_t, ISad<uint16_t>>;
    break;
  case Type::S16:
    d.op.fn = ternary<int16_t, int16_t, int16_t, int16_t, ISad<int16_t>>;
    break;
  case Type::U32:
    d.op.fn = ternary<uint32_t, uint32_t, uint32_t, uint32_t, ISad<uint32_t>>;
    break;
  case Type::S32:
    d.op.fn = ternary<int32_t, int32_t, int32_t, int32_t, ISad<int32_t>>;
    break;
  case Type::U64:
    d.op.fn = ternary<uint64_t, uint64_t, uint64_t, uint64_t, ISad<uint64_t>>;
    break;
  case Type::S64:
    d.op.fn = ternary<int64_t, int64_t, int64_t, int64_t, ISad<int64_t>>;
    break;
  default:
    return false;
  }
  return takeOperands(d, t, 3);
}

} // namespace

namespace ptxsim {
bool decodeIntegerDiv(Decoder &d, Type t) {
  d.op.fn = pickBinary<IDiv>(t);
  return takeOperands(d, t, 2);
}
} // namespace ptxsim

const DecodeEntry ptxsim::kIntegerOps[] = {
    {"add", decodeAdd},    {"sub", decodeAdd},    {"addc", decodeAddC},
    {"subc", decodeAddC},  {"mul", decodeMul},    {"mad", decodeMad},
    {"fma", decodeMad},    {"madc", decodeMad},   {"rem", decodeRem},
    {"min", decodeMinMax}, {"max", decodeMinMax}, {"neg", decodeNegAbs},
    {"abs", decodeNegAbs}, {"sad", decodeSad},    {nullptr, nullptr}};
