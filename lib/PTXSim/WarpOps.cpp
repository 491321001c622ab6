// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Exchange between the lanes of a warp.

#include "Decoder.h"
#include "FloatFormat.h"
#include "Machine.h"

#include <algorithm>

using namespace ptxsim;

namespace {

enum ShflMode : uint32_t { kUp, kDown, kBfly, kIdx };

Step execShfl(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *a = w.reg<uint32_t>(op.a), *b = w.reg<uint32_t>(op.b),
                 *c = w.reg<uint32_t>(op.c);
  uint32_t result[32], inRange = 0;
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    int segment = c[lane] >> 8 & 31, clamp = c[lane] & 31, n = b[lane] & 31;
    int l = int(lane);
    int maxLane = (l & segment) | (clamp & ~segment);
    int minLane = l & segment;
    int j;
    bool p;
    switch (ShflMode(op.aux)) {
    case kUp:
      j = l - n;
      p = j >= maxLane;
      break;
    case kDown:
      j = l + n;
      p = j <= maxLane;
      break;
    case kBfly:
      j = l ^ n;
      p = j <= maxLane;
      break;
    default:
      j = minLane | (n & ~segment);
      p = j <= maxLane;
      break;
    }
    if (!p)
      j = l;
    if (!(mask >> j & 1)) {
      if (good)
        w.fault(op, "divergence",
                "lane " + std::to_string(lane) + " reads lane " +
                    std::to_string(j) + ", which does not take part");
      good = false;
      return;
    }
    result[lane] = a[j];
    inRange |= uint32_t(p) << lane;
  });
  if (!good)
    return Step::Fault;
  forLanes(mask,
           [&](unsigned lane) { w.reg<uint32_t>(op.d)[lane] = result[lane]; });
  if (op.d2 != kNone)
    w.setPred(op.d2, mask, inRange);
  return Step::Next;
}

bool takeMembers(Decoder &d, size_t index) {
  d.op.member = d.src(d.operand(index), Type::B32);
  d.op.flags |= kWarpSync;
  return d.ok();
}

bool decodeShfl(Decoder &d) {
  if (!d.take("sync"))
    return d.fail("only the '.sync' form exists on these targets");
  static constexpr const char *kModes[] = {"up", "down", "bfly", "idx"};
  bool found = false;
  for (unsigned i = 0; i < 4; ++i)
    if (d.take(kModes[i])) {
      d.op.aux = i;
      found = true;
    }
  if (!found || !d.take("b32") || !d.expectOps(5))
    return false;
  const Operand &out = d.operand(0);
  if (out.kind == Operand::Pair) {
    d.op.d = d.dst(out.elems[0], Type::B32);
    d.op.d2 = d.predicate(out.elems[1]);
  } else {
    d.op.d = d.dst(out, Type::B32);
  }
  d.op.a = d.src(d.operand(1), Type::B32);
  d.op.b = d.src(d.operand(2), Type::U32);
  d.op.c = d.src(d.operand(3), Type::U32);
  d.op.fn = execShfl;
  return takeMembers(d, 4);
}

enum VoteMode : uint32_t { kAll, kAny, kUni, kBallot };

Step execVote(Warp &w, const Op &op, uint32_t mask) {
  uint32_t p = w.predMask(op.a, op.negated) & mask;
  if (op.aux == kBallot) {
    forLanes(mask, [&](unsigned lane) { w.reg<uint32_t>(op.d)[lane] = p; });
    return Step::Next;
  }
  bool r = op.aux == kAll   ? p == mask
           : op.aux == kAny ? p != 0
                            : p == mask || p == 0;
  w.setPred(op.d, mask, r ? ~0u : 0);
  return Step::Next;
}

bool decodeVote(Decoder &d) {
  if (!d.take("sync"))
    return d.fail("only the '.sync' form exists on these targets");
  bool ballot = d.take("ballot");
  d.op.aux = ballot          ? kBallot
             : d.take("all") ? kAll
             : d.take("any") ? kAny
                             : kUni;
  if (d.op.aux == kUni && !d.take("uni"))
    return false;
  if (!d.take(ballot ? "b32" : "pred") || !d.expectOps(3))
    return false;
  d.op.d = ballot ? d.dst(d.operand(0), Type::B32) : d.predicate(d.operand(0));
  d.op.a = d.predicate(d.operand(1), d.op.negated);
  d.op.fn = execVote;
  return takeMembers(d, 2);
}

// The leader is the lowest lane, as seen on the machine; PTX promises only
// that it is the same one for the same mask.
Step execElect(Warp &w, const Op &op, uint32_t mask) {
  unsigned leader = __builtin_ctz(mask);
  forLanes(mask, [&](unsigned lane) { w.reg<uint32_t>(op.d)[lane] = leader; });
  w.setPred(op.d2, mask, 1u << leader);
  return Step::Next;
}

bool decodeElect(Decoder &d) {
  if (!d.take("sync") || !d.expectOps(2) || d.operand(0).kind != Operand::Pair)
    return false;
  d.op.d = d.dst(d.operand(0).elems[0], Type::B32);
  d.op.d2 = d.predicate(d.operand(0).elems[1]);
  d.op.fn = execElect;
  return takeMembers(d, 1);
}

