// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What orders accesses: barriers, waits and fences.

#include "Machine.h"
#include "Race.h"

#include <algorithm>

using namespace ptxsim;

static void join(RaceDetector::Clock &to, const RaceDetector::Clock &from) {
  uint32_t *a = to.data();
  const uint32_t *b = from.data();
  for (size_t i = 0, n = to.size(); i < n; ++i)
    a[i] = std::max(a[i], b[i]);
}

RaceDetector::Knowledge RaceDetector::blank() const {
  Clock zero(width, 0);
  return {zero, zero, zero};
}

// A relaxed operation passes on what tcgen05 fences order, and no more.
void RaceDetector::publish(unsigned thread, Knowledge &to, bool relaxed) {
  Thread &t = threads[thread];
  join(to.fenced, t.fenced);
  if (relaxed)
    return;
  join(to.order, t.order);
  join(to.proxy, t.proxy);
  ++t.order[thread];
}

void RaceDetector::absorb(unsigned thread, const Knowledge &from,
                          bool relaxed) {
  Thread &t = threads[thread];
  join(t.fenced, from.fenced);
  if (relaxed)
    return;
  join(t.order, from.order);
  join(t.proxy, from.proxy);
}

void RaceDetector::initBarrier(Warp &w, const Op &op, unsigned lane,
                               uint32_t address) {
  unsigned thread = w.id * 32 + lane;
  Barrier &b = barriers[address];
  b.now = b.done = blank();
  b.init = {uint16_t(thread), threads[thread].order[thread]};
  b.fence = 0;
  b.line = op.line;
}

void RaceDetector::dropBarrier(uint32_t address) { barriers.erase(address); }

bool RaceDetector::useBarrier(Warp &w, const Op &op, unsigned lane,
                              uint32_t address, bool async) {
  auto it = barriers.find(address);
  if (it == barriers.end())
    return true; // a fault of its own
  const Barrier &b = it->second;
  const Clock &order = threads[w.id * 32 + lane].order;
  bool known = order[b.init.agent] >= b.init.clock;
  bool fenced = b.fence && order[b.init.agent] >= b.fence;
  if (known && (!async || fenced))
    return true;
  w.fault(op, "race",
          "lane " + std::to_string(lane) + " uses the mbarrier at " +
              hexString(address) + ", initialised by warp " +
              std::to_string(b.init.agent / 32) + " lane " +
              std::to_string(b.init.agent % 32) + " at line " +
              std::to_string(b.line) +
              (known ? ", and no 'fence.mbarrier_init' lies between"
                     : ", and no barrier orders the two"));
  return false;
}

void RaceDetector::release(unsigned thread, uint32_t mbarrier, bool relaxed) {
  auto it = barriers.find(mbarrier);
  if (it != barriers.end())
    publish(thread, it->second.now, relaxed);
}

void RaceDetector::acquire(unsigned thread, uint32_t mbarrier, bool relaxed) {
  auto it = barriers.find(mbarrier);
  if (it != barriers.end())
    absorb(thread, it->second.done, relaxed);
}

void RaceDetector::complete(const Token &token, uint32_t mbarrier) {
  auto it = barriers.find(mbarrier);
  if (it == barriers.end())
    return;
  Knowledge &now = it->second.now;
  join(now.order, token->order);
  join(now.proxy, token->proxy);
  join(now.fenced, token->fenced);
  uint32_t &known = now.order[token->stamp.agent];
  known = std::max(known, token->stamp.clock);
}

// Arrivals are read-modify-writes of one object, so that what an earlier phase
// passed on a later one passes on too.
void RaceDetector::phaseDone(uint32_t mbarrier) {
  auto it = barriers.find(mbarrier);
  if (it != barriers.end())
    it->second.done = it->second.now;
}

void RaceDetector::arriveNamed(Warp &w, uint32_t mask, unsigned index) {
  forLanes(mask, [&](unsigned lane) {
    publish(w.id * 32 + lane, named[index].now, false);
  });
}

void RaceDetector::namedDone(unsigned index) {
  Knowledge &now = named[index].now, &done = named[index].done;
  join(done.order, now.order);
  join(done.proxy, now.proxy);
  join(done.fenced, now.fenced);
  now = blank();
}

void RaceDetector::leaveNamed(Warp &w, uint32_t mask, unsigned index) {
  forLanes(mask, [&](unsigned lane) {
    absorb(w.id * 32 + lane, named[index].done, false);
  });
}

void RaceDetector::warpBarrier(Warp &w, uint32_t mask) {
  Knowledge all = blank();
  forLanes(mask, [&](unsigned lane) { publish(w.id * 32 + lane, all, false); });
  forLanes(mask, [&](unsigned lane) { absorb(w.id * 32 + lane, all, false); });
}

