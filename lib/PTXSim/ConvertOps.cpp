// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// cvt between every pair of scalar types, and the packed forms.

#include "ConvertOps.h"

#include "DoubleOps.h"
#include "FloatFormat.h"

#include <limits>

using namespace ptxsim;

namespace {

enum CvtFlags : uint32_t { kFtz = 1, kSat = 2, kRelu = 4, kSatFinite = 8 };

Type dstType(const Op &op) { return Type(op.aux2 & 0xff); }
Type srcType(const Op &op) { return Type(op.aux2 >> 8 & 0xff); }
Round roundOf(const Op &op) { return Round(op.aux2 >> 16 & 0xff); }

uint64_t readReg(Warp &w, uint32_t offset, unsigned bytes, unsigned lane) {
  switch (bytes) {
  case 2:
    return w.reg<uint16_t>(offset)[lane];
  case 4:
    return w.reg<uint32_t>(offset)[lane];
  default:
    return w.reg<uint64_t>(offset)[lane];
  }
}

void writeReg(Warp &w, uint32_t offset, unsigned bytes, unsigned lane,
              uint64_t value) {
  switch (bytes) {
  case 2:
    w.reg<uint16_t>(offset)[lane] = uint16_t(value);
    break;
  case 4:
    w.reg<uint32_t>(offset)[lane] = uint32_t(value);
    break;
  default:
    w.reg<uint64_t>(offset)[lane] = value;
    break;
  }
}

int64_t extend(uint64_t raw, Type t) {
  unsigned shift = 64 - bitWidth(t);
  return isSigned(t) ? int64_t(raw << shift) >> shift
                     : int64_t(raw << shift >> shift);
}

double toDouble(uint64_t raw, Type t, bool ftz) {
  switch (t) {
  case Type::F16:
    return decodeF16(uint16_t(raw));
  case Type::BF16:
    return decodeBF16(uint16_t(raw));
  case Type::F32: {
    float f = bitsToFloat(uint32_t(raw));
    return ftz ? flush(f) : f;
  }
  default: {
    double d;
    std::memcpy(&d, &raw, 8);
    return d;
  }
  }
}

/// Rounds to an integral value.
double integral(double v, Round round) {
  switch (round) {
  case Round::RNI:
    return std::nearbyint(v);
  case Round::RMI:
    return std::floor(v);
  case Round::RPI:
    return std::ceil(v);
  default:
    return std::trunc(v);
  }
}

/// The \p bits of NaN shortened or widened to another format: sign and the top
/// of the payload stay, the result is quiet.
uint64_t resizeNaN(uint64_t bits, FloatFormat from, FloatFormat to) {
  uint64_t sign = bits >> (from.exponentBits + from.mantissaBits) & 1;
  uint64_t payload = bits & ((uint64_t(1) << from.mantissaBits) - 1);
  payload = from.mantissaBits > to.mantissaBits
                ? payload >> (from.mantissaBits - to.mantissaBits)
                : payload << (to.mantissaBits - from.mantissaBits);
  uint64_t exponent = (uint64_t(1) << to.exponentBits) - 1;
  return (sign << to.exponentBits | exponent) << to.mantissaBits |
         uint64_t(1) << (to.mantissaBits - 1) | payload;
}

/// What NaN becomes, where that is not the canonical NaN of the destination.
/// Only the conversions that the card does without arithmetic, and those from
/// f64, keep a payload.
bool convertNaN(uint64_t raw, const Op &op, uint64_t &result) {
  Type to = dstType(op), from = srcType(op);
  Round round = roundOf(op);
  if (op.aux & kSat || round >= Round::RNI)
    return false;
  if (from == Type::F64 && to != Type::F64) {
    FloatFormat format = to == Type::F16    ? kF16
                         : to == Type::BF16 ? kBF16
                                            : kF32;
    result = resizeNaN(raw, kF64, format);
    return true;
  }
  if (from == Type::BF16 && to == Type::F32 && !(op.aux & kFtz))
    result = raw << 16;
  else if (from == Type::F32 && to == Type::F32 && op.aux == 0)
    result = raw;
  else if (from == Type::F32 && to == Type::F64)
    result = op.aux & kFtz ? resizeNaN(kNaN32, kF32, kF64)
                           : resizeNaN(raw, kF32, kF64);
  else
    return false;
  return true;
}

/// NaN becomes zero, or 2^(bits - 1) if either side has 64 bits.
uint64_t floatToInt(double v, Type t, Type from, Round round) {
  unsigned bits = bitWidth(t);
  if (std::isnan(v)) {
    uint64_t top = uint64_t(1) << (bits - 1);
    if (from != Type::F64 && bits != 64)
      return 0;
    return isSigned(t) ? uint64_t(0) - top : top;
  }
  v = integral(v, round);
  if (isSigned(t)) {
    double limit = std::ldexp(1.0, bits - 1);
    if (v >= limit)
      return (uint64_t(1) << (bits - 1)) - 1;
    if (v < -limit)
      return uint64_t(0) - (uint64_t(1) << (bits - 1));
    return uint64_t(int64_t(v));
  }
  if (v <= 0)
    return 0;
  if (v >= std::ldexp(1.0, bits))
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return uint64_t(v);
}

uint64_t fromDouble(double v, Type t, Round round, uint32_t flags) {
  if (flags & kSat)
    v = std::isnan(v) || v <= 0 ? 0.0 : v > 1 ? 1.0 : v;
  if (flags & kRelu && !std::isnan(v) && v <= 0)
    v = 0;
  bool finite = flags & kSatFinite;
  switch (t) {
  case Type::F16:
    return encode(v, kF16, round, finite);
  case Type::BF16:
    return encode(v, kBF16, round, finite);
  case Type::F32: {
    float f = bitsToFloat(encode(v, kF32, round));
    return floatToBits(flags & kFtz ? flush(f) : f);
  }
  default: {
    uint64_t u;
    std::memcpy(&u, &v, 8);
    return u;
  }
  }
}

/// A 64-bit integer as a double rounded to odd, so that one more rounding to
/// a shorter format is correct.
double intToDouble(int64_t v, bool isSignedInt) {
  uint64_t low = uint64_t(v) & 0xffffffff;
  double high = isSignedInt ? double(v >> 32) : double(uint64_t(v) >> 32);
  return addToOdd(high * 4294967296.0, double(low));
}

uint64_t saturateInt(int64_t v, Type from, Type to) {
  unsigned bits = bitWidth(to);
  bool big = !isSigned(from) && v < 0; // an unsigned value of 2^63 or more
  if (isSigned(to)) {
    int64_t max = int64_t((uint64_t(1) << (bits - 1)) - 1);
    if (big || v > max)
      return uint64_t(max);
    return uint64_t(std::max(v, -max - 1));
  }
  if (isSigned(from) && v < 0)
    return 0;
  uint64_t max = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return std::min(uint64_t(v), max);
}

uint64_t convert(uint64_t raw, const Op &op) {
  Type to = dstType(op), from = srcType(op);
  Round round = roundOf(op);
  bool ftz = op.aux & kFtz;
  if (!isFloat(from)) {
    int64_t v = extend(raw, from);
    if (!isFloat(to))
      return op.aux & kSat ? saturateInt(v, from, to) : extend(uint64_t(v), to);
    if (to == Type::F64)
      return fromDouble(integerToDouble(uint64_t(v), isSigned(from), round), to,
                        Round::RN, op.aux);
    return fromDouble(intToDouble(v, isSigned(from)), to, round, op.aux);
  }
  // Rounding to f16 sees the subnormals of f32 even with '.ftz'.
  double v = toDouble(raw, from, ftz && to != Type::F16);
  if (!isFloat(to))
    return floatToInt(v, to, from, round);
  if (uint64_t kept; std::isnan(v) && convertNaN(raw, op, kept))
    return kept;
  if (round >= Round::RNI) {
    v = integral(v, round);
    round = Round::RN;
  }
  return fromDouble(v, to, round == Round::None ? Round::RN : round, op.aux);
}

// aux3: register bytes of destination and source.
Step execCvt(Warp &w, const Op &op, uint32_t mask) {
  unsigned dBytes = op.aux3 & 0xff, sBytes = op.aux3 >> 8;
  forLanes(mask, [&](unsigned lane) {
    writeReg(w, op.d, dBytes, lane,
             convert(readReg(w, op.a, sBytes, lane), op));
  });
  return Step::Next;
}

// cvt.{f16x2,bf16x2}.f32 d, a, b: a goes to the upper half.
template <bool Bf> Step execPack(Warp &w, const Op &op, uint32_t mask) {
  uint32_t *d = w.reg<uint32_t>(op.d);
  const float *a = w.reg<float>(op.a), *b = w.reg<float>(op.b);
  Round round = roundOf(op);
  if (round == Round::RN && op.aux == 0) {
    forLanes(mask, [&](unsigned i) {
      d[i] = uint32_t(Bf ? encodeBF16(a[i]) : encodeF16(a[i])) << 16 |
             (Bf ? encodeBF16(b[i]) : encodeF16(b[i]));
    });
    return Step::Next;
  }
  Type t = Bf ? Type::BF16 : Type::F16;
  forLanes(mask, [&](unsigned i) {
    d[i] = uint32_t(fromDouble(a[i], t, round, op.aux)) << 16 |
           uint32_t(fromDouble(b[i], t, round, op.aux));
  });
  return Step::Next;
}

template <class T, class S> struct Resize {
  static T apply(S v) { return T(v); }
};

/// Plain widening and narrowing between 32 and 64 bits, the common case.
ExecFn resize(Type to, Type from, unsigned dBytes, unsigned sBytes) {
  if (dBytes == 8 && sBytes == 4 && bitWidth(to) == 64)
    return from == Type::U32
               ? unary<uint64_t, uint32_t, Resize<uint64_t, uint32_t>>
           : from == Type::S32
               ? unary<int64_t, int32_t, Resize<int64_t, int32_t>>
               : nullptr;
  if (dBytes == 4 && sBytes == 8 && bitWidth(to) == 32 && bitWidth(from) == 64)
    return unary<uint32_t, uint64_t, Resize<uint32_t, uint64_t>>;
  return nullptr;
}

bool decodeCvt(Decoder &d) {
  if (isPackedConvert(d))
    return decodePackedConvert(d);
  Round round = d.takeRounding();
  if (d.take("ftz"))
    d.op.aux |= kFtz;
  if (d.take("sat"))
    d.op.aux |= kSat;
  if (d.take("relu"))
    d.op.aux |= kRelu;
  if (d.take("satfinite"))
    d.op.aux |= kSatFinite;
  Type to = d.takeType(), from = d.takeType();
  bool packed = to == Type::F16x2 || to == Type::BF16x2;
  if (packed) {
    if (from != Type::F32 || d.op.aux & (kFtz | kSat) || !d.expectOps(3))
      return false;
    if (round != Round::RN && round != Round::RZ)
      return d.fail("expected '.rn' or '.rz'");
    d.op.aux2 = unsigned(round) << 16;
    d.op.d = d.dst(d.operand(0), to);
    d.op.a = d.src(d.operand(1), from);
    d.op.b = d.src(d.operand(2), from);
    d.op.fn = to == Type::BF16x2 ? execPack<true> : execPack<false>;
    return d.ok();
  }
  auto scalar = [](Type t) {
    return (t >= Type::U8 && t <= Type::S64) || t == Type::F16 ||
           t == Type::BF16 || t == Type::F32 || t == Type::F64;
  };
  if (!scalar(to) || !scalar(from) || !d.expectOps(2))
    return false;
  // Which rounding the pair of types asks for.
  bool narrows = isFloat(to) && isFloat(from) && bitWidth(to) < bitWidth(from);
  bool integerRounding = round >= Round::RNI;
  if (isFloat(from) && !isFloat(to) && !integerRounding)
    return d.fail("expected an integer rounding mode, such as '.rzi'");
  if ((narrows || (isFloat(to) && !isFloat(from))) &&
      (round == Round::None || integerRounding))
    return d.fail("expected a rounding mode, such as '.rn'");
  if (!isFloat(to) && !isFloat(from) && round != Round::None)
    return d.fail("no rounding mode is allowed here");
  auto regBytes = [&](const Operand &o, Type t) {
    Type r = d.regType(o);
    unsigned bits = r == Type::None ? bitWidth(t) : bitWidth(r);
    return std::max(2u, bits / 8);
  };
  unsigned dBytes = d.operand(0).kind == Operand::Sink
                        ? std::max(2u, byteWidth(to))
                        : regBytes(d.operand(0), to);
  unsigned sBytes = regBytes(d.operand(1), from);
  d.op.aux2 = unsigned(to) | unsigned(from) << 8 | unsigned(round) << 16;
  d.op.aux3 = dBytes | sBytes << 8;
  d.op.d = d.dst(d.operand(0), to, true);
  d.op.a = d.src(d.operand(1), from, true);
  d.op.fn = execCvt;
  if (d.op.aux == 0 && !isFloat(to) && !isFloat(from))
    if (ExecFn fast = resize(to, from, dBytes, sBytes))
      d.op.fn = fast;
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kConvertOps[] = {{"cvt", decodeCvt},
                                           {nullptr, nullptr}};
