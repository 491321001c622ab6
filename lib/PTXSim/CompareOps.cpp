// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// setp, set, selp and slct.

#include "FloatFormat.h"
#include "Lanewise.h"

using namespace ptxsim;

namespace {

enum class Cmp : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan
};
enum class Combine : uint8_t { None, And, Or, Xor };

template <Cmp C, class T> bool compare(T a, T b) {
  switch (C) {
  case Cmp::Eq:
    return a == b;
  case Cmp::Ne:
    return a < b || a > b; // ordered: false for a NaN
  case Cmp::Lt:
    return a < b;
  case Cmp::Le:
    return a <= b;
  case Cmp::Gt:
    return a > b;
  case Cmp::Ge:
    return a >= b;
  case Cmp::Equ:
    return !(a < b || a > b);
  case Cmp::Neu:
    return !(a == b);
  case Cmp::Ltu:
    return !(a >= b);
  case Cmp::Leu:
    return !(a > b);
  case Cmp::Gtu:
    return !(a <= b);
  case Cmp::Geu:
    return !(a < b);
  case Cmp::Num:
    return a == a && b == b;
  case Cmp::Nan:
    return !(a == a && b == b);
  }
  return false;
}

struct Same {
  template <class T> static T apply(T v) { return v; }
};
struct Flushed {
  static float apply(float v) { return flush(v); }
};
struct HalfValue {
  static float apply(uint16_t v) { return decodeF16(v); }
};
struct BHalfValue {
  static float apply(uint16_t v) { return decodeBF16(v); }
};

struct HalfFlushed {
  static float apply(uint16_t v) {
    float f = decodeF16(v);
    return (v & 0x7c00) == 0 ? std::copysign(0.0f, f) : f;
  }
};

template <Cmp C, class T, class Load>
uint32_t compareLanes(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.reg<T>(op.a), *b = w.reg<T>(op.b);
  uint32_t r = 0;
  for (unsigned i = 0; i < 32; ++i)
    r |= uint32_t(compare<C>(Load::apply(a[i]), Load::apply(b[i]))) << i;
  return r & mask;
}

template <Cmp C, class T, class Load>
Step execSetp(Warp &w, const Op &op, uint32_t mask) {
  uint32_t r = compareLanes<C, T, Load>(w, op, mask), q = ~r;
  if (Combine(op.aux) != Combine::None) {
    uint32_t p = w.predMask(op.c, op.negated);
    switch (Combine(op.aux)) {
    case Combine::And:
      q &= p;
      r &= p;
      break;
    case Combine::Or:
      q |= p;
      r |= p;
      break;
    default:
      q ^= p;
      r ^= p;
      break;
    }
  }
  w.setPred(op.d, mask, r);
  if (op.d2 != kNone)
    w.setPred(op.d2, mask, q);
  return Step::Next;
}

// Both halves of a pair: p takes the lower one, q the upper one.
template <Cmp C, class T, class Load>
Step execSetpPair(Warp &w, const Op &op, uint32_t mask) {
  const uint16_t *a = w.reg<uint16_t>(op.a), *b = w.reg<uint16_t>(op.b);
  uint32_t r[2] = {0, 0};
  for (unsigned i = 0; i < 64; ++i)
    r[i % 2] |= uint32_t(compare<C>(Load::apply(a[i]), Load::apply(b[i])))
                << (i / 2);
  for (uint32_t &v : r) {
    uint32_t p =
        Combine(op.aux) == Combine::None ? 0 : w.predMask(op.c, op.negated);
    v = Combine(op.aux) == Combine::And   ? v & p
        : Combine(op.aux) == Combine::Or  ? v | p
        : Combine(op.aux) == Combine::Xor ? v ^ p
                                          : v;
  }
  w.setPred(op.d, mask, r[0]);
  if (op.d2 != kNone)
    w.setPred(op.d2, mask, r[1]);
  return Step::Next;
}

// set of both halves. imm: what a half is set to.
template <Cmp C, class T, class Load>
Step execSetPair(Warp &w, const Op &op, uint32_t mask) {
  const uint16_t *a = w.reg<uint16_t>(op.a), *b = w.reg<uint16_t>(op.b);
  uint16_t *d = w.reg<uint16_t>(op.d);
  uint32_t p =
      Combine(op.aux) == Combine::None ? 0 : w.predMask(op.c, op.negated);
  forLanes(mask, [&](unsigned lane) {
    bool q = p >> lane & 1;
    for (unsigned i = 2 * lane; i < 2 * lane + 2; ++i) {
      bool v = compare<C>(Load::apply(a[i]), Load::apply(b[i]));
      v = Combine(op.aux) == Combine::And   ? v && q
          : Combine(op.aux) == Combine::Or  ? v || q
          : Combine(op.aux) == Combine::Xor ? v != q
                                            : v;
      d[i] = v ? uint16_t(op.imm) : 0;
    }
  });
  return Step::Next;
}

