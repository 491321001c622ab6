// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CTA barriers by id and count, fences, setmaxnreg and other
// synchronisation of whole warps.

#include "ClusterBarrier.h"
#include "Decoder.h"
#include "Machine.h"

#include <algorithm>

using namespace ptxsim;

namespace {

enum BarFlags : uint32_t { kSync = 1, kArriveOnly = 2, kRed = 4 };
enum RedKind : uint32_t { kPopc, kAnd, kOr };

} // namespace

void Cta::namedBarrierCheck(unsigned index) {
  NamedBarrier &b = named[index];
  if (b.expected == 0)
    return;
  if (b.wholeCta) {
    // Threads that exited are not waited for; a warp counts whole.
    uint32_t n = 0;
    for (auto &warp : warps)
      n += warp->live ? 32 : 0;
    b.expected = n;
  }
  if (b.arrived < b.expected)
    return;
  b.lastPopc = b.popc;
  b.lastAll = b.all;
  b.lastAny = b.any;
  if (race)
    race->namedDone(index);
  uint64_t generation = b.generation + 1;
  b = {0, 0, false,      false,     generation, 0,
       1, 0, b.lastPopc, b.lastAll, b.lastAny};
  ++epoch;
}

namespace {

void redResult(Warp &w, const Op &op, uint32_t mask, const NamedBarrier &b) {
  if (op.aux2 == kPopc)
    forLanes(mask,
             [&](unsigned lane) { w.reg<uint32_t>(op.d)[lane] = b.lastPopc; });
  else
    w.setPred(op.d, mask, (op.aux2 == kAnd ? b.lastAll : b.lastAny) ? ~0u : 0);
}

Step execBar(Warp &w, const Op &op, uint32_t mask) {
  Split &s = w.split();
  unsigned first = __builtin_ctz(mask);
  uint32_t id = w.reg<uint32_t>(op.a)[first];
  if (id > 15)
    return w.fault(op, "bad-barrier",
                   "expected a barrier id of 0 to 15, but got " +
                       std::to_string(id));
  NamedBarrier &b = w.cta.named[id];
  if (s.armed) {
    if (b.generation == s.ticket)
      return Step::Blocked;
    if (w.cta.race)
      w.cta.race->leaveNamed(w, mask, id);
    if (op.aux & kRed)
      redResult(w, op, mask, b);
    return Step::Next;
  }
  bool uniform = true;
  forLanes(mask, [&](unsigned lane) {
    uniform &= w.reg<uint32_t>(op.a)[lane] == id;
    if (op.b != kNone)
      uniform &= w.reg<uint32_t>(op.b)[lane] == w.reg<uint32_t>(op.b)[first];
  });
  if (!uniform)
    return w.fault(op, "bad-barrier",
                   "lanes of a warp give different barrier ids or counts");
  bool whole = op.b == kNone;
  uint32_t count =
      whole ? unsigned(w.cta.warps.size()) * 32 : w.reg<uint32_t>(op.b)[first];
  // More than the CTA has is fine: a thread may arrive and then sync.
  if (count == 0 || count % 32)
    return w.fault(op, "bad-barrier",
                   "expected a thread count that is a multiple of 32, but "
                   "got " +
                       std::to_string(count));
  if (b.expected && (b.wholeCta != whole || (!whole && b.expected != count)))
    return w.fault(op, "bad-barrier",
                   "barrier " + std::to_string(id) + " is waited for with " +
                       std::to_string(b.expected) + " threads and with " +
                       std::to_string(count));
  if (b.expected && b.reduces != bool(op.aux & kRed))
    return w.fault(op, "bad-barrier",
                   "barrier " + std::to_string(id) +
                       " mixes reduction and plain arrivals");
  b.expected = count;
  b.wholeCta = whole;
  b.reduces = op.aux & kRed;
  // An aligned arrival counts the whole warp; so does one of all that lives.
  uint32_t threads =
      (op.flags & kAligned) || mask == w.live ? 32 : __builtin_popcount(mask);
  if (b.arrived + threads > count && !whole)
    return w.fault(op, "bad-barrier",
                   std::to_string(b.arrived + threads) +
                       " threads arrive at barrier " + std::to_string(id) +
                       ", which expects " + std::to_string(count));
  if (op.aux & kRed) {
    uint32_t p = w.predMask(op.c, op.negated) & mask;
    b.popc += __builtin_popcount(p);
    b.all &= p == mask;
    b.any |= p != 0;
  }
  b.arrived += threads;
  s.ticket = b.generation;
  ++w.cta.epoch;
  if (w.cta.race)
    w.cta.race->arriveNamed(w, mask, id);
  w.cta.namedBarrierCheck(id);
  if (op.aux & kArriveOnly)
    return Step::Next;
  s.armed = true;
  if (b.generation == s.ticket)
    return Step::Blocked;
  if (w.cta.race)
    w.cta.race->leaveNamed(w, mask, id);
  if (op.aux & kRed)
    redResult(w, op, mask, b);
  return Step::Next;
}

Step execNothing(Warp &, const Op &, uint32_t) { return Step::Next; }
Step execYield(Warp &, const Op &, uint32_t) { return Step::Yield; }

Step execWarpBarrier(Warp &w, const Op &, uint32_t mask) {
  if (w.cta.race)
    w.cta.race->warpBarrier(w, mask);
  return Step::Next;
}

Step execProxyFence(Warp &w, const Op &, uint32_t mask) {
  if (w.cta.race)
    w.cta.race->proxyFence(w, mask);
  return Step::Next;
}

Step execInitFence(Warp &w, const Op &, uint32_t mask) {
  if (w.cta.race)
    w.cta.race->initFence(w, mask);
  return Step::Next;
}

Step execTrap(Warp &w, const Op &op, uint32_t) {
  return w.fault(op, "trap", "the program executes a trap");
}

// bar and barrier, with and without .cta; without .aligned only 'barrier'.
bool decodeBar(Decoder &d) {
  if (d.mnemonic() == "bar" && d.take("warp")) {
    if (!d.take("sync") || !d.expectOps(1))
      return false;
    d.op.member = d.src(d.operand(0), Type::B32);
    d.op.flags |= kWarpSync;
    d.op.fn = execWarpBarrier;
    return d.ok();
  }
  if (d.take("cluster")) {
    return decodeClusterBarrier(d);
  }
  d.take("cta");
  bool aligned = d.take("aligned") || d.mnemonic() == "bar";
  if (aligned)
    d.op.flags |= kAligned;
  d.op.fn = execBar;
  if (d.take("red")) {
    d.op.aux = kSync | kRed;
    d.op.aux2 = d.take("popc") ? kPopc : d.take("and") ? kAnd : kOr;
    if (d.op.aux2 == kOr && !d.take("or"))
      return false;
    d.takeType();
    if (!d.expectOps(3, 4))
      return false;
    d.op.d = d.op.aux2 == kPopc ? d.dst(d.operand(0), Type::U32)
                                : d.predicate(d.operand(0));
    d.op.a = d.src(d.operand(1), Type::U32);
    if (d.numOps() == 4)
      d.op.b = d.src(d.operand(2), Type::U32);
    d.op.c = d.predicate(d.operand(d.numOps() - 1), d.op.negated);
    return d.ok();
  }
  bool arrive = d.take("arrive");
  if (!arrive && !d.take("sync"))
    return false;
  d.op.aux = arrive ? kArriveOnly : kSync;
  if (!d.expectOps(arrive ? 2 : 1, 2))
    return false;
  d.op.a = d.src(d.operand(0), Type::U32);
  if (d.numOps() == 2)
    d.op.b = d.src(d.operand(1), Type::U32);
  return d.ok();
}

// Fences order accesses that the simulator already performs in order; which
// of them are missing is for the race detector.
bool decodeFence(Decoder &d) {
  d.op.fn = execNothing;
  if (d.mnemonic() == "membar") {
    if (!d.takeAny({"cta", "gl", "sys"}))
      return false;
    return d.expectOps(0);
  }
  if (d.take("mbarrier_init")) {
    d.op.fn = execInitFence;
    return d.take("release") && d.take("cluster") && d.expectOps(0);
  }
  if (d.take("proxy")) {
    if (d.take("async")) {
      if (!d.take("global")) {
        d.takeAny({"shared::cta", "shared::cluster"});
        d.op.fn = execProxyFence;
      }
      return d.expectOps(0);
    }
    d.takeAny({"async::generic", "alias", "async.shared::cta"});
    d.takeAny({"acquire", "release", "sync_restrict::shared::cta",
               "sync_restrict::shared::cluster", "cluster", "cta", "gpu",
               "sys"});
    if (d.take("tensormap::generic"))
      return d.expectOps(0, 2);
    return d.expectOps(0);
  }
  d.takeAny({"sc", "acq_rel", "acquire", "release",
             "sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  return d.takeAny({"cta", "cluster", "gpu", "sys"}) && d.expectOps(0);
}

// The register file as setmaxnreg sees it: 'inc' waits for the pool.
Step execSetMaxReg(Warp &w, const Op &op, uint32_t) {
  uint32_t want = uint32_t(op.imm);
  bool inc = op.aux;
  if (inc ? w.maxRegs > want : w.maxRegs < want)
    return w.fault(op, "bad-setmaxnreg",
                   std::string(inc ? "increase" : "decrease") + " to " +
                       std::to_string(want) + " from " +
                       std::to_string(w.maxRegs) + " registers");
  int64_t delta = (int64_t(want) - w.maxRegs) * 32;
  if (delta > w.cta.regPool)
    return Step::Blocked;
  w.cta.regPool -= delta;
  w.maxRegs = want;
  ++w.cta.epoch;
  return Step::Next;
}

bool decodeSetMaxReg(Decoder &d) {
  d.op.aux = d.take("inc");
  if (!d.op.aux && !d.take("dec"))
    return false;
  if (!d.take("sync") || !d.take("aligned") || !d.take("u32") ||
      !d.expectOps(1) || !d.immediate(d.operand(0), d.op.imm))
    return false;
  if (d.op.imm < 24 || d.op.imm > 256 || d.op.imm % 8)
    return d.fail("expected a multiple of 8 from 24 to 256, but got " +
                  std::to_string(d.op.imm));
  if (d.op.aux)
    d.program.largestInc = std::max(d.program.largestInc, uint32_t(d.op.imm));
  d.op.flags |= kAligned;
  d.op.fn = execSetMaxReg;
  return true;
}

bool decodeGridDep(Decoder &d) {
  d.op.fn = execNothing;
  return d.takeAny({"wait", "launch_dependents"}) && d.expectOps(0);
}

bool decodeNanosleep(Decoder &d) {
  d.op.fn = execYield;
  if (!d.take("u32") || !d.expectOps(1))
    return false;
  d.src(d.operand(0), Type::U32);
  return d.ok();
}

bool decodeTrap(Decoder &d) {
  d.op.fn = execTrap;
  return d.expectOps(0);
}

bool decodeExit(Decoder &d) {
  d.op.kind = OpKind::Exit;
  d.take("uni");
  return d.expectOps(0);
}

bool decodeBranch(Decoder &d) {
  d.take("uni");
  d.op.kind = OpKind::Branch;
  if (!d.expectOps(1))
    return false;
  const Operand &o = d.operand(0);
  if (o.kind != Operand::Symbol || o.value != 0 ||
      !d.label(o.name, d.op.target))
    return d.fail("unknown label '" + o.name.substr(0, o.name.find('#')) + "'");
  return true;
}

bool decodeBranchIndexed(Decoder &d) {
  if (!d.take("idx") || !d.expectOps(2))
    return false;
  d.take("uni");
  d.op.kind = OpKind::BranchIndexed;
  d.op.a = d.src(d.operand(0), Type::U32);
  const auto *targets = d.branchTargets(d.operand(1).name);
  if (!targets || targets->empty())
    return d.fail("expected a label of '.branchtargets'");
  d.op.list = d.program.lists.size();
  d.op.count = targets->size();
  for (const std::string &name : *targets) {
    uint32_t index;
    if (!d.label(name, index))
      return d.fail("unknown label in '.branchtargets'");
    d.program.lists.push_back(index);
  }
  return true;
}

} // namespace

const DecodeEntry ptxsim::kBarrierOps[] = {{"bar", decodeBar},
                                           {"barrier", decodeBar},
                                           {"fence", decodeFence},
                                           {"membar", decodeFence},
                                           {"bra", decodeBranch},
                                           {"brx", decodeBranchIndexed},
                                           {"ret", decodeExit},
                                           {"exit", decodeExit},
                                           {"trap", decodeTrap},
                                           {"brkpt", decodeTrap},
                                           {"setmaxnreg", decodeSetMaxReg},
                                           {"nanosleep", decodeNanosleep},
                                           {"griddepcontrol", decodeGridDep},
                                           {nullptr, nullptr}};
