// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// mov, address-space conversion and cluster addressing.

#include "Lanewise.h"

#include <chrono>

using namespace ptxsim;

namespace {

struct Copy {
  template <class T> static T apply(T v) { return v; }
};

Step execMovPred(Warp &w, const Op &op, uint32_t mask) {
  w.setPred(op.d, mask, w.pred(op.a));
  return Step::Next;
}

// {a, b, ...} to one register and back. aux: bytes of an element, aux2: bytes
// of the whole. The first element is the least significant.
Step execPackVector(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *list = &w.cta.program.lists[op.list];
  forLanes(mask, [&](unsigned lane) {
    uint8_t *to = w.reg<uint8_t>(op.d) + size_t(op.aux2) * lane;
    uint8_t value[16];
    for (unsigned i = 0; i < op.count; ++i)
      std::copy_n(w.reg<uint8_t>(list[i]) + size_t(op.aux) * lane, op.aux,
                  value + i * op.aux);
    std::copy_n(value, op.aux2, to);
  });
  return Step::Next;
}

Step execUnpackVector(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *list = &w.cta.program.lists[op.list];
  forLanes(mask, [&](unsigned lane) {
    uint8_t value[16];
    std::copy_n(w.reg<uint8_t>(op.a) + size_t(op.aux2) * lane, op.aux2, value);
    for (unsigned i = 0; i < op.count; ++i)
      std::copy_n(value + i * op.aux, op.aux,
                  w.reg<uint8_t>(list[i]) + size_t(op.aux) * lane);
  });
  return Step::Next;
}

// Clocks count executed instructions: they only promise to go forward.
template <class T> Step execClock(Warp &w, const Op &op, uint32_t mask) {
  uint64_t now = w.cta.stats.warpInstructions;
  forLanes(mask, [&](unsigned lane) {
    w.reg<T>(op.d)[lane] = T(op.aux ? now >> 32 : now);
  });
  return Step::Next;
}

bool decodeVectorMove(Decoder &d, Type t, const Operand &vec,
                      const Operand &whole, bool unpack) {
  size_t n = vec.elems.size();
  unsigned bits = bitWidth(t);
  if ((n != 2 && n != 4) || bits < 16 * n || bits % (8 * n))
    return d.fail("vector does not match type '" + std::string(typeName(t)) +
                  "'");
  static constexpr Type kParts[] = {Type::B16, Type::B32, Type::B64};
  Type part = kParts[bits / n == 16 ? 0 : bits / n == 32 ? 1 : 2];
  d.op.aux = bits / n / 8;
  d.op.aux2 = bits / 8;
  if (unpack)
    d.op.a = d.src(whole, t);
  else
    d.op.d = d.dst(whole, t);
  d.op.fn = unpack ? execUnpackVector : execPackVector;
  return d.list(vec, part, unpack) && d.ok();
}

bool decodeMov(Decoder &d) {
  Type t = d.takeType();
  if (!d.expectOps(2))
    return false;
  const Operand &to = d.operand(0), &from = d.operand(1);
  if (from.kind == Operand::Vector)
    return decodeVectorMove(d, t, from, to, false);
  if (to.kind == Operand::Vector)
    return decodeVectorMove(d, t, to, from, true);
  if (from.kind == Operand::Special) {
    const std::string &n = from.name;
    bool lo = n == "%clock" || n == "%clock_lo" || n == "%globaltimer_lo";
    bool hi = n == "%clock_hi" || n == "%globaltimer_hi";
    bool wide = n == "%clock64" || n == "%globaltimer";
    if (lo || hi || wide) {
      d.op.aux = hi;
      d.op.d = d.dst(to, t);
      d.op.fn = wide ? execClock<uint64_t> : execClock<uint32_t>;
      return bitWidth(t) == (wide ? 64u : 32u) && d.ok();
    }
  }
  if (t == Type::Pred) {
    d.op.d = d.predicate(to);
    d.op.a = d.src(from, t);
    d.op.fn = execMovPred;
    return d.ok();
  }
  switch (bitWidth(t)) {
  case 16:
    d.op.fn = unary<uint16_t, uint16_t, Copy>;
    break;
  case 32:
    d.op.fn = unary<uint32_t, uint32_t, Copy>;
    break;
  case 64:
    d.op.fn = unary<uint64_t, uint64_t, Copy>;
    break;
  case 128:
    d.op.fn = unary<unsigned __int128, unsigned __int128, Copy>;
    break;
  default:
    return false;
  }
  return takeOperands(d, t, 1);
}

uint64_t windowOf(Decoder &d) {
  if (d.takeAny({"shared", "shared::cta", "shared::cluster"}))
    return kSharedWindow;
  if (d.take("local"))
    return kLocalWindow;
  if (d.takeAny({"param", "param::entry"}))
    return kParamWindow;
  return 0;
}

// A window is added or removed by exclusive or: an address of another space
// then stays outside every space and faults when it is used.
Step execCvta(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    w.reg<uint64_t>(op.d)[lane] =
        w.reg<uint64_t>(op.a)[lane] ^ uint64_t(op.imm);
  });
  return Step::Next;
}

