// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to storage: which must be ordered, by whom, and what is left at the
// end.

#include "Machine.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

int32_t Machine::getRingSlot(int32_t agent, const Access &access,
                             const Occurrence &here) {
  int32_t slot = getRegister(agent, access.slot);
  if (slot >= 0 && slot < program.rings[access.ring].slots)
    return slot;
  Finding finding{Fault::UnknownSlot, here, {}, access};
  finding.phase = slot;
  refuse(finding);
  return -1;
}

Mark Machine::issue(int32_t component, const Occurrence &here) {
  state.last[component] = here;
  return {component, ++state.issued[component]};
}

void Machine::checkOrder(const Record &before, bool wrote,
                         const int32_t *knowledge, bool async,
                         Finding finding) {
  bool crosses = async && before.proxy.component >= 0;
  Mark done = crosses ? before.proxy : before.done;
  // A product reads whole tiles with each warp of its warpgroup; threads keep
  // to rows of their own.
  bool apart = isa<WarpgroupMmaOp>(program.sites[before.by.site]) ||
               isa<WarpgroupMmaOp>(program.sites[finding.here.site]);
  if (isBefore(apart ? ofEveryWarp(done) : done, knowledge))
    return;
  finding.ofOneWarp = apart && isBefore(done, knowledge);
  finding.fault = Fault::Race;
  finding.there = before.by;
  finding.wrote = wrote;
  finding.issuedBefore = isBefore(before.issued, knowledge);
  finding.needsFence = crosses && isBefore(before.done, knowledge);
  finding.usedBefore =
      before.used.component >= 0 && isBefore(before.used, knowledge);
  if (!finding.usedBefore)
    return refuse(finding);
  warn(finding);
}

/// One warning for each read that a wait should cover.
void Machine::warn(const Finding &finding) {
  if (llvm::none_of(warnings, [&](const Finding &known) {
        return known.there.site == finding.there.site;
      }))
    warnings.push_back(finding);
}

void Machine::touch(const Access &access, int32_t slot,
                    const int32_t *knowledge, const Record &record, bool async,
                    bool reads, int32_t content) {
  const Ring &ring = program.rings[access.ring];
  if (observer)
    observer->access(access, slot, record, knowledge, async);
  watch(record, knowledge, async);
  Finding finding{Fault::Unwritten, record.by, {}, access};
  finding.accessSlot = slot;
  finding.writes = access.writes;
  for (int32_t index = access.from; index < access.to; ++index) {
    Atom &atom = state.atoms[ring.firstAtom + slot * ring.getAtoms() + index];
    if (reads && !atom.written)
      return refuse(finding);
    if (atom.written)
      checkOrder(atom.write, /*wrote=*/true, knowledge, async, finding);
    if (access.writes) {
      for (const Record &read : atom.reads)
        checkOrder(read, /*wrote=*/false, knowledge, async, finding);
      atom.reads.clear();
      atom.write = record;
      atom.written = true;
      atom.content = content;
      continue;
    }
    auto *same = llvm::find_if(atom.reads, [&](const Record &read) {
      return read.done.component == record.done.component;
    });
    if (same == atom.reads.end())
      atom.reads.push_back(record);
    else
      *same = record;
  }
}

//===----------------------------------------------------------------------===//
// Events that touch storage
//===----------------------------------------------------------------------===//

void Machine::stepTile(int32_t agent, const Instruction &instruction) {
  const Components &own = program.agents[agent].components;
  Occurrence here = getOccurrence(agent, instruction);
  const Access &access = program.accesses[instruction.firstAccess];
  int32_t slot = getRingSlot(agent, access, here);
  if (slot < 0)
    return;
  const int32_t *clock = getClock(agent);
  Record record;
  record.by = here;
  record.issued = record.done = {own.program, tick(agent)};
  switch (instruction.event) {
  case Event::Load: {
    int32_t barrierSlot = getSlot(agent, instruction);
    if (barrierSlot < 0)
      return;
    // The copy is done when its phase is: nothing else tells.
    record.done = {barrierSlot,
                   getArrivals(barrierSlot, instruction.arrival).count + 1};
    touch(access, slot, clock, record, /*async=*/true, /*reads=*/false,
          getLoaded(agent, instruction));
    if (!fault)
      arrive(agent, instruction, barrierSlot, clock, record.done);
    return;
  }
  case Event::Store:
    record.done = issue(own.bulk, here);
    touch(access, slot, clock, record, /*async=*/true, /*reads=*/true,
          kUnknown);
    return storeTile(agent, instruction, access, slot);
  case Event::Read:
    record.done = issue(own.load, here);
    record.used = issue(own.used, here);
    // Registers that are filled again before they were consumed stay suspect.
    if (llvm::none_of(state.agents[agent].unused, [&](const PendingRead &read) {
          return read.fragment == instruction.immediate;
        }))
      state.agents[agent].unused.push_back(
          {instruction.immediate, record.used.index, record.done.index, here});
    touch(access, slot, clock, record, /*async=*/false, /*reads=*/true,
          kUnknown);
    return readTile(agent, instruction, access, slot);
  case Event::Write:
    record.done = issue(own.store, here);
    return touch(access, slot, clock, record, /*async=*/false, /*reads=*/false,
                 getWritten(agent, instruction, access));
  case Event::Rescale: {
    // In a task's first block all factors are 1, which leaves the tile alone.
    auto factor = expect(agent, instruction, instruction.value, Kind::Factor,
                         "a factor of the task at hand");
    if (fault || (!program.loose && factor && factor->block == 1))
      return;
    Held held = getHeld(access, slot);
    touch(access, slot, clock, record, /*async=*/false, /*reads=*/true,
          kUnknown);
    if (factor)
      rescale(agent, instruction, access, slot, held, *factor);
    return;
  }
  case Event::Put:
    record.proxy = issue(own.proxy, here);
    return touch(access, slot, clock, record, /*async=*/false, /*reads=*/false,
                 getWritten(agent, instruction, access));
  case Event::Get:
    record.proxy = issue(own.proxy, here);
    touch(access, slot, clock, record, /*async=*/false, /*reads=*/true,
          kUnknown);
    setRegister(agent, instruction.result, getHeld(access, slot).content);
    return;
  default:
    return;
  }
}

