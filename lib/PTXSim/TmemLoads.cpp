// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TmemLoads.h"

#include "Machine.h"

#include <algorithm>
#include <unordered_map>

using namespace ptxsim;

void ptxsim::numberLoadedRegisters(Program &program) {
  std::unordered_map<uint32_t, uint32_t> numbers;
  for (const Op &op : program.ops)
    for (uint32_t i = 0; op.flags & kLoads && i < op.count; ++i)
      if (uint32_t reg = program.lists[op.list + i]; reg != program.scratch)
        numbers.try_emplace(reg, uint32_t(numbers.size()));
  program.loadedRegisters = uint32_t(numbers.size());
  std::vector<Program::Touch> kept;
  for (Op &op : program.ops) {
    auto begin = program.touches.begin() + op.touches;
    auto end = begin + op.touchCount;
    op.touches = uint32_t(kept.size());
    for (bool write : {false, true})
      for (auto it = begin; it != end; ++it)
        if (auto found = numbers.find(it->reg);
            it->write == write && found != numbers.end())
          kept.push_back({found->second, write});
    op.touchCount = uint32_t(kept.size()) - op.touches;
    if (op.touchCount)
      op.flags |= kLoaded;
  }
  program.touches = std::move(kept);
}

TmemLoads::TmemLoads(Warp &warp, bool strict)
    : warp(warp), strict(strict), registers(warp.cta.program.loadedRegisters) {}

void TmemLoads::begin(const Op &op, const Tmem::Use *uses, unsigned count) {
  Cta &cta = warp.cta;
  if (cta.engines.eager() && !cta.race)
    return;
  Load load;
  // A register that is dropped at once is never read.
  load.unread = op.count + strict;
  if (cta.race)
    load.clock = cta.race->loadClock(warp);
  for (; load.uses < count && !cta.engines.eager(); ++load.uses) {
    load.use[load.uses] = uses[load.uses];
    cta.tmem.begin(uses[load.uses]);
  }
  loads.push_back(load);
  for (uint32_t i = 0; i < op.touchCount; ++i)
    if (const auto &t = cta.program.touches[op.touches + i]; t.write)
      registers[t.reg] = {first + loads.size() - 1, warp.live};
}

void TmemLoads::touch(const Op &op, uint32_t mask) {
  if (loads.empty())
    return;
  for (uint32_t i = 0; i < op.touchCount; ++i) {
    const Program::Touch &t = warp.cta.program.touches[op.touches + i];
    Register &r = registers[t.reg];
    if (r.load < first || !(r.lanes & mask))
      continue;
    // What is overwritten is not read any more, and nobody waits for it.
    r.lanes &= t.write ? 0 : ~mask & warp.live;
    if (r.lanes || t.write)
      continue;
    Load &load = loads[r.load - first];
    if (--load.unread == 0)
      finish(load);
  }
}

/// All that the load fills has been read.
void TmemLoads::finish(Load &load) {
  Cta &cta = warp.cta;
  for (; load.uses; --load.uses)
    cta.tmem.end(load.use[load.uses - 1]);
  // The detector counts loads in order of issue.
  uint32_t clock = 0;
  for (; !loads.empty() && loads.front().unread == 0; ++first) {
    clock = loads.front().clock;
    loads.pop_front();
  }
  if (clock)
    cta.race->tmemUsed(warp, clock);
}

void TmemLoads::wait() {
  for (const Load &load : loads)
    for (unsigned i = 0; i < load.uses; ++i)
      warp.cta.tmem.end(load.use[i]);
  first += loads.size();
  loads.clear();
}