// set: the same comparison into a register. imm: all ones, or one.
template <Cmp C, class T, class Load>
Step execSet(Warp &w, const Op &op, uint32_t mask) {
  uint32_t r = compareLanes<C, T, Load>(w, op, mask);
  if (Combine(op.aux) != Combine::None) {
    uint32_t p = w.predMask(op.c, op.negated);
    r = Combine(op.aux) == Combine::And  ? r & p
        : Combine(op.aux) == Combine::Or ? r | p
                                         : r ^ p;
  }
  forLanes(mask, [&](unsigned i) {
    uint32_t value = r >> i & 1 ? uint32_t(op.imm) : 0;
    if (op.aux2) // bytes of the result
      w.reg<uint16_t>(op.d)[i] = uint16_t(value);
    else
      w.reg<uint32_t>(op.d)[i] = value;
  });
  return Step::Next;
}

#define FOR_EACH_CMP(CASE)                                                     \
  CASE(Eq)                                                                     \
  CASE(Ne)                                                                     \
  CASE(Lt)                                                                     \
  CASE(Le)                                                                     \
  CASE(Gt)                                                                     \
  CASE(Ge)                                                                     \
  CASE(Equ)                                                                    \
  CASE(Neu)                                                                    \
  CASE(Ltu)                                                                    \
  CASE(Leu)                                                                    \
  CASE(Gtu)                                                                    \
  CASE(Geu)                                                                    \
  CASE(Num)                                                                    \
  CASE(Nan)

template <class Load> ExecFn pickPair(Cmp c, bool set) {
#define CASE(NAME)                                                             \
  case Cmp::NAME:                                                              \
    return set ? execSetPair<Cmp::NAME, uint16_t, Load>                        \
               : execSetpPair<Cmp::NAME, uint16_t, Load>;
  switch (c) { FOR_EACH_CMP(CASE) }
#undef CASE
  return nullptr;
}

template <class T, class Load> ExecFn pickCmp(Cmp c, bool set) {
#define CASE(NAME)                                                             \
  case Cmp::NAME:                                                              \
    return set ? execSet<Cmp::NAME, T, Load> : execSetp<Cmp::NAME, T, Load>;
  switch (c) { FOR_EACH_CMP(CASE) }
#undef CASE
  return nullptr;
}

ExecFn pickCompare(Type t, Cmp c, bool ftz, bool set) {
  switch (t) {
  case Type::B16:
  case Type::U16:
    return pickCmp<uint16_t, Same>(c, set);
  case Type::B32:
  case Type::U32:
    return pickCmp<uint32_t, Same>(c, set);
  case Type::B64:
  case Type::U64:
    return pickCmp<uint64_t, Same>(c, set);
  case Type::S16:
    return pickCmp<int16_t, Same>(c, set);
  case Type::S32:
    return pickCmp<int32_t, Same>(c, set);
  case Type::S64:
    return pickCmp<int64_t, Same>(c, set);
  case Type::F32:
    return ftz ? pickCmp<float, Flushed>(c, set) : pickCmp<float, Same>(c, set);
  case Type::F64:
    return pickCmp<double, Same>(c, set);
  case Type::F16:
    return ftz ? pickCmp<uint16_t, HalfFlushed>(c, set)
               : pickCmp<uint16_t, HalfValue>(c, set);
  case Type::F16x2:
    return ftz ? pickPair<HalfFlushed>(c, set) : pickPair<HalfValue>(c, set);
  case Type::BF16x2:
    return pickPair<BHalfValue>(c, set);
  case Type::BF16:
    return pickCmp<uint16_t, BHalfValue>(c, set);
  default:
    return nullptr;
  }
}

bool takeCompare(Decoder &d, Cmp &c, Combine &combine) {
  static constexpr std::pair<const char *, Cmp> kCompares[] = {
      {"eq", Cmp::Eq},   {"ne", Cmp::Ne},   {"lt", Cmp::Lt},
      {"le", Cmp::Le},   {"gt", Cmp::Gt},   {"ge", Cmp::Ge},
      {"equ", Cmp::Equ}, {"neu", Cmp::Neu}, {"ltu", Cmp::Ltu},
      {"leu", Cmp::Leu}, {"gtu", Cmp::Gtu}, {"geu", Cmp::Geu},
      {"num", Cmp::Num}, {"nan", Cmp::Nan}, {"lo", Cmp::Lt},
      {"ls", Cmp::Le},   {"hi", Cmp::Gt},   {"hs", Cmp::Ge}};
  combine = Combine::None;
  for (auto &[name, value] : kCompares)
    if (d.take(name)) {
      c = value;
      combine = d.take("and")   ? Combine::And
                : d.take("or")  ? Combine::Or
                : d.take("xor") ? Combine::Xor
                                : Combine::None;
      return true;
    }
  return d.fail("expected a comparison");
}

