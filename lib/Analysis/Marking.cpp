// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The relative marking of a state: all that its future depends on, and nothing
// that grows with the length of the run.

#include "Explore.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
class MarkingWriter {
public:
  MarkingWriter(const Program &program, const Machine &machine)
      : program(program), machine(machine), state(machine.state) {}

  Marking write() {
    findCarriers();
    findTasks();
    writeAgents();
    writeSlots();
    for (const Atom &atom : state.atoms)
      writeAtom(atom);
    for (size_t index = 0; index < program.watches.size(); ++index)
      writeWatch(program.watches[index], state.watches[index]);
    return std::move(marking);
  }

private:
  void findCarriers();
  void findTasks();
  void writeAgents();
  void writeDecisions(int32_t agent);
  void writeRegisters();
  void writeSlots();
  void writeAtom(const Atom &atom);
  void writeWatch(const Watch &watch, const WatchState &watched);
  void writeSeen(const Watch &watch, ArrayRef<Seen> accesses, int32_t agent);
  void writeRecord(const Record &record);
  /// Which carriers know of a mark.
  void writeMark(const Mark &mark);
  void put(int32_t value) { marking.facts.push_back(value); }
  /// A value: a content as what it is to the task and the block at hand.
  void putContent(int32_t value);

  const Program &program;
  const Machine &machine;
  const State &state;
  /// Clocks that knowledge may still flow out of; null where none will.
  std::vector<const int32_t *> carriers;
  /// The task that was decided on last, and the first that a role is in.
  int32_t lastTask = 1, firstTask = 1;
  Marking marking;
};
} // namespace

void MarkingWriter::findCarriers() {
  int32_t numAgents = program.agents.size();
  for (int32_t agent = 0; agent < numAgents; ++agent) {
    carriers.push_back(machine.getAgentClock(agent));
    if (program.agents[agent].components.mma >= 0)
      carriers.push_back(machine.getQueueClock(agent));
  }
  for (int32_t slot = 0; slot < program.slots; ++slot) {
    const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
    int32_t completed = state.completions[slot];
    bool awaited = false;
    for (int32_t agent = 0; agent < numAgents && !awaited; ++agent) {
      int32_t next =
          machine.getWaits(slot, agent).count + (barrier.free ? 0 : 1);
      awaited =
          program.mayWait[slot * numAgents + agent] &&
          (barrier.named ? state.agents[agent].arrived : next == completed);
    }
    bool begun = false;
    for (int32_t entry = 0, end = barrier.roles.size(); entry < end; ++entry)
      begun |= machine.getArrivals(slot, entry).count > completed;
    carriers.push_back(
        awaited && completed > 0 ? machine.getCompletedClock(slot) : nullptr);
    carriers.push_back(begun ? machine.getArrivingClock(slot) : nullptr);
  }
}

void MarkingWriter::findTasks() {
  for (Decision decision : state.decisions)
    lastTask += decision == Decision::Task;
  firstTask = lastTask;
  for (auto [index, self] : llvm::enumerate(state.agents))
    if (program.roles[program.agents[index].role].hasTasks &&
        !machine.isOver(index) && self.when.task >= 0)
      firstTask = std::min(firstTask, self.when.task);
}

/// A content of a task that all roles have left is a fault to whoever reads it,
/// whatever it is.
void MarkingWriter::putContent(int32_t value) {
  const Content *content = machine.getContents().lookup(value);
  if (!content)
    return put(value);
  if (content->task < firstTask)
    return put(kFirstContent);
  put(kFirstContent + 1 + static_cast<int32_t>(content->kind));
  put(lastTask - content->task);
  put(content->stage);
  // Blocks count back from the last of their task that is decided on; nothing
  // comes before the first.
  int32_t blocks = machine.getBlocks(content->task).first;
  for (int32_t block : {content->block, content->reference}) {
    put(block == 0 ? -1 : blocks - block);
    put(block == 1);
  }
  for (int32_t part :
       {static_cast<int32_t>(content->done), content->begin, content->end,
        content->width, static_cast<int32_t>(content->scaled),
        static_cast<int32_t>(content->masked)})
    put(part);
}

/// Registers that nothing reads before they are set again may hold anything.
void MarkingWriter::writeRegisters() {
  for (auto [index, agent] : llvm::enumerate(program.agents)) {
    const RoleProgram &role = program.roles[agent.role];
    const llvm::BitVector &live = role.live[state.agents[index].pc];
    for (int32_t i = 0, end = role.registers.size(); i < end; ++i)
      if (live.test(i))
        putContent(state.registers[agent.firstRegister + i]);
  }
  for (const Stored &stored : state.stored) {
    put(lastTask - stored.task);
    put(stored.results);
    put(stored.sums);
  }
  put(-1);
}

void MarkingWriter::writeMark(const Mark &mark) {
  put(mark.component < 0 ? -1 : 0);
  if (mark.component < 0)
    return;
  // What is known of a warp may become known of all.
  if (int32_t every = program.everyWarp[mark.component]; every >= 0)
    writeMark({every, mark.index});
  uint32_t bits = 0;
  int32_t used = 0;
  for (const int32_t *carrier : carriers) {
    bits = bits << 1 | (carrier && carrier[mark.component] >= mark.index);
    if (++used == 31) {
      marking.knowledge.push_back(bits);
      bits = used = 0;
    }
  }
  marking.knowledge.push_back(bits);
}

