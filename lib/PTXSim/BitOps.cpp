// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Logic, shifts and bit fields.

#include "Lanewise.h"

#include <algorithm>
#include <type_traits>

using namespace ptxsim;

namespace {

struct And {
  template <class T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T apply(T a, T b) { return a ^ b; }
};
struct Not {
  template <class T> static T apply(T a) { return T(~a); }
};
struct CNot {
  template <class T> static T apply(T a) { return a == 0; }
};

// Shift amounts above the register width are clamped to it.
template <class T> struct Shl {
  static T apply(T a, uint32_t n) {
    return n >= 8 * sizeof(T) ? T(0) : T(a << n);
  }
};
template <class T> struct Shr {
  static T apply(T a, uint32_t n) {
    if (n >= 8 * sizeof(T))
      return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
    return T(a >> n);
  }
};

template <class F> ExecFn pickLogic(unsigned bits) {
  switch (bits) {
  case 16:
    return binary<uint16_t, uint16_t, uint16_t, F>;
  case 32:
    return binary<uint32_t, uint32_t, uint32_t, F>;
  case 64:
    return binary<uint64_t, uint64_t, uint64_t, F>;
  default:
    return nullptr;
  }
}

template <class F> Step execPredLogic(Warp &w, const Op &op, uint32_t mask) {
  w.setPred(op.d, mask,
            F::template apply<uint32_t>(w.pred(op.a), w.pred(op.b)));
  return Step::Next;
}
Step execPredNot(Warp &w, const Op &op, uint32_t mask) {
  w.setPred(op.d, mask, ~w.pred(op.a));
  return Step::Next;
}

template <class F> bool decodeLogic(Decoder &d) {
  Type t = d.takeType();
  if (t == Type::Pred)
    d.op.fn = execPredLogic<F>;
  else if (t >= Type::B16 && t <= Type::B64)
    d.op.fn = pickLogic<F>(bitWidth(t));
  return takeOperands(d, t, 2);
}

bool decodeNot(Decoder &d) {
  Type t = d.takeType();
  bool cnot = d.mnemonic() == "cnot";
  switch (t) {
  case Type::Pred:
    d.op.fn = cnot ? nullptr : execPredNot;
    break;
  case Type::B16:
    d.op.fn =
        cnot ? unary<uint16_t, uint16_t, CNot> : unary<uint16_t, uint16_t, Not>;
    break;
  case Type::B32:
    d.op.fn =
        cnot ? unary<uint32_t, uint32_t, CNot> : unary<uint32_t, uint32_t, Not>;
    break;
  case Type::B64:
    d.op.fn =
        cnot ? unary<uint64_t, uint64_t, CNot> : unary<uint64_t, uint64_t, Not>;
    break;
  default:
    return false;
  }
  return takeOperands(d, t, 1);
}

bool decodeShift(Decoder &d) {
  Type t = d.takeType();
  bool left = d.mnemonic() == "shl";
  if (!d.expectOps(3))
    return false;
#define CASE(TYPE, T)                                                          \
  case Type::TYPE:                                                             \
    d.op.fn = left ? binary<T, T, uint32_t, Shl<T>>                            \
                   : binary<T, T, uint32_t, Shr<T>>;                           \
    break;
  switch (t) {
    CASE(B16, uint16_t)
    CASE(B32, uint32_t)
    CASE(B64, uint64_t)
    CASE(U16, uint16_t)
    CASE(U32, uint32_t)
    CASE(U64, uint64_t)
    CASE(S16, int16_t)
    CASE(S32, int32_t)
    CASE(S64, int64_t)
  default:
    return false;
  }
#undef CASE
  if (left && t > Type::B64)
    return d.fail("expected a type of '.b16', '.b32' or '.b64'");
  d.op.d = d.dst(d.operand(0), t);
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), Type::U32);
  return d.ok();
}