bool decodeCvta(Decoder &d) {
  d.take("to");
  uint64_t window = windowOf(d);
  if (!window && !d.takeAny({"global", "const"}))
    return d.fail("expected a state space");
  Type t = d.takeType();
  if (t != Type::U64)
    return d.fail("expected type u64");
  d.op.imm = int64_t(window);
  d.op.fn = execCvta;
  return takeOperands(d, t, 1);
}

// Constant variables lie among the global ones, as read-only regions.
bool inConstant(const Warp &w, uint64_t address) {
  const Memory::Region *r = w.cta.memory.find(address);
  return r && !r->writable && r->name.compare(0, 9, "variable ") == 0;
}

Step execIsSpace(Warp &w, const Op &op, uint32_t mask) {
  uint32_t r = 0;
  forLanes(mask, [&](unsigned lane) {
    uint64_t a = w.reg<uint64_t>(op.a)[lane] & kWindowMask;
    bool known = a == kSharedWindow || a == kLocalWindow || a == kParamWindow;
    bool is = op.imm ? a == uint64_t(op.imm) : !known;
    if (is && !op.imm)
      is = inConstant(w, w.reg<uint64_t>(op.a)[lane]) == (op.aux != 0);
    r |= uint32_t(is) << lane;
  });
  w.setPred(op.d, mask, r);
  return Step::Next;
}

bool decodeIsSpace(Decoder &d) {
  d.op.imm = int64_t(windowOf(d));
  if (!d.op.imm) {
    d.op.aux = d.take("const");
    if (!d.op.aux && !d.take("global"))
      return false;
  }
  if (!d.expectOps(2))
    return false;
  d.op.d = d.predicate(d.operand(0));
  d.op.a = d.src(d.operand(1), Type::U64);
  d.op.fn = execIsSpace;
  return d.ok();
}

// A cluster has one CTA: its shared::cluster addresses are its shared::cta
// addresses.
template <class T> Step execMapa(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    good &= w.reg<uint32_t>(op.b)[lane] == 0;
    w.reg<T>(op.d)[lane] = w.reg<T>(op.a)[lane];
  });
  return good ? Step::Next
              : w.fault(op, "bad-cluster",
                        "expected CTA rank 0 in a cluster of one CTA");
}

bool decodeMapa(Decoder &d) {
  d.take("shared::cluster");
  Type t = d.takeType();
  if (!d.expectOps(3) || (t != Type::U32 && t != Type::U64))
    return false;
  d.op.d = d.dst(d.operand(0), t);
  d.op.a = d.src(d.operand(1), t);
  d.op.b = d.src(d.operand(2), Type::U32);
  d.op.fn = t == Type::U32 ? execMapa<uint32_t> : execMapa<uint64_t>;
  return d.ok();
}

Step execRank(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) { w.reg<uint32_t>(op.d)[lane] = 0; });
  return Step::Next;
}

bool decodeRank(Decoder &d) {
  d.take("shared::cluster");
  Type t = d.takeType();
  if (!d.expectOps(2) || (t != Type::U32 && t != Type::U64))
    return false;
  d.op.d = d.dst(d.operand(0), Type::U32);
  d.op.a = d.src(d.operand(1), t);
  d.op.fn = execRank;
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kMoveOps[] = {
    {"mov", decodeMov},          {"cvta", decodeCvta},
    {"isspacep", decodeIsSpace}, {"mapa", decodeMapa},
    {"getctarank", decodeRank},  {nullptr, nullptr}};
