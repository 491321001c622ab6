// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings in words: who, where, when, and what is missing.

#include "Explore.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
class Reporter {
public:
  explicit Reporter(const Program &program) : program(program) {}

  void report(const Machine &machine, const Finding &finding);
  void warn(const Finding &finding);

private:
  Operation *getOp(const Occurrence &occurrence) const {
    return program.sites[occurrence.site];
  }
  std::string getAgent(const Occurrence &occurrence) const {
    return program.getAgentName(occurrence.agent);
  }
  std::string getTime(const Occurrence &occurrence) const;
  std::string getArrivers(const Barrier &barrier,
                          ArrayRef<int32_t> entries) const;
  std::string getRemedy(const Finding &finding) const;
  std::string describeRace(const Finding &finding) const;
  void noteThere(InFlightDiagnostic &diag, const Finding &finding,
                 StringRef what) const;
  void noteBarrier(InFlightDiagnostic &diag, int32_t slot) const;

  void reportRace(const Finding &finding);
  void reportUnwritten(const Finding &finding);
  void reportEarly(const Finding &finding);
  void reportOverrun(const Finding &finding);
  void reportParity(const Finding &finding);
  void reportDeadlock(const Machine &machine);
  void reportUnfinished(const Machine &machine, const Finding &finding);
  void reportOutstanding(const Finding &finding);
  void reportUnknownSlot(const Finding &finding);

  std::string describeWait(const Machine &machine, int32_t agent) const;
  SmallVector<int32_t> getMissing(const Machine &machine, int32_t slot,
                                  int32_t phase) const;

  const Program &program;
};
} // namespace

//===----------------------------------------------------------------------===//
// Phrases
//===----------------------------------------------------------------------===//

/// When it happens, as the end of a clause; empty in a role without tasks.
std::string Reporter::getTime(const Occurrence &occurrence) const {
  if (!program.roles[program.agents[occurrence.agent].role].hasTasks)
    return "";
  auto [task, block] = occurrence.when;
  if (task == 0)
    return " before the first task";
  if (task < 0)
    return " behind the last task";
  std::string time = " in task " + std::to_string(task);
  if (block > 0)
    time += ", K/V block " + std::to_string(block);
  return time;
}

/// Arrivals of a barrier: "128 threads of @softmax and the commit of @mma".
std::string Reporter::getArrivers(const Barrier &barrier,
                                  ArrayRef<int32_t> entries) const {
  SmallVector<std::string> parts;
  for (int32_t entry : entries) {
    RoleOp role = program.roles[barrier.roles[entry]].op;
    std::string count = std::to_string(barrier.counts[entry]);
    std::string what = barrier.engines[entry] == Engine::Commit ? "the commit"
                       : barrier.engines[entry] == Engine::Threads
                           ? count + " threads"
                           : count + " bytes";
    parts.push_back(what + " of @" + role.getSymName().str());
  }
  return llvm::join(parts, " and ");
}

void Reporter::noteThere(InFlightDiagnostic &diag, const Finding &finding,
                         StringRef what) const {
  if (finding.there.site < 0)
    return;
  std::string time = getTime(finding.there);
  diag.attachNote(getOp(finding.there)->getLoc())
      << what << " is here" << (time.empty() ? "" : ",") << time;
}