// shf: a funnel shift of the pair {b, a}.
struct FunnelLeftWrap {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t v = uint64_t(b) << 32 | a;
    return uint32_t((v << (c & 31)) >> 32);
  }
};
struct FunnelLeftClamp {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    if (c >= 32)
      return a;
    return FunnelLeftWrap::apply(a, b, c);
  }
};
struct FunnelRightWrap {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return uint32_t((uint64_t(b) << 32 | a) >> (c & 31));
  }
};
struct FunnelRightClamp {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return uint32_t((uint64_t(b) << 32 | a) >> (c >= 32 ? 32 : c));
  }
};

using U = uint32_t;

bool decodeFunnel(Decoder &d) {
  bool left = d.take("l"), right = d.take("r");
  bool wrap = d.take("wrap"), clamp = d.take("clamp");
  if (left == right || wrap == clamp || !d.take("b32"))
    return false;
  d.op.fn = left ? (wrap ? ternary<U, U, U, U, FunnelLeftWrap>
                         : ternary<U, U, U, U, FunnelLeftClamp>)
                 : (wrap ? ternary<U, U, U, U, FunnelRightWrap>
                         : ternary<U, U, U, U, FunnelRightClamp>);
  return takeOperands(d, Type::B32, 3);
}

Step execLop3(Warp &w, const Op &op, uint32_t mask) {
  const U *a = w.reg<U>(op.a), *b = w.reg<U>(op.b), *c = w.reg<U>(op.c);
  U *d = w.reg<U>(op.d);
  uint32_t table = uint32_t(op.imm), nonzero = 0;
  forLanes(mask, [&](unsigned i) {
    U r = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (table >> k & 1)
        r |= (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) &
             (k & 1 ? c[i] : ~c[i]);
    d[i] = r;
    nonzero |= uint32_t(r != 0) << i;
  });
  if (op.d2 != kNone) {
    uint32_t q = w.predMask(op.e, op.negated);
    w.setPred(op.d2, mask, op.aux ? nonzero | q : nonzero & q);
  }
  return Step::Next;
}

bool decodeLop3(Decoder &d) {
  bool isOr = d.take("or"), isAnd = d.take("and");
  if (!d.take("b32") || !d.expectOps(isOr || isAnd ? 6 : 5))
    return false;
  const Operand *out = &d.operand(0);
  if (isOr || isAnd) {
    if (out->kind != Operand::Pair)
      return d.fail("expected 'd|p' as destination");
    d.op.d2 = d.predicate(out->elems[1]);
    d.op.e = d.predicate(d.operand(5), d.op.negated);
    d.op.aux = isOr;
    out = &out->elems[0];
  }
  d.op.d = d.dst(*out, Type::B32);
  d.op.a = d.src(d.operand(1), Type::B32);
  d.op.b = d.src(d.operand(2), Type::B32);
  d.op.c = d.src(d.operand(3), Type::B32);
  d.op.fn = execLop3;
  return d.immediate(d.operand(4), d.op.imm) && d.ok();
}

// prmt: bytes 0-3 of a, 4-7 of b; bit 3 of a selector replicates the sign.
enum PrmtMode : uint32_t { kGeneric, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };

U permute(U a, U b, U c, uint32_t mode) {
  uint64_t v = uint64_t(b) << 32 | a;
  auto byte = [&](unsigned n) { return U(v >> (8 * (n & 7)) & 0xff); };
  unsigned n = c & 3;
  U r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    U x;
    switch (mode) {
    case kGeneric: {
      unsigned s = c >> (4 * i) & 0xf;
      x = byte(s);
      if (s & 8)
        x = x & 0x80 ? 0xff : 0;
      break;
    }
    case kF4e:
      x = byte(n + i);
      break;
    case kB4e:
      x = byte(n + 8 - i);
      break;
    case kRc8:
      x = byte(n);
      break;
    case kEcl:
      x = byte(std::max(n, i));
      break;
    case kEcr:
      x = byte(std::min(n, i));
      break;
    default:
      x = byte((n & 1) * 2 + (i & 1));
      break;
    }
    r |= x << (8 * i);
  }
  return r;
}

