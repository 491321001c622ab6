// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads and stores of every state space, and prefetches.

#include "Access.h"
#include "Decoder.h"

#include <algorithm>
#include <cstring>

using namespace ptxsim;

uint8_t *ptxsim::resolve(Warp &w, const Op &op, unsigned lane, Space space,
                         uint64_t address, unsigned size, bool write,
                         bool atomic) {
  Cta &cta = w.cta;
  const char *verb = write ? "write" : "read";
  auto bad = [&](const char *kind, const std::string &what) -> uint8_t * {
    w.fault(op, kind,
            std::string(verb) + " of " + std::to_string(size) + " bytes at " +
                what + " by lane " + std::to_string(lane));
    return nullptr;
  };
  if (space == Space::Generic) {
    uint64_t window = address & kWindowMask;
    space = window == kSharedWindow  ? Space::Shared
            : window == kLocalWindow ? Space::Local
            : window == kParamWindow ? Space::Param
                                     : Space::Global;
    if (space != Space::Global)
      address &= ~kWindowMask;
  }
  if (address % size)
    return bad("misaligned",
               hexString(address) + ", which is not a multiple of its size,");
  switch (space) {
  case Space::Shared: {
    if ((address & kWindowMask) == kSharedWindow)
      address &= ~kWindowMask;
    if (!cta.shared.contains(address, size))
      return bad("out-of-bounds", "shared address " + hexString(address) +
                                      " outside [0x400, " +
                                      hexString(cta.shared.end()) + ")");
    uint32_t a = uint32_t(address);
    if (write) {
      if (cta.shared.holdsBarrier(a, size))
        return bad("bad-mbarrier", "shared address " + hexString(a) +
                                       ", which holds an mbarrier,");
      cta.shared.mark(a, size, SharedMemory::Init);
    } else {
      auto state = cta.shared.query(a, size);
      if (state == SharedMemory::Uninit)
        return bad("uninitialised", "shared address " +
                                        cta.program.sharedText(uint32_t(a)) +
                                        ", which was never written,");
      if (state == SharedMemory::Barrier)
        return bad("bad-mbarrier", "shared address " + hexString(a) +
                                       ", which holds an mbarrier,");
    }
    if (cta.race && !atomic && !cta.race->generic(w, op, lane, a, size, write))
      return nullptr;
    return &cta.shared.bytes[a];
  }
  case Space::Local:
    if (address > cta.program.localBytes ||
        size > cta.program.localBytes - address)
      return bad("out-of-bounds", "local address " + hexString(address));
    return &w.local[size_t(lane) * cta.program.localBytes + address];
  case Space::Param:
    if (write)
      return bad("out-of-bounds", "kernel parameter " + hexString(address));
    if (address > cta.params.size() || size > cta.params.size() - address)
      return bad("out-of-bounds",
                 "parameter address " + hexString(address) + " of " +
                     std::to_string(cta.params.size()) + " bytes");
    for (size_t i = 0; i < cta.launch.params.size(); ++i)
      if (cta.launch.params[i].isTensorMap &&
          address + size > cta.program.paramOffsets[i] &&
          address < cta.program.paramOffsets[i] + 128)
        return bad("bad-tensor-map",
                   "parameter address " + hexString(address) +
                       " inside a tensor map, which is opaque,");
    return &cta.params[address];
  default: {
    uint8_t *p = cta.memory.translate(address, size);
    if (!p)
      return bad("out-of-bounds", "global address " + hexString(address) +
                                      " (" + cta.memory.describe(address) +
                                      ")");
    const Memory::Region *region = cta.memory.find(address);
    if (write && !region->writable)
      return bad("out-of-bounds", "global address " + hexString(address) +
                                      " of read-only '" + region->name + "'");
    return p;
  }
  }
}

namespace {

void copyBytes(uint8_t *to, const uint8_t *from, unsigned n) {
  switch (n) {
  case 1:
    *to = *from;
    break;
  case 2:
    std::memcpy(to, from, 2);
    break;
  case 4:
    std::memcpy(to, from, 4);
    break;
  case 8:
    std::memcpy(to, from, 8);
    break;
  default:
    std::memcpy(to, from, n);
    break;
  }
}

// aux: bytes of an element, aux2: space, imm: offset, aux3 bit 0: 64-bit
// address, bit 1: sign-extend. The list holds registers, then their bytes.
Step execLoad(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *regs = &w.cta.program.lists[op.list];
  const uint32_t *widths = regs + op.count;
  unsigned bytes = op.aux;
  uint8_t *sources[32];
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    uint64_t address = w.address(op.a, op.aux3 & 1, op.imm, lane);
    sources[lane] =
        resolve(w, op, lane, Space(op.aux2), address, bytes * op.count, false);
    good = sources[lane] != nullptr;
  });
  if (!good)
    return Step::Fault;
  for (unsigned i = 0; i < op.count; ++i) {
    unsigned width = widths[i];
    uint8_t *to = w.reg<uint8_t>(regs[i]);
    if (width == bytes) {
      forLanes(mask, [&](unsigned lane) {
        copyBytes(to + width * lane, sources[lane] + bytes * i, bytes);
      });
      continue;
    }
    forLanes(mask, [&](unsigned lane) {
      uint64_t value = 0;
      copyBytes(reinterpret_cast<uint8_t *>(&value), sources[lane] + bytes * i,
                bytes);
      if (op.aux3 & 2) {
        unsigned shift = 64 - 8 * bytes;
        value = uint64_t(int64_t(value << shift) >> shift);
      }
      copyBytes(to + width * lane, reinterpret_cast<uint8_t *>(&value), width);
    });
  }
  return Step::Next;
}

