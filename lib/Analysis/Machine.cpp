// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow of the agents, waits, arrivals and phases.

#include "Machine.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

Machine::Machine(const Program &program)
    : program(program), contents(std::make_shared<ContentTable>()),
      numAgents(program.agents.size()) {
  state.agents.resize(numAgents);
  state.registers.resize(program.registers);
  state.cursors.assign(numAgents * program.rings.size(), 0);
  state.completions.assign(program.slots, 0);
  state.waits.resize(program.slots * numAgents);
  state.atoms.resize(program.atoms);
  state.watches.resize(program.watches.size());
  watchResults.resize(program.watches.size());
  state.issued.assign(program.components, 0);
  state.last.resize(program.components);
  state.clocks.assign((2 * numAgents + 2 * program.slots) * program.components,
                      0);
  int32_t arrivals = 0;
  for (int32_t slot = 0; slot < program.slots; ++slot) {
    firstArrival.push_back(arrivals);
    arrivals += program.barriers[program.barrierOfSlot[slot]].roles.size();
  }
  state.arrivals.resize(arrivals);
  for (int32_t index = 0; index < numAgents; ++index) {
    const Agent &agent = program.agents[index];
    const RoleProgram &role = program.roles[agent.role];
    llvm::copy(role.registers, state.registers.begin() + agent.firstRegister);
    if (role.instanceRegister >= 0)
      setRegister(index, role.instanceRegister, agent.instance);
  }
}

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

void Machine::join(int32_t *into, const int32_t *from) const {
  for (int32_t i = 0; i < program.components; ++i)
    into[i] = std::max(into[i], from[i]);
}

int32_t Machine::tick(int32_t agent) {
  int32_t component = program.agents[agent].components.program;
  return getClock(agent)[component] = ++state.issued[component];
}

int32_t Machine::getRegister(int32_t agent, int32_t index) const {
  return state.registers[program.agents[agent].firstRegister + index];
}

void Machine::setRegister(int32_t agent, int32_t index, int32_t value) {
  state.registers[program.agents[agent].firstRegister + index] = value;
}

const Instruction &Machine::getInstruction(int32_t agent) const {
  return program.roles[program.agents[agent].role].code[state.agents[agent].pc];
}

bool Machine::isOver(int32_t agent) const {
  const auto &code = program.roles[program.agents[agent].role].code;
  return state.agents[agent].pc == static_cast<int32_t>(code.size());
}

Occurrence Machine::getOccurrence(int32_t agent,
                                  const Instruction &instruction) const {
  return {agent, instruction.site, state.agents[agent].when};
}

void Machine::refuse(Finding finding) {
  if (program.loose && finding.fault == Fault::Early)
    return;
  if (program.lenient &&
      llvm::is_contained({Fault::Race, Fault::Unwritten, Fault::Content,
                          Fault::Unstored, Fault::Unfinished,
                          Fault::Outstanding},
                         finding.fault))
    return;
  if (!fault)
    fault = finding;
}