Step execPrmt(Warp &w, const Op &op, uint32_t mask) {
  const U *a = w.reg<U>(op.a), *b = w.reg<U>(op.b), *c = w.reg<U>(op.c);
  U *d = w.reg<U>(op.d);
  forLanes(mask, [&](unsigned i) { d[i] = permute(a[i], b[i], c[i], op.aux); });
  return Step::Next;
}

bool decodePrmt(Decoder &d) {
  if (!d.take("b32"))
    return false;
  static constexpr const char *kModes[] = {"f4e", "b4e", "rc8",
                                           "ecl", "ecr", "rc16"};
  for (unsigned i = 0; i < 6; ++i)
    if (d.take(kModes[i]))
      d.op.aux = i + 1;
  d.op.fn = execPrmt;
  return takeOperands(d, Type::B32, 3);
}

// Position and length are taken modulo 256; a field reaching past the sign
// bit of a signed source is filled with that bit.
template <class T> struct Bfe {
  static T apply(T a, uint32_t b, uint32_t c) {
    constexpr unsigned msb = 8 * sizeof(T) - 1;
    unsigned pos = b & 0xff, len = c & 0xff;
    using UT = std::make_unsigned_t<T>;
    bool fill = false;
    if (std::is_signed_v<T> && len)
      fill = UT(a) >> std::min(pos + len - 1, msb) & 1;
    UT r = 0;
    for (unsigned i = 0; i <= msb; ++i) {
      bool bit = i < len && pos + i <= msb ? UT(a) >> (pos + i) & 1 : fill;
      r |= UT(bit) << i;
    }
    return T(r);
  }
};

bool decodeBfe(Decoder &d) {
  Type t = d.takeType();
  if (!d.expectOps(4))
    return false;
  switch (t) {
  case Type::U32:
    d.op.fn = ternary<U, U, U, U, Bfe<U>>;
    break;
  case Type::S32:
    d.op.fn = ternary<int32_t, int32_t, U, U, Bfe<int32_t>>;
    break;
  case Type::U64:
    d.op.fn = ternary<uint64_t, uint64_t, U, U, Bfe<uint64_t>>;
    break;
  case Type::S64:
    d.op.fn = ternary<int64_t, int64_t, U, U, Bfe<int64_t>>;
    break;
  default:
    return false;
  }
  d.op.d = d.dst(d.operand(0), t);
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), Type::U32);
  d.op.c = d.src(d.operand(3), Type::U32);
  return d.ok();
}

template <class T> Step execBfi(Warp &w, const Op &op, uint32_t mask) {
  constexpr unsigned msb = 8 * sizeof(T) - 1;
  forLanes(mask, [&](unsigned l) {
    T a = w.reg<T>(op.a)[l], r = w.reg<T>(op.b)[l];
    unsigned pos = w.reg<U>(op.c)[l] & 0xff, len = w.reg<U>(op.e)[l] & 0xff;
    for (unsigned i = 0; i < len && pos + i <= msb; ++i)
      r = (r & ~(T(1) << (pos + i))) | (i <= msb ? a >> i & 1 : 0) << (pos + i);
    w.reg<T>(op.d)[l] = r;
  });
  return Step::Next;
}

bool decodeBfi(Decoder &d) {
  Type t = d.takeType();
  if (!d.expectOps(5) || (t != Type::B32 && t != Type::B64))
    return false;
  d.op.d = d.dst(d.operand(0), t);
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), t);
  d.op.c = d.src(d.operand(3), Type::U32);
  d.op.e = d.src(d.operand(4), Type::U32);
  d.op.fn = t == Type::B32 ? execBfi<uint32_t> : execBfi<uint64_t>;
  return d.ok();
}