/// MMAs run in the order of their issue, each behind the one before.
void Machine::stepMma(int32_t agent, const Instruction &instruction) {
  const Components &own = program.agents[agent].components;
  Occurrence here = getOccurrence(agent, instruction);
  int32_t *queue = getClock(numAgents + agent);
  Record record;
  record.by = here;
  record.issued = {own.program, tick(agent)};
  join(queue, getClock(agent));
  record.done = issue(own.mma, here);
  bool accumulates =
      instruction.value >= 0 && getRegister(agent, instruction.value) != 0;
  SmallVector<int32_t, 3> slots;
  SmallVector<Held, 3> held;
  for (int32_t index = instruction.firstAccess; index < instruction.endAccess;
       ++index) {
    const Access &access = program.accesses[index];
    slots.push_back(getRingSlot(agent, access, here));
    if (fault)
      return;
    held.push_back(getHeld(access, slots.back()));
  }
  for (int32_t i = 0; i < 3; ++i) {
    const Access &access = program.accesses[instruction.firstAccess + i];
    bool smem = program.rings[access.ring].space == MemorySpace::SMEM;
    touch(access, slots[i], queue, record, smem,
          access.writes ? accumulates : access.reads, kUnknown);
    if (fault)
      return;
  }
  setHeld(program.accesses[instruction.firstAccess + 2], slots[2],
          multiply(agent, instruction, slots, held));
  queue[own.mma] = record.done.index;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// Behind the last `fa4.cta_sync` the block ends and its memory is given away.
void Machine::checkOutstanding() {
  std::vector<int32_t> known(program.components, 0);
  for (int32_t agent = 0; agent < numAgents; ++agent)
    join(known.data(), getClock(agent));
  auto report = [&](Leftover what, Occurrence here, int32_t slot) {
    Finding finding{Fault::Outstanding, here, {}, {}};
    finding.tag = static_cast<int32_t>(what);
    finding.slot = slot;
    if (slot >= 0)
      finding.phase = state.completions[slot];
    refuse(finding);
  };
  auto check = [&](int32_t component, Leftover what) {
    if (component >= 0 && known[component] < state.issued[component])
      report(what, state.last[component], -1);
  };
  for (const Agent &agent : program.agents) {
    check(agent.components.bulk, Leftover::Store);
    check(agent.components.store, Leftover::Write);
    // Registers that were consumed were read.
    if (agent.components.load >= 0 &&
        known[agent.components.used] < state.issued[agent.components.used])
      check(agent.components.load, Leftover::Read);
  }
  for (int32_t slot = 0; slot < program.slots; ++slot)
    if (program.barriers[program.barrierOfSlot[slot]].async &&
        known[slot] < state.completions[slot])
      report(Leftover::Arrival, getArrivals(slot, 0).by, slot);
  for (const Agent &agent : program.agents)
    check(agent.components.mma, Leftover::Mma);
}

void Machine::finish() {
  if (fault)
    return;
  for (int32_t agent = 0; agent < numAgents; ++agent)
    if (!isOver(agent))
      return refuse({Fault::Deadlock,
                     getOccurrence(agent, getInstruction(agent)),
                     {},
                     {}});
  for (int32_t slot = 0; slot < program.slots; ++slot) {
    const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
    for (int32_t entry = 0, end = barrier.roles.size(); entry < end; ++entry) {
      const Arrivals &arrivals = getArrivals(slot, entry);
      if (arrivals.count <= state.completions[slot])
        continue;
      Finding finding{Fault::Unfinished, arrivals.by, {}, {}};
      finding.slot = slot;
      finding.phase = arrivals.count;
      return refuse(finding);
    }
  }
  checkOutstanding();
}