template <class T> Step execMatch(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.reg<T>(op.a);
  uint32_t equal[32];
  forLanes(mask, [&](unsigned i) {
    equal[i] = 0;
    forLanes(mask,
             [&](unsigned j) { equal[i] |= uint32_t(a[i] == a[j]) << j; });
  });
  bool all = equal[__builtin_ctz(mask)] == mask;
  forLanes(mask, [&](unsigned i) {
    w.reg<uint32_t>(op.d)[i] = op.aux ? (all ? mask : 0) : equal[i];
  });
  if (op.d2 != kNone)
    w.setPred(op.d2, mask, all ? ~0u : 0);
  return Step::Next;
}

bool decodeMatch(Decoder &d) {
  d.op.aux = d.take("all");
  if (!d.op.aux && !d.take("any"))
    return false;
  if (!d.take("sync"))
    return false;
  Type t = d.takeType();
  if (!d.expectOps(3) || (t != Type::B32 && t != Type::B64))
    return false;
  const Operand &out = d.operand(0);
  if (out.kind == Operand::Pair) {
    d.op.d = d.dst(out.elems[0], Type::B32);
    d.op.d2 = d.predicate(out.elems[1]);
  } else {
    d.op.d = d.dst(out, Type::B32);
  }
  d.op.a = d.src(d.operand(1), t);
  d.op.fn = t == Type::B32 ? execMatch<uint32_t> : execMatch<uint64_t>;
  return takeMembers(d, 2);
}

enum ReduxOp : uint32_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

template <class T> Step execRedux(Warp &w, const Op &op, uint32_t mask) {
  const T *a = w.reg<T>(op.a);
  T r = a[__builtin_ctz(mask)];
  forLanes(mask & (mask - 1), [&](unsigned i) {
    switch (ReduxOp(op.aux)) {
    case kAdd:
      r = T(uint32_t(r) + uint32_t(a[i]));
      break;
    case kMin:
      r = std::min(r, a[i]);
      break;
    case kMax:
      r = std::max(r, a[i]);
      break;
    case kAnd:
      r &= a[i];
      break;
    case kOr:
      r |= a[i];
      break;
    case kXor:
      r ^= a[i];
      break;
    }
  });
  forLanes(mask, [&](unsigned i) { w.reg<T>(op.d)[i] = r; });
  return Step::Next;
}

// redux of f32: aux bit 0: maximum, bit 1: of absolute values, bit 2: a NaN
// wins.
Step execReduxFloat(Warp &w, const Op &op, uint32_t mask) {
  const float *a = w.reg<float>(op.a);
  bool first = true;
  float r = 0;
  bool sawNaN = false;
  forLanes(mask, [&](unsigned i) {
    float v = op.aux & 2 ? std::fabs(a[i]) : a[i];
    if (v != v) {
      sawNaN = true;
      return;
    }
    bool better = v == r ? std::signbit(v) != bool(op.aux & 1)
                         : (v > r) == bool(op.aux & 1);
    if (first || better)
      r = v;
    first = false;
  });
  if (first || (sawNaN && op.aux & 4))
    r = bitsToFloat(kNaN32);
  forLanes(mask, [&](unsigned i) { w.reg<float>(op.d)[i] = r; });
  return Step::Next;
}

bool decodeRedux(Decoder &d) {
  static constexpr const char *kNames[] = {"add", "min", "max",
                                           "and", "or",  "xor"};
  bool found = false;
  if (!d.take("sync"))
    return false;
  for (unsigned i = 0; i < 6; ++i)
    if (d.take(kNames[i])) {
      d.op.aux = i;
      found = true;
    }
  Type t = d.takeType();
  if (!found || !d.expectOps(3) || bitWidth(t) != 32)
    return false;
  if (t == Type::F32) {
    if (d.op.aux != kMin && d.op.aux != kMax)
      return d.fail("expected '.min' or '.max' with type f32");
    d.op.aux = d.op.aux == kMax;
    d.op.aux |= d.take("abs") ? 2 : 0;
    d.op.aux |= d.take("NaN") ? 4 : 0;
    d.op.d = d.dst(d.operand(0), t);
    d.op.a = d.src(d.operand(1), t);
    d.op.fn = execReduxFloat;
    return takeMembers(d, 2);
  }
  if (isFloat(t))
    return false;
  d.op.d = d.dst(d.operand(0), t);
  d.op.a = d.src(d.operand(1), t);
  d.op.fn = t == Type::S32 ? execRedux<int32_t> : execRedux<uint32_t>;
  return takeMembers(d, 2);
}

Step execActive(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) { w.reg<uint32_t>(op.d)[lane] = mask; });
  return Step::Next;
}

bool decodeActive(Decoder &d) {
  if (!d.take("b32") || !d.expectOps(1))
    return false;
  d.op.d = d.dst(d.operand(0), Type::B32);
  d.op.fn = execActive;
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kWarpOps[] = {
    {"shfl", decodeShfl},   {"vote", decodeVote},
    {"elect", decodeElect}, {"match", decodeMatch},
    {"redux", decodeRedux}, {"activemask", decodeActive},
    {nullptr, nullptr}};