// bmsk: b ones from bit a on. Clamped values above 31 mean 32.
Step execBmsk(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned l) {
    U a = w.reg<U>(op.a)[l], b = w.reg<U>(op.b)[l];
    a = op.aux ? a & 31 : std::min(a, 32u);
    b = op.aux ? b & 31 : std::min(b, 32u);
    w.reg<U>(op.d)[l] = U(((uint64_t(1) << b) - 1) << a);
  });
  return Step::Next;
}

bool decodeBmsk(Decoder &d) {
  d.op.aux = d.take("wrap");
  if ((!d.op.aux && !d.take("clamp")) || !d.take("b32"))
    return false;
  d.op.fn = execBmsk;
  return takeOperands(d, Type::B32, 2);
}

template <class T> struct Popc {
  static U apply(T a) { return __builtin_popcountll(a); }
};
template <class T> struct Clz {
  static U apply(T a) {
    return a ? __builtin_clzll(a) - (64 - 8 * sizeof(T)) : 8 * sizeof(T);
  }
};
template <class T> struct Brev {
  static T apply(T a) {
    T r = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      r |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return r;
  }
};

bool decodeCount(Decoder &d) {
  Type t = d.takeType();
  if (!d.expectOps(2) || (t != Type::B32 && t != Type::B64))
    return false;
  bool wide = t == Type::B64;
  if (d.mnemonic() == "popc")
    d.op.fn = wide ? unary<U, uint64_t, Popc<uint64_t>> : unary<U, U, Popc<U>>;
  else
    d.op.fn = wide ? unary<U, uint64_t, Clz<uint64_t>> : unary<U, U, Clz<U>>;
  d.op.d = d.dst(d.operand(0), Type::U32);
  d.op.a = d.src(d.operand(1), t);
  return d.ok();
}

bool decodeBrev(Decoder &d) {
  Type t = d.takeType();
  d.op.fn = t == Type::B32   ? unary<U, U, Brev<U>>
            : t == Type::B64 ? unary<uint64_t, uint64_t, Brev<uint64_t>>
                             : nullptr;
  return takeOperands(d, t, 1);
}

// bfind: the highest bit that differs from the sign, or all ones.
template <class T> Step execBfind(Warp &w, const Op &op, uint32_t mask) {
  constexpr unsigned msb = 8 * sizeof(T) - 1;
  using UT = std::make_unsigned_t<T>;
  forLanes(mask, [&](unsigned l) {
    T a = w.reg<T>(op.a)[l];
    UT v = std::is_signed_v<T> && a < 0 ? UT(~a) : UT(a);
    U r = ~0u;
    if (v) {
      r = 63 - __builtin_clzll(v);
      if (op.aux) // .shiftamt
        r = msb - r;
    }
    w.reg<U>(op.d)[l] = r;
  });
  return Step::Next;
}

bool decodeBfind(Decoder &d) {
  d.op.aux = d.take("shiftamt");
  Type t = d.takeType();
  if (!d.expectOps(2))
    return false;
  d.op.fn = t == Type::U32   ? execBfind<uint32_t>
            : t == Type::S32 ? execBfind<int32_t>
            : t == Type::U64 ? execBfind<uint64_t>
            : t == Type::S64 ? execBfind<int64_t>
                             : nullptr;
  d.op.d = d.dst(d.operand(0), Type::U32);
  d.op.a = d.src(d.operand(1), t);
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kBitOps[] = {
    {"and", decodeLogic<And>}, {"or", decodeLogic<Or>},
    {"xor", decodeLogic<Xor>}, {"not", decodeNot},
    {"cnot", decodeNot},       {"shl", decodeShift},
    {"shr", decodeShift},      {"shf", decodeFunnel},
    {"lop3", decodeLop3},      {"prmt", decodePrmt},
    {"bfe", decodeBfe},        {"bfi", decodeBfi},
    {"popc", decodeCount},     {"clz", decodeCount},
    {"brev", decodeBrev},      {"bfind", decodeBfind},
    {"bmsk", decodeBmsk},      {nullptr, nullptr}};