Step execStore(Warp &w, const Op &op, uint32_t mask) {
  const uint32_t *regs = &w.cta.program.lists[op.list];
  const uint32_t *widths = regs + op.count;
  unsigned bytes = op.aux;
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    if (!good)
      return;
    uint64_t address = w.address(op.a, op.aux3 & 1, op.imm, lane);
    uint8_t *to =
        resolve(w, op, lane, Space(op.aux2), address, bytes * op.count, true);
    good = to != nullptr;
    for (unsigned i = 0; good && i < op.count; ++i)
      copyBytes(to + bytes * i, w.reg<uint8_t>(regs[i]) + widths[i] * lane,
                bytes);
  });
  ++w.cta.epoch;
  return good ? Step::Next : Step::Fault;
}

bool takeSpace(Decoder &d, Space &space) {
  if (d.takeAny({"shared", "shared::cta", "shared::cluster"}))
    space = Space::Shared;
  else if (d.takeAny({"global", "const"}))
    space = Space::Global;
  else if (d.take("local"))
    space = Space::Local;
  else if (d.takeAny({"param", "param::entry", "param::func"}))
    space = Space::Param;
  else
    space = Space::Generic;
  return true;
}

bool decodeLoadStore(Decoder &d) {
  bool load = d.mnemonic() != "st";
  bool entryParam = false;
  for (const std::string &part : d.in->parts)
    entryParam |= part == "param::entry";
  Space space;
  takeSpace(d, space);
  d.takeMemoryQualifiers();
  unsigned count = d.take("v2") ? 2 : d.take("v4") ? 4 : d.take("v8") ? 8 : 1;
  Type t = d.takeType();
  if (t == Type::Pred || (t == Type::B128 && count > 1) ||
      bitWidth(t) * count > 256)
    return d.fail("this access is too wide");
  // A cache policy may follow the operands.
  if (!d.expectOps(2, 3))
    return false;
  if (d.numOps() == 3)
    d.src(d.operand(2), Type::B64);
  const Operand &value = d.operand(load ? 0 : 1);
  const Operand &where = d.operand(load ? 1 : 0);
  if (!d.address(where))
    return false;
  // Parameters of functions and arguments of calls lie in local memory.
  if (space == Space::Param &&
      (where.elems[0].kind == Operand::Symbol ? d.symbolSpace == Variable::Local
                                              : d.inFunction() && !entryParam))
    space = Space::Local;
  if (!d.list(value, t, load, true))
    return false;
  if (d.op.count != count)
    return d.fail("expected " + std::to_string(count) + " elements, but got " +
                  std::to_string(d.op.count));
  unsigned bytes = byteWidth(t);
  for (unsigned i = 0; i < count; ++i) {
    const Operand &e = value.kind == Operand::Vector ? value.elems[i] : value;
    Type r = d.regType(e);
    d.program.lists.push_back(r == Type::None ? std::max(2u, bytes)
                                              : bitWidth(r) / 8);
  }
  d.op.aux = bytes;
  d.op.aux2 = unsigned(space);
  if (isSigned(t))
    d.op.aux3 |= 2;
  d.op.fn = load ? execLoad : execStore;
  return d.ok();
}

Step execNothing(Warp &, const Op &, uint32_t) { return Step::Next; }

// Prefetches have no effect on values; their operands are still checked.
bool decodePrefetch(Decoder &d) {
  d.takeAny({"tensormap", "param", "global", "const", "local", "L1", "L2",
             "L2::evict_last", "L2::evict_normal"});
  d.op.fn = execNothing;
  return d.expectOps(1) && d.address(d.operand(0));
}

Step execPolicy(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) { w.reg<uint64_t>(op.d)[lane] = 0; });
  return Step::Next;
}

// L2 policies change timing only.
bool decodePolicy(Decoder &d) {
  if (!d.takeAny({"fractional", "range"}))
    return false;
  d.takeMemoryQualifiers();
  d.takeAny({"global", "b64"});
  if (!d.expectOps(1, 4))
    return false;
  d.op.d = d.dst(d.operand(0), Type::B64);
  d.op.fn = execPolicy;
  return d.ok();
}

} // namespace

const DecodeEntry ptxsim::kMemoryOps[] = {{"ld", decodeLoadStore},
                                          {"ldu", decodeLoadStore},
                                          {"st", decodeLoadStore},
                                          {"prefetch", decodePrefetch},
                                          {"prefetchu", decodePrefetch},
                                          {"createpolicy", decodePolicy},
                                          {nullptr, nullptr}};