/// The slot of the instruction's barrier; -1 after a fault.
int32_t Machine::getSlot(int32_t agent, const Instruction &instruction) {
  const Barrier &barrier = program.barriers[instruction.barrier];
  int32_t slot = getRegister(agent, instruction.slot);
  if (slot >= 0 && slot < barrier.slots)
    return barrier.firstSlot + slot;
  Finding finding{
      Fault::UnknownSlot, getOccurrence(agent, instruction), {}, {}};
  finding.phase = slot;
  refuse(finding);
  return -1;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void Machine::run() {
  for (bool progress = true; progress && !fault;) {
    progress = false;
    for (int32_t agent = 0; agent < numAgents && !fault; ++agent)
      while (!fault && !isOver(agent) && step(agent)) {
        progress = true;
        ++events;
      }
  }
  forget();
}

void Machine::decide(Decision decision) {
  state.decisions.push_back(decision);
  run();
}

/// Runs one instruction; false when the agent has to wait.
bool Machine::step(int32_t agent) {
  const Instruction &instruction = getInstruction(agent);
  const Components &own = program.agents[agent].components;
  AgentState &self = state.agents[agent];
  int32_t *clock = getClock(agent);
  switch (instruction.event) {
  case Event::TaskBegin:
  case Event::TaskEnd:
  case Event::KvBegin:
  case Event::KvEnd:
    return stepLoop(agent, instruction);
  case Event::Wait:
    if (!stepWait(agent, instruction))
      return false;
    break;
  case Event::Arrive:
    if (int32_t slot = getSlot(agent, instruction); slot >= 0) {
      Mark mark{own.program, tick(agent)};
      arrive(agent, instruction, slot, clock, mark);
    }
    break;
  case Event::Commit:
    if (int32_t slot = getSlot(agent, instruction); slot >= 0) {
      int32_t *queue = getClock(numAgents + agent);
      tick(agent);
      join(queue, clock);
      queue[own.mma] = ++state.issued[own.mma];
      state.last[own.mma] = getOccurrence(agent, instruction);
      arrive(agent, instruction, slot, queue, {own.mma, queue[own.mma]});
    }
    break;
  case Event::StoreWait:
    if (own.bulk >= 0)
      clock[own.bulk] = std::max(clock[own.bulk], state.issued[own.bulk] -
                                                      instruction.immediate);
    break;
  case Event::WaitProducts:
    clock[own.mma] =
        std::max(clock[own.mma], state.issued[own.mma] - instruction.immediate);
    setRegister(agent, instruction.result,
                getRegister(agent, instruction.value));
    break;
  case Event::WaitLoad:
    if (own.load >= 0)
      clock[own.load] = state.issued[own.load];
    break;
  case Event::WaitStore:
    if (own.store >= 0)
      clock[own.store] = state.issued[own.store];
    break;
  case Event::Fence:
    if (own.proxy >= 0)
      clock[own.proxy] = state.issued[own.proxy];
    break;
  case Event::Next: {
    int32_t &cursor =
        state
            .cursors[program.agents[agent].firstCursor + instruction.immediate];
    setRegister(agent, instruction.result, cursor);
    if (observer)
      observer->next(getOccurrence(agent, instruction), instruction.immediate);
    cursor = (cursor + 1) % program.rings[instruction.immediate].slots;
    break;
  }
  case Event::Use:
    stepUse(agent, instruction);
    break;
  case Event::Arithmetic:
    scratch.clear();
    for (int32_t i = instruction.firstPair; i < instruction.endPair; ++i)
      scratch.push_back(getRegister(agent, program.pairs[i].first));
    setRegister(agent, instruction.result,
                evaluate(program.sites[instruction.site], scratch));
    break;
  case Event::Copy:
    scratch.clear();
    for (int32_t i = instruction.firstPair; i < instruction.endPair; ++i)
      scratch.push_back(getRegister(agent, program.pairs[i].first));
    for (int32_t i = instruction.firstPair; i < instruction.endPair; ++i)
      setRegister(agent, program.pairs[i].second,
                  scratch[i - instruction.firstPair]);
    break;
  case Event::Math:
    stepMath(agent, instruction);
    break;
  case Event::Mma:
    stepMma(agent, instruction);
    break;
  case Event::Product:
    stepProduct(agent, instruction);
    break;
  default:
    stepTile(agent, instruction);
    break;
  }
  ++self.pc;
  return true;
}

/// Loops take the decisions that concern them, in order.
bool Machine::stepLoop(int32_t agent, const Instruction &instruction) {
  AgentState &self = state.agents[agent];
  if (instruction.event == Event::TaskBegin) {
    self.inTasks = true;
    self.when = {1, 0};
    ++self.pc;
    return true;
  }
  int32_t numDecisions = state.decisions.size();
  if (instruction.event == Event::TaskEnd) {
    while (self.decision < numDecisions &&
           state.decisions[self.decision] <= Decision::Unmasked)
      ++self.decision;
    if (self.decision == numDecisions)
      return false;
    int32_t task = self.when.task;
    if (state.decisions[self.decision] == Decision::End) {
      self.when = {-1, 0};
      self.inTasks = false;
      ++self.pc;
    } else {
      ++self.decision;
      self.when = {task + 1, 0};
      self.pc = instruction.target + 1;
    }
    leaveTask(task);
    return true;
  }
  bool begins = instruction.event == Event::KvBegin;
  auto setBlock = [&](int32_t block) {
    self.when.block = block;
    Content content{Kind::Block, self.when.task};
    content.block = block;
    setContent(agent, instruction.result, content);
  };
  if (begins && instruction.range == KvRange::All) {
    setBlock(1);
    ++self.pc;
    return true;
  }
  bool masked = instruction.range != KvRange::RestUnmasked;
  bool unmasked = instruction.range != KvRange::RestMasked;
  while (self.decision < numDecisions && !masked &&
         state.decisions[self.decision] == Decision::Masked)
    ++self.decision;
  if (self.decision == numDecisions)
    return false;
  Decision decision = state.decisions[self.decision];
  if ((masked && decision == Decision::Masked) ||
      (unmasked && decision == Decision::Unmasked)) {
    ++self.decision;
    // How many blocks of the task came before.
    int32_t before = 1;
    for (int32_t i = self.decision - 1;
         i >= 0 && state.decisions[i] <= Decision::Unmasked; --i)
      ++before;
    setBlock(before);
    self.pc = begins ? self.pc + 1 : instruction.target + 1;
    return true;
  }
  self.when.block = 0;
  self.pc = begins ? instruction.target + 1 : self.pc + 1;
  return true;
}

/// Consumed registers prove their reads done, up to the first that is not.
void Machine::stepUse(int32_t agent, const Instruction &instruction) {
  AgentState &self = state.agents[agent];
  const Components &own = program.agents[agent].components;
  int32_t *clock = getClock(agent);
  for (int32_t i = instruction.firstPair; i < instruction.endPair; ++i) {
    auto *read = llvm::find_if(self.unused, [&](const PendingRead &pending) {
      return pending.fragment == program.pairs[i].first;
    });
    if (read == self.unused.end())
      continue;
    if (read->load > clock[own.load])
      warn({Fault::Unwaited, getOccurrence(agent, instruction), read->by, {}});
    self.unused.erase(read);
  }
  clock[own.used] = self.unused.empty() ? state.issued[own.used]
                                        : self.unused.front().used - 1;
}

//===----------------------------------------------------------------------===//
// Waits and arrivals
//===----------------------------------------------------------------------===//

/// The phase before the first has parity 1, the first 0. The role's waits for
/// the slot say which phase it waits for; the parity has to say the same.
bool Machine::checkParity(int32_t agent, const Instruction &instruction,
                          int32_t slot, int32_t target) {
  int32_t parity = getRegister(agent, instruction.value);
  if (parity == (target + 1) % 2)
    return true;
  Finding finding{Fault::Parity, getOccurrence(agent, instruction), {}, {}};
  finding.slot = slot;
  finding.phase = target;
  finding.tag = parity;
  refuse(finding);
  return false;
}

bool Machine::stepWait(int32_t agent, const Instruction &instruction) {
  int32_t slot = getSlot(agent, instruction);
  if (slot < 0)
    return false;
  const Barrier &barrier = program.barriers[instruction.barrier];
  AgentState &self = state.agents[agent];
  int32_t *clock = getClock(agent);
  Waits &waits = state.waits[slot * numAgents + agent];
  int32_t target = waits.count + (barrier.free ? 0 : 1);
  if (barrier.named) {
    if (!self.arrived) {
      self.target = getArrivals(slot, instruction.arrival).count + 1;
      Mark mark{program.agents[agent].components.program, tick(agent)};
      arrive(agent, instruction, slot, clock, mark);
      if (fault)
        return false;
      self.arrived = true;
    }
    // Another instance may have arrived for the next phase since.
    target = self.target;
  }
  if (instruction.value >= 0 && !checkParity(agent, instruction, slot, target))
    return false;
  int32_t completed = state.completions[slot];
  if (completed < target)
    return false;
  Occurrence here = getOccurrence(agent, instruction);
  if (completed > target && !barrier.named) {
    Finding finding{Fault::Overrun, here, {}, {}};
    finding.slot = slot;
    finding.phase = target;
    const Arrivals &last = getArrivals(slot, 0);
    finding.there = last.by;
    refuse(finding);
    return false;
  }
  self.arrived = false;
  ++waits.count;
  if (target > 0) {
    if (observer)
      scratch.assign(clock, clock + program.components);
    // What the phases since then have told is not this one's to know.
    if (completed == target || !barrier.named)
      join(clock, getCompletedClock(slot));
    clock[slot] = std::max(clock[slot], target);
    if (observer)
      observer->wait(here, slot, target, scratch.data(), clock);
  }
  waits.target = target;
  waits.index = tick(agent);
  waits.last = here;
  return true;
}

/// An arrival for the role's next phase, which must not come before all others
/// have arrived for the phase before: it would be counted there.
void Machine::arrive(int32_t agent, const Instruction &instruction,
                     int32_t slot, const int32_t *knowledge, Mark mark) {
  const Barrier &barrier = program.barriers[instruction.barrier];
  Occurrence here = getOccurrence(agent, instruction);
  Arrivals &own = getArrivals(slot, instruction.arrival);
  int32_t phase = own.count + 1;
  int32_t entries = barrier.roles.size();
  for (int32_t entry = 0; entry < entries; ++entry) {
    const Arrivals &other = getArrivals(slot, entry);
    // The other may have arrived for this phase already, which says nothing of
    // when.
    bool isAhead = other.count >= phase;
    const Mark &last = isAhead ? other.previous : other.last;
    if (phase == 1 ||
        (other.count >= phase - 1 &&
         isBefore(barrier.perWarp ? last : ofEveryWarp(last), knowledge)))
      continue;
    Finding finding{
        Fault::Early, here, isAhead ? other.byPrevious : other.by, {}};
    finding.slot = slot;
    finding.phase = phase;
    // Where the other has not even arrived, its last arrival is no witness.
    if (other.count < phase - 1)
      finding.there = {};
    else
      finding.ofOneWarp = isBefore(last, knowledge);
    finding.tag = entry;
    return refuse(finding);
  }
  own.count = phase;
  own.previous = own.last;
  own.byPrevious = own.by;
  own.last = mark;
  own.by = here;
  if (observer)
    observer->arrive(here, slot, phase, knowledge);
  join(getClock(2 * numAgents + program.slots + slot), knowledge);
  for (int32_t entry = 0; entry < entries; ++entry)
    if (getArrivals(slot, entry).count < phase)
      return;
  complete(slot, here);
}

/// Who arrives does so with all warps, so what each of them knew of one warp of
/// another role is known of all.
void Machine::meet(int32_t *knowledge) const {
  for (auto [each, every] : llvm::enumerate(program.everyWarp))
    if (every >= 0)
      knowledge[every] = std::max(knowledge[every], knowledge[each]);
}

/// A wait by parity that has not passed by now would miss the phase before.
void Machine::complete(int32_t slot, const Occurrence &by) {
  const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
  int32_t *arriving = getClock(2 * numAgents + program.slots + slot);
  int32_t previous = state.completions[slot];
  for (int32_t agent = 0; agent < numAgents && !barrier.named; ++agent) {
    const Waits &waits = getWaits(slot, agent);
    if (waits.target != previous ||
        isBefore({program.agents[agent].components.program, waits.index},
                 arriving))
      continue;
    Finding finding{Fault::Overrun, waits.last, by, {}};
    finding.slot = slot;
    finding.phase = previous;
    return refuse(finding);
  }
  ++state.completions[slot];
  arriving[slot] = state.completions[slot];
  if (!barrier.perWarp)
    meet(arriving);
  std::copy_n(arriving, program.components, getClock(2 * numAgents + slot));
  std::fill_n(arriving, program.components, 0);
}

std::pair<int32_t, int32_t> Machine::getAwaited(int32_t agent) const {
  const Instruction &instruction = getInstruction(agent);
  if (isOver(agent) || instruction.event != Event::Wait)
    return {-1, 0};
  const Barrier &barrier = program.barriers[instruction.barrier];
  int32_t slot = barrier.firstSlot + getRegister(agent, instruction.slot);
  if (barrier.named)
    return {slot, state.agents[agent].target};
  return {slot, getWaits(slot, agent).count + (barrier.free ? 0 : 1)};
}
