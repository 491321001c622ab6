// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Accesses of the race detector: who knows of whom, word by word.

#include "Race.h"

#include "Machine.h"

#include <algorithm>

using namespace ptxsim;

RaceDetector::RaceDetector(Cta &cta, bool formal) : cta(cta), formal(formal) {
  unsigned n = cta.threads, warps = (n + 31) / 32;
  width = n + 3 * warps + kExtra;
  for (unsigned t = 0; t < n; ++t)
    agents.push_back({Kind::Thread, t});
  for (unsigned w = 0; w < warps; ++w) {
    agents.push_back({Kind::Loads, 32 * w});
    agents.push_back({Kind::Stores, 32 * w});
    agents.push_back({Kind::Used, 32 * w});
  }
  Clock zero(width, 0);
  threads.assign(n, {zero, zero, zero, zero});
  for (unsigned t = 0; t < n; ++t)
    threads[t].order[t] = 1;
  for (auto &barrier : named)
    barrier.now = barrier.done = blank();
  meetOrder = meetAfter = zero;
  shared.resize((cta.shared.end() + 3) / 4);
  tmem.resize(8 * Tmem::kColumns);
}

bool RaceDetector::generic(Warp &w, const Op &op, unsigned lane,
                           uint32_t address, uint32_t bytes, bool write) {
  unsigned thread = w.id * 32 + lane;
  Thread &t = threads[thread];
  Actor a;
  a.op = &op;
  a.warp = w.id;
  a.lane = lane;
  a.stamp = {uint16_t(thread), t.order[thread]};
  a.inOrder = true;
  a.order = t.order.data();
  a.proxy = t.proxy.data();
  return touchShared(a, address, bytes, write);
}

/// An agent of the thread whose last operation the thread knows to be done.
uint16_t RaceDetector::copyAgent(unsigned thread) {
  uint16_t any = kNobody;
  const Clock &order = threads[thread].order;
  for (unsigned i = cta.threads; i < agents.size(); ++i) {
    if (agents[i].kind != Kind::Copy || agents[i].thread != thread)
      continue;
    any = uint16_t(i);
    if (order[i] >= agents[i].clock) {
      ++agents[i].clock;
      return any;
    }
  }
  if (agents.size() < width) {
    agents.push_back({Kind::Copy, thread});
    return uint16_t(agents.size() - 1);
  }
  // With so many in flight a copy passes for ordered after an older one.
  if (any == kNobody)
    return uint16_t(thread);
  ++agents[any].clock;
  return any;
}

RaceDetector::Token RaceDetector::copy(Warp &w, const Op &op, unsigned lane) {
  auto token = std::make_shared<Async>();
  unsigned thread = w.id * 32 + lane;
  token->op = &op;
  token->thread = thread;
  token->stamp.agent = copyAgent(thread);
  token->stamp.clock = agents[token->stamp.agent].clock;
  const Thread &t = threads[thread];
  token->order = t.order;
  token->proxy = t.proxy;
  token->fenced = t.fenced;
  return token;
}

bool RaceDetector::copies(const Token &token, uint32_t address, uint32_t bytes,
                          bool write) {
  Actor a;
  a.op = token->op;
  a.warp = token->thread / 32;
  a.lane = token->thread % 32;
  a.stamp = token->stamp;
  a.inOrder = true;
  a.async = true;
  a.order = token->order.data();
  a.proxy = token->proxy.data();
  return touchShared(a, address, bytes, write);
}

void RaceDetector::learn(unsigned thread, std::vector<Stamp> &stamps) {
  for (const Stamp &s : stamps) {
    uint32_t &known = threads[thread].order[s.agent];
    known = std::max(known, s.clock);
  }
  stamps.clear();
}

void RaceDetector::beginTensor(Warp &w, const Op &op, unsigned lane) {
  unsigned thread = w.id * 32 + lane;
  auto it = tensorAgents.find(thread);
  if (it == tensorAgents.end()) {
    uint16_t agent = uint16_t(agents.size());
    if (agents.size() < width)
      agents.push_back({Kind::Tensor, thread, 0});
    else
      agent = tensorAgents.empty() ? 0 : tensorAgents.begin()->second;
    it = tensorAgents.emplace(thread, agent).first;
  }
  const Thread &t = threads[thread];
  tensor = Actor();
  tensor.op = &op;
  tensor.warp = w.id;
  tensor.lane = lane;
  tensor.stamp = {it->second, ++agents[it->second].clock};
  tensor.inOrder = true;
  tensor.async = true;
  tensor.order = t.order.data();
  tensor.proxy = t.proxy.data();
  tensor.after = t.after.data();
}