/// The decisions that an agent has yet to take in. Where no loop over blocks is
/// left in its task, it does not look at those about blocks.
void MarkingWriter::writeDecisions(int32_t agent) {
  const RoleProgram &role = program.roles[program.agents[agent].role];
  const AgentState &self = state.agents[agent];
  if (!role.hasTasks || machine.isOver(agent))
    return put(-1);
  bool looks = false;
  for (size_t pc = self.pc;
       pc < role.code.size() && role.code[pc].event != Event::TaskEnd; ++pc)
    looks |= role.code[pc].event == Event::KvBegin ||
             role.code[pc].event == Event::KvEnd;
  for (size_t i = self.decision; i < state.decisions.size(); ++i) {
    Decision decision = state.decisions[i];
    if (decision <= Decision::Unmasked && !looks)
      continue;
    put(static_cast<int32_t>(decision));
    looks |= role.hasBlocks;
  }
  put(-1);
}

void MarkingWriter::writeAgents() {
  for (auto [index, self] : llvm::enumerate(state.agents)) {
    put(self.pc);
    put(self.arrived);
    if (self.arrived) {
      auto [slot, phase] = machine.getAwaited(index);
      put(phase - state.completions[slot]);
    }
    writeDecisions(index);
    const Components &own = program.agents[index].components;
    put(self.unused.size());
    for (const PendingRead &read : self.unused)
      put(read.fragment);
    const int32_t *clock = machine.getAgentClock(index);
    for (int32_t component : {own.load, own.store, own.bulk})
      if (component >= 0)
        put(state.issued[component] > clock[component]);
    if (own.mma >= 0)
      writeMark({own.mma, state.issued[own.mma]});
  }
  writeRegisters();
  llvm::append_range(marking.facts, state.cursors);
}

void MarkingWriter::writeSlots() {
  int32_t numAgents = program.agents.size();
  for (int32_t slot = 0; slot < program.slots; ++slot) {
    const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
    int32_t completed = state.completions[slot];
    if (barrier.async)
      writeMark({slot, completed});
    for (int32_t entry = 0, end = barrier.roles.size(); entry < end; ++entry) {
      const Arrivals &arrivals = machine.getArrivals(slot, entry);
      put(arrivals.count - completed);
      if (arrivals.count > 0)
        writeMark(arrivals.last);
      if (arrivals.count > completed && arrivals.count > 1)
        writeMark(arrivals.previous);
    }
    for (int32_t agent = 0; agent < numAgents && !barrier.named; ++agent) {
      if (!program.mayWait[slot * numAgents + agent])
        continue;
      const Waits &waits = machine.getWaits(slot, agent);
      // A wait that far behind is a fault, however far.
      put(std::clamp(completed - waits.count, -4, 4));
      if (program.hasParity[slot * numAgents + agent])
        put(waits.count % 2);
      put(waits.target == completed);
      if (waits.target == completed)
        writeMark({program.agents[agent].components.program, waits.index});
    }
  }
}

void MarkingWriter::writeRecord(const Record &record) {
  put(record.done.component);
  writeMark(record.done);
  writeMark(record.proxy);
  writeMark(record.used);
  const AgentState &self = state.agents[record.by.agent];
  const Components &own = program.agents[record.by.agent].components;
  // How many stores, or products of a warpgroup, were issued since: a wait that
  // leaves some pending counts them.
  RoleOp role = program.roles[program.agents[record.by.agent].role].op;
  if (own.mma == record.done.component && role.getThreads() != 32)
    put(machine.getAgentClock(record.by.agent)[own.mma] >= record.done.index
            ? -1
            : std::min(state.issued[own.mma] - record.done.index, 64));
  if (own.bulk == record.done.component)
    put(std::min(state.issued[own.bulk] - record.done.index, 64));
  // Whether consuming the registers at hand would consume this read's.
  if (record.used.component >= 0)
    put(llvm::count_if(self.unused, [&](const PendingRead &read) {
      return read.used <= record.used.index;
    }));
}

void MarkingWriter::writeAtom(const Atom &atom) {
  put(atom.written);
  if (!atom.written)
    return;
  putContent(atom.content);
  writeRecord(atom.write);
  put(atom.reads.size());
  for (const Record &read : atom.reads)
    writeRecord(read);
}

/// Accesses, their times relative to that of the agent that they wait for.
void MarkingWriter::writeSeen(const Watch &watch, ArrayRef<Seen> accesses,
                              int32_t agent) {
  When now = state.agents[agent].when;
  put(accesses.size());
  for (const Seen &seen : accesses) {
    bool same = seen.when.task == now.task;
    put(watch.countsTasks ? seen.when.task - now.task : 0);
    put(watch.countsBlocks ? seen.when.block - (same ? now.block : 0) : 0);
    put(seen.done.component);
    writeMark(seen.done);
    writeMark(seen.proxy);
  }
}

void MarkingWriter::writeWatch(const Watch &watch, const WatchState &watched) {
  writeSeen(watch, watched.before, watch.after.agent);
  writeSeen(watch, watched.early, watch.before.agent);
}

Marking protocol::getMarking(const Program &program, const Machine &machine) {
  return MarkingWriter(program, machine).write();
}
