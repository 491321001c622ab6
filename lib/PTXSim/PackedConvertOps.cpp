// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// cvt to and from tf32, the 8-, 6- and 4-bit formats, and cvt.pack.

#include "ConvertOps.h"
#include "MatrixElement.h"

#include <algorithm>

using namespace ptxsim;

namespace {

enum Flags : uint32_t {
  kRelu = 1,
  kSaturates = 2,
  kHalfSource = 4,
  kScale = 8
};

float takeRelu(float v, uint32_t flags) {
  return flags & kRelu && v <= 0 ? 0.0f : v;
}

// tf32 keeps ten bits of the mantissa in the upper bits of a word. '.rna' is
// integer arithmetic on the word, NaN included, as on the machine.
Step execTF32(Warp &w, const Op &op, uint32_t mask) {
  constexpr FloatFormat kTF32{8, 10};
  constexpr uint32_t kUnit = 0x2000;
  forLanes(mask, [&](unsigned i) {
    float v = takeRelu(w.reg<float>(op.a)[i], op.aux);
    uint32_t &d = w.reg<uint32_t>(op.d)[i];
    if (Round(op.aux2) != Round::RNA) {
      d = encode(v, kTF32, Round(op.aux2)) << 13;
      return;
    }
    d = (floatToBits(v) + kUnit / 2) & ~(kUnit - 1);
    if (op.aux & kSaturates && (d & 0x7f800000) == 0x7f800000)
      d -= kUnit;
  });
  return Step::Next;
}

/// ue8m0: a power of two, 2^(code - 127); 255 is NaN.
uint8_t encodeScale(float v, Round round) {
  if (v != v)
    return 0xff;
  uint32_t u = floatToBits(std::fabs(v));
  if (u >= 0x7f800000)
    return 0xfe; // saturates
  uint32_t code = u >> 23, rest = u & 0x7fffff;
  if (round == Round::RP && rest)
    // A subnormal up to 2^-127 has code 0.
    code += code != 0 || rest > 0x400000;
  return uint8_t(std::min(code, 0xfeu));
}

float decodeScale(uint8_t code) {
  return code == 0xff ? bitsToFloat(kNaN32) : std::ldexp(1.0f, code - 127);
}

// Two values to two codes; a goes to the upper one.
Step execToSmall(Warp &w, const Op &op, uint32_t mask) {
  Element e = Element(op.aux3);
  auto code = [&](float v) {
    return op.aux & kScale ? encodeScale(v, Round(op.aux2))
                           : encodeSmall(e, takeRelu(v, op.aux));
  };
  forLanes(mask, [&](unsigned i) {
    float high, low;
    if (op.aux & kHalfSource) {
      uint32_t u = w.reg<uint32_t>(op.a)[i];
      bool bf = op.aux & kScale;
      high = bf ? decodeBF16(uint16_t(u >> 16)) : decodeF16(uint16_t(u >> 16));
      low = bf ? decodeBF16(uint16_t(u)) : decodeF16(uint16_t(u));
    } else {
      high = w.reg<float>(op.a)[i];
      low = w.reg<float>(op.b)[i];
    }
    w.reg<uint16_t>(op.d)[i] = uint16_t(code(high) << 8 | code(low));
  });
  return Step::Next;
}

Step execFromSmall(Warp &w, const Op &op, uint32_t mask) {
  Element e = Element(op.aux3);
  auto half = [&](uint8_t code) -> uint32_t {
    if (op.aux & kScale)
      return encodeBF16(decodeScale(code));
    return encodeF16(takeRelu(decodeSmall(e, code), op.aux));
  };
  forLanes(mask, [&](unsigned i) {
    uint16_t u = w.reg<uint16_t>(op.a)[i];
    w.reg<uint32_t>(op.d)[i] = half(uint8_t(u >> 8)) << 16 | half(uint8_t(u));
  });
  return Step::Next;
}

// cvt.pack.sat: two integers saturated to 16 bits, or to 8, 4 or 2 bits below
// the bits of c. aux: bits, aux2: signed.
Step execPack(Warp &w, const Op &op, uint32_t mask) {
  unsigned bits = op.aux;
  int64_t low = op.aux2 ? -(int64_t(1) << (bits - 1)) : 0;
  int64_t high = (int64_t(1) << (op.aux2 ? bits - 1 : bits)) - 1;
  uint32_t field = (1u << bits) - 1;
  forLanes(mask, [&](unsigned i) {
    auto saturate = [&](int32_t v) {
      return uint32_t(std::min(std::max<int64_t>(v, low), high)) & field;
    };
    uint32_t a = saturate(w.reg<int32_t>(op.a)[i]),
             b = saturate(w.reg<int32_t>(op.b)[i]);
    uint32_t r = a << bits | b;
    if (bits < 16)
      r |= w.reg<uint32_t>(op.c)[i] << (2 * bits);
    w.reg<uint32_t>(op.d)[i] = r;
  });
  return Step::Next;
}

bool decodePack(Decoder &d) {
  if (!d.take("sat"))
    return d.fail("expected '.sat'");
  static constexpr std::pair<const char *, unsigned> kNarrow[] = {
      {"u4", 4}, {"s4", 4}, {"u2", 2}, {"s2", 2}};
  for (auto &[name, bits] : kNarrow)
    if (!d.op.aux && d.take(name)) {
      d.op.aux = bits;
      d.op.aux2 = name[0] == 's';
    }
  if (!d.op.aux) {
    Type to = d.takeType();
    if (to != Type::U16 && to != Type::S16 && to != Type::U8 && to != Type::S8)
      return false;
    d.op.aux = bitWidth(to);
    d.op.aux2 = isSigned(to);
  }
  bool wide = d.op.aux == 16;
  if (d.takeType() != Type::S32)
    return false;
  if (!wide && !d.take("b32"))
    return d.fail("packing to fewer than 16 bits takes an operand of type b32");
  d.op.fn = execPack;
  if (!d.expectOps(wide ? 3 : 4))
    return false;
  d.op.d = d.dst(d.operand(0), Type::B32);
  d.op.a = d.src(d.operand(1), Type::S32);
  d.op.b = d.src(d.operand(2), Type::S32);
  if (!wide)
    d.op.c = d.src(d.operand(3), Type::B32);
  return d.ok();
}

bool smallByName(const std::string &name, Element &e) {
  static constexpr std::pair<const char *, Element> kNames[] = {
      {"e4m3x2", Element::E4M3},
      {"e5m2x2", Element::E5M2},
      {"e2m3x2", Element::E2M3},
      {"e3m2x2", Element::E3M2}};
  for (auto &[text, value] : kNames)
    if (name == text) {
      e = value;
      return true;
    }
  return false;
}

bool decodeTF32(Decoder &d, Round round) {
  if (!d.take("f32") || !d.take("tf32"))
    return d.fail("expected '.tf32.f32'");
  if (round != Round::RNA && round != Round::RN && round != Round::RZ)
    return d.fail("expected '.rna', '.rn' or '.rz'");
  d.op.aux2 = unsigned(round);
  d.op.fn = execTF32;
  if (!d.expectOps(2))
    return false;
  d.op.d = d.dst(d.operand(0), Type::B32);
  d.op.a = d.src(d.operand(1), Type::F32);
  return d.ok();
}

bool decodeSmallTo(Decoder &d, Round round, bool toSmall) {
  bool scale = d.op.aux & kScale;
  d.op.aux2 = unsigned(round);
  if (!toSmall) {
    if (round != Round::RN || !d.take(scale ? "bf16x2" : "f16x2") ||
        !d.expectOps(2))
      return false;
    d.op.d = d.dst(d.operand(0), Type::B32);
    d.op.a = d.src(d.operand(1), Type::B16);
    d.op.fn = execFromSmall;
    return d.ok();
  }
  bool rounds =
      scale ? round == Round::RZ || round == Round::RP : round == Round::RN;
  if (!rounds || (!scale && !(d.op.aux & kSaturates)))
    return d.fail(scale ? "expected '.rz' or '.rp'"
                        : "expected '.rn.satfinite'");
  bool half = d.take(scale ? "bf16x2" : "f16x2");
  if (!half && !d.take("f32"))
    return false;
  if (half)
    d.op.aux |= kHalfSource;
  if (!d.expectOps(half ? 2 : 3))
    return false;
  d.op.d = d.dst(d.operand(0), Type::B16);
  d.op.a = d.src(d.operand(1), half ? Type::B32 : Type::F32);
  if (!half)
    d.op.b = d.src(d.operand(2), Type::F32);
  d.op.fn = execToSmall;
  return d.ok();
}

} // namespace

bool ptxsim::isPackedConvert(const Decoder &d) {
  Element e;
  for (const std::string &part : d.in->parts)
    if (part == "pack" || part == "tf32" || part == "ue8m0x2" ||
        smallByName(part, e))
      return true;
  return false;
}

bool ptxsim::decodePackedConvert(Decoder &d) {
  if (d.take("pack"))
    return decodePack(d);
  Round round = d.takeRounding();
  if (d.take("relu"))
    d.op.aux |= kRelu;
  if (d.take("satfinite"))
    d.op.aux |= kSaturates;
  Element e;
  size_t at = 0;
  for (size_t i = 1; i < d.in->parts.size(); ++i) {
    const std::string &part = d.in->parts[i];
    if (part == "tf32")
      return decodeTF32(d, round);
    bool scale = part == "ue8m0x2";
    if (!scale && !smallByName(part, e))
      continue;
    d.take(part);
    at = i;
    if (scale)
      d.op.aux |= kScale;
    else
      d.op.aux3 = unsigned(e);
    break;
  }
  // The destination's type stands before the source's.
  return decodeSmallTo(d, round, at + 1 < d.in->parts.size());
}