bool RaceDetector::tensorShared(uint32_t address, uint32_t bytes, bool write) {
  return touchShared(tensor, address, bytes, write);
}

bool RaceDetector::tensorTmem(unsigned lane, unsigned lanes, unsigned column,
                              unsigned columns, bool write) {
  return touchTmem(tensor, lane, lanes, column, columns, write);
}

RaceDetector::Token RaceDetector::commit(Warp &w, const Op &op, unsigned lane) {
  auto token = std::make_shared<Async>();
  unsigned thread = w.id * 32 + lane;
  const Thread &t = threads[thread];
  token->op = &op;
  token->thread = thread;
  token->order = t.order;
  token->proxy = t.proxy;
  auto it = tensorAgents.find(thread);
  if (it != tensorAgents.end()) {
    token->stamp = {it->second, agents[it->second].clock};
    token->order[it->second] = agents[it->second].clock;
  } else {
    token->stamp = {uint16_t(thread), t.order[thread]};
  }
  // A commit implies the fence before the synchronisation.
  token->fenced = token->order;
  return token;
}

// What every lane of a warp knows.
RaceDetector::Actor RaceDetector::warpActor(Warp &w, const Op &op,
                                            uint32_t mask) {
  unsigned first = w.id * 32 + __builtin_ctz(mask);
  meetOrder = threads[first].order;
  meetAfter = threads[first].after;
  forLanes(mask & (mask - 1), [&](unsigned lane) {
    const Thread &t = threads[w.id * 32 + lane];
    for (unsigned i = 0; i < width; ++i) {
      meetOrder[i] = std::min(meetOrder[i], t.order[i]);
      meetAfter[i] = std::min(meetAfter[i], t.after[i]);
    }
  });
  Actor a;
  a.op = &op;
  a.warp = w.id;
  a.wholeWarp = true;
  a.async = true;
  a.order = meetOrder.data();
  a.after = meetAfter.data();
  return a;
}

bool RaceDetector::tmemAccess(Warp &w, const Op &op, unsigned lane,
                              unsigned lanes, unsigned column, unsigned columns,
                              bool write) {
  Actor a = warpActor(w, op, w.live);
  uint16_t agent = uint16_t(loadsOf(w) + write);
  a.stamp = {agent, ++agents[agent].clock};
  return touchTmem(a, lane, lanes, column, columns, write);
}

unsigned RaceDetector::loadsOf(const Warp &w) const {
  return cta.threads + 3 * w.id;
}

uint32_t RaceDetector::loadClock(const Warp &w) const {
  return agents[loadsOf(w)].clock;
}

void RaceDetector::tmemUsed(Warp &w, uint32_t clock) {
  forLanes(w.live, [&](unsigned lane) {
    threads[w.id * 32 + lane].order[loadsOf(w) + 2] = clock;
  });
}

void RaceDetector::tmemWait(Warp &w, bool stores) {
  unsigned agent = loadsOf(w) + stores;
  forLanes(w.live, [&](unsigned lane) {
    threads[w.id * 32 + lane].order[agent] = agents[agent].clock;
  });
}

void RaceDetector::tmemAllocate(Warp &w, const Op &op, uint32_t mask,
                                unsigned column, unsigned columns) {
  unsigned thread = w.id * 32 + __builtin_ctz(mask);
  Cell fresh;
  fresh.write.clock = threads[thread].order[thread];
  fresh.write.agent = uint16_t(thread);
  fresh.write.bytes = 15;
  fresh.write.line = op.line;
  for (unsigned g = 0; g < 8; ++g)
    std::fill_n(tmem.begin() + g * Tmem::kColumns + column, columns, fresh);
}

bool RaceDetector::tmemRelease(Warp &w, const Op &op, uint32_t mask,
                               unsigned column, unsigned columns) {
  Actor a = warpActor(w, op, mask);
  a.stamp = {kNobody, 0};
  return touchTmem(a, 0, Tmem::kLanes, column, columns, true);
}