void Reporter::noteBarrier(InFlightDiagnostic &diag, int32_t slot) const {
  const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
  auto all = llvm::to_vector(llvm::seq<int32_t>(0, barrier.roles.size()));
  diag.attachNote(BarrierOp(barrier.op).getLoc())
      << "a phase of the barrier takes " << getArrivers(barrier, all);
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// What would order the two accesses of a race.
std::string Reporter::getRemedy(const Finding &finding) const {
  if (finding.ofOneWarp)
    return "expected a barrier between that joins all its warps";
  Operation *there = getOp(finding.there);
  std::string before = getAgent(finding.there), after = getAgent(finding.here);
  if (finding.needsFence)
    return "expected a 'fa4.fence async_shared' behind it";
  if (isa<LoadOp>(there))
    return "expected a wait for the barrier that the copy signals";
  if (isa<MmaOp>(there))
    return "expected an arrival by commit of " + before +
           " behind it, and a wait for that";
  if (isa<WarpgroupMmaOp>(there))
    return "expected a 'fa4.warpgroup_wait' that ends it, an arrival of " +
           before + " behind that, and a wait for the arrival";
  if (finding.issuedBefore && isa<ReadTileOp>(there))
    return "expected a 'fa4.tmem_wait load' behind it";
  if (finding.issuedBefore && isa<WriteTileOp>(there))
    return "expected a 'fa4.tmem_wait store' behind it";
  if (finding.issuedBefore && isa<StoreOp>(there))
    return "expected a 'fa4.store_wait' behind it";
  return "expected a barrier on which " + before +
         " arrives behind it and for which " + after + " waits before this";
}

std::string Reporter::describeRace(const Finding &finding) const {
  return getAgent(finding.here) + (finding.writes ? " writes " : " reads ") +
         program.getPlace(finding.access, finding.accessSlot) +
         getTime(finding.here) + ", but nothing orders it after the " +
         (finding.wrote ? "write" : "read") + " by " +
         (finding.ofOneWarp ? "other warps of " : "") +
         getAgent(finding.there) + ": " + getRemedy(finding);
}

/// Where the program writes what was read too early.
void Reporter::reportUnwritten(const Finding &finding) {
  InFlightDiagnostic diag =
      getOp(finding.here)->emitOpError()
      << "expected " << program.getPlace(finding.access, finding.accessSlot)
      << " to be written before " << getAgent(finding.here) << " reads it"
      << getTime(finding.here) << ", but nothing has written it";
  const Access &read = finding.access;
  int32_t reader = program.agents[finding.here.agent].role;
  for (auto [index, role] : llvm::enumerate(program.roles)) {
    auto writes = [&](const Instruction &instruction) {
      for (int32_t i = instruction.firstAccess; i < instruction.endAccess;
           ++i) {
        const Access &access = program.accesses[i];
        int32_t slot = role.registers[access.slot];
        if (access.writes && access.ring == read.ring &&
            access.begin < read.end && access.end > read.begin &&
            (slot == kUnknown || slot == finding.accessSlot))
          return true;
      }
      return false;
    };
    const auto *writer = llvm::find_if(role.code, writes);
    if (writer == role.code.end() || static_cast<int32_t>(index) == reader)
      continue;
    diag.attachNote(program.sites[writer->site]->getLoc())
        << "@" << RoleOp(role.op).getSymName()
        << " writes it here: expected a barrier on which it arrives behind "
           "that and for which "
        << getAgent(finding.here) << " waits before the read";
    return;
  }
}

void Reporter::reportRace(const Finding &finding) {
  InFlightDiagnostic diag = getOp(finding.here)->emitOpError("race: ")
                            << describeRace(finding);
  noteThere(diag, finding, finding.wrote ? "the write" : "the read");
}

void Reporter::warn(const Finding &finding) {
  Operation *here = getOp(finding.here);
  InFlightDiagnostic diag = here->emitWarning()
                            << "'" << here->getName() << "' op ";
  if (finding.fault == Fault::Unwaited)
    diag << "consumes registers" << getTime(finding.here)
         << " that no 'fa4.tmem_wait load' covers: the hardware holds it back "
            "until they are "
            "filled, but that does not promise that the columns may be "
            "overwritten";
  else
    diag << describeRace(finding)
         << ", since consumed registers alone promise nothing";
  noteThere(diag, finding, "the read");
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void Reporter::reportEarly(const Finding &finding) {
  const Barrier &barrier =
      program.barriers[program.barrierOfSlot[finding.slot]];
  std::string other = getArrivers(barrier, finding.tag);
  InFlightDiagnostic diag =
      getOp(finding.here)->emitOpError()
      << "expected the arrival of " << getAgent(finding.here) << " for phase "
      << finding.phase << " of " << program.getSlotName(finding.slot)
      << getTime(finding.here) << " after phase " << finding.phase - 1
      << ", but it may be counted there: ";
  if (finding.there.site < 0)
    diag << "that phase lacks " << other;
  else
    diag << "nothing orders it after " << (finding.ofOneWarp ? "all of " : "")
         << other
         << (finding.ofOneWarp ? ", but after those of the same warp" : "");
  noteThere(diag, finding, "that arrival");
  noteBarrier(diag, finding.slot);
}

void Reporter::reportOverrun(const Finding &finding) {
  InFlightDiagnostic diag = getOp(finding.here)->emitOpError()
                            << getAgent(finding.here);
  std::string slot = program.getSlotName(finding.slot);
  if (finding.phase > 0)
    diag << " waits for phase " << finding.phase << " of " << slot;
  else
    diag << " finds " << slot << " free";
  diag << getTime(finding.here) << ", but phase " << finding.phase + 1
       << " may complete before: the wait would miss "
       << (finding.phase > 0 ? "its phase" : "that") << " and block";
  noteThere(
      diag, finding,
      ("the arrival that completes phase " + Twine(finding.phase + 1)).str());
}

void Reporter::reportParity(const Finding &finding) {
  InFlightDiagnostic diag = getOp(finding.here)->emitOpError();
  if (finding.tag == kUnknown) {
    diag << "incomplete: expected a parity that follows from the text, but got "
            "a value that the proof cannot tell";
    return;
  }
  std::string slot = program.getSlotName(finding.slot);
  diag << "expected parity " << (finding.phase + 1) % 2 << getTime(finding.here)
       << ", since " << getAgent(finding.here);
  if (finding.phase > 0)
    diag << " waits for phase " << finding.phase << " of " << slot;
  else
    diag << " has to find " << slot << " free";
  diag << ", but got " << finding.tag;
}

SmallVector<int32_t> Reporter::getMissing(const Machine &machine, int32_t slot,
                                          int32_t phase) const {
  const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
  SmallVector<int32_t> missing;
  for (int32_t entry = 0, end = barrier.roles.size(); entry < end; ++entry)
    if (machine.getArrivals(slot, entry).count < phase)
      missing.push_back(entry);
  return missing;
}

std::string Reporter::describeWait(const Machine &machine,
                                   int32_t agent) const {
  auto [slot, phase] = machine.getAwaited(agent);
  const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
  return program.getAgentName(agent) + " waits" +
         getTime({agent, machine.getInstruction(agent).site,
                  machine.state.agents[agent].when}) +
         " for phase " + std::to_string(phase) + " of " +
         program.getSlotName(slot) + ", which lacks " +
         getArrivers(barrier, getMissing(machine, slot, phase));
}

void Reporter::reportDeadlock(const Machine &machine) {
  int32_t numAgents = program.agents.size();
  // The wait to begin with: one that lacks a role that has ended.
  int32_t root = -1;
  RoleOp ended;
  for (int32_t agent = 0; agent < numAgents && !ended; ++agent) {
    auto [slot, phase] = machine.getAwaited(agent);
    if (slot < 0)
      continue;
    if (root < 0)
      root = agent;
    const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
    for (int32_t entry : getMissing(machine, slot, phase)) {
      bool over = true;
      for (int32_t other = 0; other < numAgents; ++other)
        over &= program.agents[other].role != barrier.roles[entry] ||
                machine.isOver(other);
      if (!over)
        continue;
      root = agent;
      ended = program.roles[barrier.roles[entry]].op;
      break;
    }
  }
  if (root < 0)
    return;
  auto getSite = [&](int32_t agent) {
    return program.sites[machine.getInstruction(agent).site];
  };
  auto [slot, phase] = machine.getAwaited(root);
  InFlightDiagnostic diag = getSite(root)->emitOpError("deadlock: ")
                            << describeWait(machine, root);
  if (ended)
    diag.attachNote(ended.getLoc())
        << "@" << ended.getSymName() << " ends without it";
  for (int32_t agent = 0; agent < numAgents; ++agent)
    if (agent != root && machine.getAwaited(agent).first >= 0)
      diag.attachNote(getSite(agent)->getLoc()) << describeWait(machine, agent);
  noteBarrier(diag, slot);
}

void Reporter::reportUnfinished(const Machine &machine,
                                const Finding &finding) {
  const Barrier &barrier =
      program.barriers[program.barrierOfSlot[finding.slot]];
  InFlightDiagnostic diag =
      getOp(finding.here)->emitOpError()
      << "expected phase " << finding.phase << " of "
      << program.getSlotName(finding.slot) << ", for which "
      << getAgent(finding.here) << " arrives" << getTime(finding.here)
      << ", to complete, but it lacks "
      << getArrivers(barrier, getMissing(machine, finding.slot, finding.phase));
  noteBarrier(diag, finding.slot);
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

void Reporter::reportOutstanding(const Finding &finding) {
  InFlightDiagnostic diag = getOp(finding.here)->emitOpError();
  std::string who = getAgent(finding.here), time = getTime(finding.here);
  switch (static_cast<Leftover>(finding.tag)) {
  case Leftover::Mma:
    diag << "that " << who << " issues" << time
         << " may still run when the block ends: expected an arrival by commit "
            "behind it that some role waits for";
    return;
  case Leftover::Store:
    diag << "that " << who << " issues" << time
         << " may still read its source when the block "
         << "ends: expected a 'fa4.store_wait pending(0)' behind it";
    return;
  case Leftover::Read:
    diag << "of " << who << time
         << " may still read when the tensor memory is released: "
         << "expected a 'fa4.tmem_wait load' behind it";
    return;
  case Leftover::Write:
    diag << "of " << who << time
         << " may still write when the tensor memory is released: "
         << "expected a 'fa4.tmem_wait store' behind it";
    return;
  case Leftover::Arrival:
    diag << "of " << who << time << " may arrive on "
         << program.getSlotName(finding.slot)
         << " when the block has ended: expected some role to wait for phase "
         << finding.phase;
    noteBarrier(diag, finding.slot);
    return;
  }
}

void Reporter::reportUnknownSlot(const Finding &finding) {
  InFlightDiagnostic diag = getOp(finding.here)->emitOpError();
  if (finding.phase == kUnknown)
    diag << "incomplete: expected a slot that follows from the text, as a "
            "constant, the role's instance or a 'fa4.next' does, but got a "
            "value that the proof cannot tell";
  else
    diag << "expected a slot that exists, but got " << finding.phase << " for "
         << getAgent(finding.here);
}

void Reporter::report(const Machine &machine, const Finding &finding) {
  switch (finding.fault) {
  case Fault::Race:
    return reportRace(finding);
  case Fault::Unwritten:
    return reportUnwritten(finding);
  case Fault::Content: {
    InFlightDiagnostic diag = getOp(finding.here)->emitOpError()
                              << finding.text << getTime(finding.here);
    if (!finding.got.empty())
      diag << ", but got " << finding.got;
    noteThere(diag, finding, "what wrote it");
    return;
  }
  case Fault::Unstored:
    KernelOp(program.kernel).emitOpError()
        << "expected each task to store " << finding.text << ", but task "
        << finding.phase << " does not";
    return;
  case Fault::Early:
    return reportEarly(finding);
  case Fault::Overrun:
    return reportOverrun(finding);
  case Fault::Parity:
    return reportParity(finding);
  case Fault::Deadlock:
    return reportDeadlock(machine);
  case Fault::Unfinished:
    return reportUnfinished(machine, finding);
  case Fault::Outstanding:
    return reportOutstanding(finding);
  case Fault::UnknownSlot:
    return reportUnknownSlot(finding);
  case Fault::Unwaited:
    return warn(finding);
  }
}

void protocol::emitFault(const Program &program, const Machine &machine) {
  if (machine.fault)
    Reporter(program).report(machine, *machine.fault);
}

void protocol::emitWarning(const Program &program, const Finding &finding) {
  Reporter(program).warn(finding);
}