bool takeSources(Decoder &d, Cmp c, Combine combine, Type t, bool set) {
  d.op.aux = unsigned(combine);
  bool ftz = d.take("ftz");
  if (ftz && t != Type::F32 && t != Type::F16 && t != Type::F16x2)
    return d.fail("'.ftz' needs type f32 or f16");
  if (!isFloat(t) && c > Cmp::Ge)
    return d.fail("this comparison needs a floating-point type");
  if (isInteger(t) && t <= Type::B64 && c > Cmp::Ne)
    return d.fail("bit types are compared with '.eq' and '.ne' only");
  d.op.fn = pickCompare(t, c, ftz, set);
  if (!d.op.fn || !d.expectOps(combine == Combine::None ? 3 : 4))
    return false;
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), t);
  if (combine != Combine::None)
    d.op.c = d.predicate(d.operand(3), d.op.negated);
  return d.ok();
}

bool decodeSetp(Decoder &d) {
  Cmp c;
  Combine combine;
  if (!takeCompare(d, c, combine))
    return false;
  Type t = d.takeType();
  if (!takeSources(d, c, combine, t, false))
    return false;
  const Operand &out = d.operand(0);
  if (out.kind == Operand::Pair) {
    d.op.d = d.predicate(out.elems[0]);
    d.op.d2 = d.predicate(out.elems[1]);
  } else {
    d.op.d = d.predicate(out);
  }
  return d.ok();
}

bool decodeSet(Decoder &d) {
  Cmp c;
  Combine combine;
  if (!takeCompare(d, c, combine))
    return false;
  Type result = d.takeType(), t = d.takeType();
  if (!takeSources(d, c, combine, t, true))
    return false;
  bool pair = t == Type::F16x2 || t == Type::BF16x2;
  bool narrow = bitWidth(result) == 16;
  if (pair || narrow) {
    if (result != t && !(!pair && isFloat(t) && isInteger(result)))
      return false;
  } else if (result != Type::U32 && result != Type::S32 &&
             result != Type::F32) {
    return false;
  }
  d.op.aux2 = narrow;
  d.op.imm = result == Type::F32                              ? 0x3f800000
             : result == Type::F16 || result == Type::F16x2   ? 0x3c00
             : result == Type::BF16 || result == Type::BF16x2 ? 0x3f80
                                                              : 0xffffffff;
  d.op.d = d.dst(d.operand(0), result);
  return d.ok();
}

template <class T> Step execSelp(Warp &w, const Op &op, uint32_t mask) {
  uint32_t p = w.predMask(op.c, op.negated);
  T *d = w.reg<T>(op.d);
  const T *a = w.reg<T>(op.a), *b = w.reg<T>(op.b);
  forLanes(mask, [&](unsigned i) { d[i] = p >> i & 1 ? a[i] : b[i]; });
  return Step::Next;
}

bool decodeSelp(Decoder &d) {
  Type t = d.takeType();
  if (!d.expectOps(4))
    return false;
  switch (bitWidth(t)) {
  case 16:
    d.op.fn = execSelp<uint16_t>;
    break;
  case 32:
    d.op.fn = execSelp<uint32_t>;
    break;
  case 64:
    d.op.fn = execSelp<uint64_t>;
    break;
  default:
    return false;
  }
  d.op.d = d.dst(d.operand(0), t);
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), t);
  d.op.c = d.predicate(d.operand(3), d.op.negated);
  return d.ok();
}

template <class T> Step execSlct(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned i) {
    bool first;
    if (op.aux2) {
      float c = w.reg<float>(op.c)[i];
      first = (op.aux ? flush(c) : c) >= 0;
    } else {
      first = w.reg<int32_t>(op.c)[i] >= 0;
    }
    w.reg<T>(op.d)[i] = first ? w.reg<T>(op.a)[i] : w.reg<T>(op.b)[i];
  });
  return Step::Next;
}

bool decodeSlct(Decoder &d) {
  d.op.aux = d.take("ftz");
  Type t = d.takeType(), s = d.takeType();
  if (!d.expectOps(4) || (s != Type::S32 && s != Type::F32))
    return false;
  d.op.aux2 = s == Type::F32;
  switch (bitWidth(t)) {
  case 16:
    d.op.fn = execSlct<uint16_t>;
    break;
  case 32:
    d.op.fn = execSlct<uint32_t>;
    break;
  case 64:
    d.op.fn = execSlct<uint64_t>;
    break;
  default:
    return false;
  }
  d.op.d = d.dst(d.operand(0), t);
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), t);
  d.op.c = d.src(d.operand(3), s);
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kCompareOps[] = {{"setp", decodeSetp},
                                           {"set", decodeSet},
                                           {"selp", decodeSelp},
                                           {"slct", decodeSlct},
                                           {nullptr, nullptr}};