RaceDetector::Missing
RaceDetector::missing(const Actor &a, const Access &before, bool inTmem) const {
  if (before.agent == kNobody || (a.inOrder && before.agent == a.stamp.agent))
    return Missing::Nothing;
  bool known = a.order[before.agent] >= before.clock;
  if (!inTmem) {
    if (!known)
      return Missing::Order;
    return a.async && !before.async && a.proxy[before.agent] < before.clock
               ? Missing::Proxy
               : Missing::Nothing;
  }
  if (a.after[before.agent] >= before.clock)
    return Missing::Nothing;
  const Agent &agent = agents[before.agent];
  // An allocation: done when its warp goes on.
  if (agent.kind == Kind::Thread && agent.thread / 32 == a.warp)
    return Missing::Nothing;
  // A warp's own loads and stores need its waits only.
  bool own = agent.kind != Kind::Tensor && agent.thread / 32 == a.warp;
  bool fence = formal && !own && agent.kind != Kind::Thread;
  if (known)
    return fence ? Missing::Fence : Missing::Nothing;
  unsigned used = before.agent + 2;
  if (agent.kind != Kind::Loads || a.order[used] < before.clock)
    return Missing::Order;
  return fence && a.after[used] < before.clock ? Missing::Fence : Missing::Wait;
}

bool RaceDetector::check(const Actor &a, const Access &before,
                         bool beforeWrites, uint64_t key, bool write,
                         bool inTmem) {
  Missing what = missing(a, before, inTmem);
  if (what == Missing::Nothing)
    return true;
  if (what == Missing::Wait) {
    warn(a, before, key);
    return true;
  }
  // Lanes of one store that meet in a word: one of them wins.
  if (!inTmem && write && beforeWrites && !a.async && !before.async &&
      before.line == a.op->line && before.agent / 32 == a.warp &&
      threads[before.agent].order[before.agent] == before.clock)
    return true;
  report(a, before, beforeWrites, key, write, inTmem, what);
  return false;
}

bool RaceDetector::touch(const Actor &a, Cell &cell, uint64_t key,
                         uint8_t bytes, bool write, bool inTmem) {
  Access now;
  now.clock = a.stamp.clock;
  now.agent = a.stamp.agent;
  now.bytes = bytes;
  now.async = a.async;
  now.line = a.op->line;
  if ((cell.write.bytes & bytes) &&
      !check(a, cell.write, true, key, write, inTmem))
    return false;
  if (!write) {
    // A read that this one comes after need not be kept.
    Access &old = cell.read;
    if (old.agent == kNobody ||
        (old.async == now.async && (old.bytes & ~bytes) == 0 &&
         missing(a, old, inTmem) == Missing::Nothing)) {
      old = now;
      return true;
    }
    auto &list = moreReads[key];
    cell.more = true;
    for (Access &other : list)
      if (other.agent == now.agent && other.async == now.async) {
        other.clock = now.clock;
        other.bytes |= bytes;
        other.line = now.line;
        return true;
      }
    list.push_back(now);
    return true;
  }
  if ((cell.read.bytes & bytes) &&
      !check(a, cell.read, false, key, write, inTmem))
    return false;
  if (cell.more) {
    auto it = moreReads.find(key);
    for (const Access &other : it->second)
      if ((other.bytes & bytes) && !check(a, other, false, key, write, inTmem))
        return false;
    moreReads.erase(it);
    cell.more = false;
  }
  cell.read = Access();
  cell.write = now;
  return true;
}

bool RaceDetector::touchShared(const Actor &a, uint32_t address, uint32_t bytes,
                               bool write) {
  uint32_t end = address + bytes;
  for (uint32_t word = address / 4; word < (end + 3) / 4; ++word) {
    uint32_t first = std::max(address, word * 4) - word * 4;
    uint32_t last = std::min(end, word * 4 + 4) - word * 4;
    uint8_t mask = uint8_t((1u << last) - (1u << first));
    if (!touch(a, shared[word], word, mask, write, false))
      return false;
  }
  return true;
}

bool RaceDetector::touchTmem(const Actor &a, unsigned lane, unsigned lanes,
                             unsigned column, unsigned columns, bool write) {
  for (unsigned g = lane / 16; g < (lane + lanes + 15) / 16; ++g)
    for (unsigned c = column; c < column + columns; ++c) {
      unsigned cell = g * Tmem::kColumns + c;
      if (!touch(a, tmem[cell], uint64_t(1) << 32 | cell, 15, write, true))
        return false;
    }
  return true;
}
