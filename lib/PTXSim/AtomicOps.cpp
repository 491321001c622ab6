// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// atom and red on global and shared memory. Lanes of a warp take effect one
// after the other, the lowest first; PTX promises no order.

#include "Access.h"
#include "Decoder.h"
#include "Reduction.h"

#include <algorithm>
#include <cstring>

using namespace ptxsim;

namespace {

constexpr uint32_t kCompareAndSwap = 255;

/// Generic addresses of atomics may name shared or global memory.
bool inGlobal(Space space, uint64_t address) {
  return space == Space::Global ||
         (space == Space::Generic && (address & kWindowMask) != kSharedWindow);
}

// aux: bytes of an element, aux2: space, aux3 bit 0: 64-bit address, imm:
// offset, d: operation, d2: type. The list holds count destinations (or kNone
// for red), count sources and, of cas, count new values.
Step execAtomic(Warp &w, const Op &op, uint32_t mask) {
  Cta &cta = w.cta;
  const uint32_t *to = &cta.program.lists[op.list], *from = to + op.count,
                 *swap = from + op.count;
  const unsigned bytes = op.aux, whole = bytes * op.count;
  const bool cas = op.d == kCompareAndSwap;
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    uint64_t address = w.address(op.a, op.aux3 & 1, op.imm, lane);
    // Reads as well as writes: unwritten shared memory is a fault.
    uint8_t *p =
        resolve(w, op, lane, Space(op.aux2), address, whole, false, true);
    good =
        p && resolve(w, op, lane, Space(op.aux2), address, whole, true, true);
    if (!good)
      return;
    std::unique_lock<std::mutex> lock;
    if (inGlobal(Space(op.aux2), address))
      lock = std::unique_lock<std::mutex>(globalLock(address));
    for (unsigned i = 0; i < op.count; ++i) {
      uint8_t old[16] = {}, now[16] = {};
      std::memcpy(old, p + bytes * i, bytes);
      std::memcpy(now, w.reg<uint8_t>(from[i]) + bytes * lane, bytes);
      if (cas) {
        bool same = std::memcmp(old, now, bytes) == 0;
        std::memcpy(now, old, bytes);
        if (same)
          std::memcpy(now, w.reg<uint8_t>(swap[i]) + bytes * lane, bytes);
      } else if (bytes <= 8) {
        uint64_t a, b;
        std::memcpy(&a, old, 8);
        std::memcpy(&b, now, 8);
        a = reduce(Reduction(op.d), Type(op.d2), a, b,
                   inGlobal(Space(op.aux2), address));
        std::memcpy(now, &a, 8);
      }
      std::memcpy(p + bytes * i, now, bytes);
      if (to[i] != kNone)
        std::memcpy(w.reg<uint8_t>(to[i]) + bytes * lane, old, bytes);
    }
  });
  ++cta.epoch;
  return good ? Step::Next : Step::Fault;
}

bool takeAtomicSpace(Decoder &d, Space &space) {
  if (d.takeAny({"shared", "shared::cta", "shared::cluster"}))
    space = Space::Shared;
  else
    space = d.take("global") ? Space::Global : Space::Generic;
  return true;
}

bool decodeAtomic(Decoder &d) {
  bool red = d.mnemonic() == "red";
  if (d.take("async"))
    return d.fail("'red.async' is not supported");
  Space space;
  takeAtomicSpace(d, space);
  d.takeMemoryQualifiers();
  // A policy follows the operands of '.L2::cache_hint'.
  bool hint = false;
  for (const std::string &part : d.in->parts)
    hint |= part == "L2::cache_hint";
  unsigned count = d.take("v2") ? 2 : d.take("v4") ? 4 : d.take("v8") ? 8 : 1;
  bool noftz = d.take("noftz");
  Reduction what = Reduction::Add;
  bool cas = d.take("cas"), found = cas;
  for (const char *name :
       {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"})
    if (!found && d.take(name))
      found = reductionByName(name, what);
  Type type = d.takeType();
  unsigned bytes = byteWidth(type);
  bool half = isFloat(type) && type != Type::F32 && type != Type::F64;
  if (!found || !d.ok())
    return false;
  if (cas ? type != Type::B16 && type != Type::B32 && type != Type::B64 &&
                type != Type::B128
          : !reductionTakes(what, type))
    return d.fail(std::string("type '") + typeName(type) +
                  "' does not go with this operation");
  if (half != noftz && !(half && count > 1))
    return d.fail(half ? "expected '.noftz' with a half-precision type"
                       : "'.noftz' needs a half-precision type");
  if (!cas && half && count == 1 && what != Reduction::Add)
    return d.fail("half-precision minimum and maximum need a vector");
  if (red && (cas || what == Reduction::Exch))
    return false;
  if (count > 1 && (space != Space::Global || !isFloat(type) ||
                    type == Type::F64 || bytes * count > 16))
    return d.fail("a vector needs global memory, a floating-point type and at "
                  "most 16 bytes");
  size_t first = red ? 0 : 1, sources = cas ? 2 : 1;
  if (!d.expectOps(first + 1 + sources + hint) || !d.address(d.operand(first)))
    return false;
  std::vector<uint32_t> regs;
  auto append = [&](const Operand &o, bool isDst) {
    uint32_t list = d.op.list;
    if (o.kind == Operand::Sink) {
      regs.insert(regs.end(), count, kNone);
      return true;
    }
    if ((o.kind == Operand::Vector) != (count > 1))
      return d.fail("expected a vector of " + std::to_string(count));
    if (!d.list(o, type, isDst))
      return false;
    if (d.op.count != count)
      return d.fail("expected a vector of " + std::to_string(count));
    regs.insert(regs.end(), d.program.lists.begin() + d.op.list,
                d.program.lists.begin() + d.op.list + count);
    d.op.list = list;
    return true;
  };
  if (red)
    regs.insert(regs.end(), count, kNone);
  else if (!append(d.operand(0), true))
    return false;
  for (size_t i = 0; i < sources; ++i) {
    const Operand &o = d.operand(first + 1 + i);
    if (o.kind == Operand::Sink)
      return d.fail("expected a source operand");
    if (!append(o, false))
      return false;
  }
  if (hint)
    d.src(d.operand(d.numOps() - 1), Type::B64);
  d.op.list = uint32_t(d.program.lists.size());
  d.op.count = count;
  d.program.lists.insert(d.program.lists.end(), regs.begin(), regs.end());
  d.op.aux = bytes;
  d.op.aux2 = unsigned(space);
  d.op.d = cas ? kCompareAndSwap : unsigned(what);
  d.op.d2 = unsigned(type);
  d.op.fn = execAtomic;
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kAtomicOps[] = {
    {"atom", decodeAtomic}, {"red", decodeAtomic}, {nullptr, nullptr}};