void RaceDetector::proxyFence(Warp &w, uint32_t mask) {
  initFence(w, mask);
  forLanes(mask, [&](unsigned lane) {
    unsigned thread = w.id * 32 + lane;
    Thread &t = threads[thread];
    join(t.proxy, t.order);
    ++t.order[thread];
  });
}

void RaceDetector::initFence(Warp &w, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    unsigned thread = w.id * 32 + lane;
    uint32_t &clock = threads[thread].order[thread];
    bool any = false;
    for (auto &[address, b] : barriers)
      if (b.init.agent == thread && !b.fence) {
        b.fence = clock;
        any = true;
      }
    clock += any;
  });
}

void RaceDetector::tensorFence(Warp &w, uint32_t mask, bool before) {
  forLanes(mask, [&](unsigned lane) {
    Thread &t = threads[w.id * 32 + lane];
    if (before)
      join(t.fenced, t.order);
    else
      join(t.after, t.fenced);
  });
}

// Reports.

std::string RaceDetector::advice(const Actor &a, const Access &before,
                                 Missing what) const {
  if (what == Missing::Proxy)
    return "a 'fence.proxy.async' between the generic access and the "
           "asynchronous one is missing";
  if (what == Missing::Fence)
    return "the barrier between them lacks 'tcgen05.fence::"
           "before_thread_sync' before it or 'after_thread_sync' after it";
  const Agent &agent = agents[before.agent];
  bool sameWarp = agent.thread / 32 == a.warp;
  bool known = threads[agent.thread].order[before.agent] >= before.clock;
  switch (agent.kind) {
  case Kind::Loads:
  case Kind::Stores: {
    std::string wait =
        agent.kind == Kind::Loads ? "tcgen05.wait::ld" : "tcgen05.wait::st";
    if (!known)
      return "a '" + wait + "' after the first is missing";
    return "no barrier after a '" + wait + "' orders the two";
  }
  case Kind::Tensor:
    return "no wait for an mbarrier that a 'tcgen05.commit' after the first "
           "arrives on comes before the second";
  case Kind::Copy:
    if (!known)
      return "the copy is not waited for (its mbarrier, or "
             "'cp.async.bulk.wait_group') before the second";
    break;
  case Kind::Used:
  case Kind::Thread:
    if (sameWarp)
      return "no 'bar.warp.sync' or barrier orders the two";
    break;
  }
  return "no barrier orders the two";
}

std::string RaceDetector::place(uint64_t key, bool inTmem) const {
  auto num = [](uint64_t v) { return std::to_string(v); };
  if (!inTmem)
    return "shared address " + cta.program.sharedText(uint32_t(key * 4));
  unsigned cell = uint32_t(key), lane = cell / Tmem::kColumns * 16;
  return "TMEM column " + num(cell % Tmem::kColumns) + ", lanes " + num(lane) +
         ".." + num(lane + 15);
}

std::string RaceDetector::describe(const Access &before, bool writes,
                                   bool inTmem) const {
  const Agent &agent = agents[before.agent];
  std::string warp = "warp " + std::to_string(agent.thread / 32);
  if (agent.kind != Kind::Loads && agent.kind != Kind::Stores)
    warp += " lane " + std::to_string(agent.thread % 32);
  const char *what = !writes                                ? "read"
                     : inTmem && agent.kind == Kind::Thread ? "allocation"
                                                            : "write";
  return std::string("the ") + what + " by " + warp + " at line " +
         std::to_string(before.line) + ": " +
         cta.program.module->lineText(before.line);
}

void RaceDetector::report(const Actor &a, const Access &before,
                          bool beforeWrites, uint64_t key, bool write,
                          bool inTmem, Missing what) {
  std::string self =
      a.wholeWarp ? "" : " (lane " + std::to_string(a.lane) + ")";
  cta.fault(*a.op, a.warp, what == Missing::Fence ? "formal" : "race",
            std::string("a ") + (write ? "write" : "read") + " of " +
                place(key, inTmem) + self + " is not ordered after " +
                describe(before, beforeWrites, inTmem) + "\n  " +
                advice(a, before, what));
}

void RaceDetector::warn(const Actor &a, const Access &before, uint64_t key) {
  auto [it, fresh] = cta.warnings.try_emplace({a.op->line, before.line});
  if (!fresh)
    return;
  it->second = {"unwaited-load",
                "a write of " + place(key, true) + " is ordered after " +
                    describe(before, false, true) +
                    "\n  only because its warp has read every register that it "
                    "fills: PTX promises that the columns are free behind "
                    "'tcgen05.wait::ld' alone",
                a.op->line,
                cta.program.where(*a.op),
                cta.id,
                a.warp};
}
