// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs programs of events and keeps, for every agent, what it knows to be done.

#ifndef FA4_LIB_ANALYSIS_MACHINE_H
#define FA4_LIB_ANALYSIS_MACHINE_H

#include "Contents.h"
#include "Program.h"
#include <memory>

namespace mlir::fa4::protocol {

/// What the roles find out one by one, and all alike.
enum class Decision : uint8_t {
  Masked,   ///< The task has another block, in which some row sees only a part.
  Unmasked, ///< The task has another block.
  Task,     ///< The task is over, and there is another.
  End,      ///< The task is over, and it was the last.
};

/// When in a run an event happens: tasks and blocks count from 1; 0 is outside.
struct When {
  int32_t task = 0, block = 0;
};

/// Who did what when.
struct Occurrence {
  int32_t agent = -1, site = -1;
  When when;
};

/// A mark in the past: known to whoever's clock has reached it.
struct Mark {
  int32_t component = -1, index = 0;
};

/// An access that later ones may have to be ordered with.
struct Record {
  Mark done;
  Mark proxy; ///< Done for the asynchronous proxy, where that differs.
  Mark issued, used;
  Occurrence by;
};

struct Atom {
  bool written = false;
  int32_t content = kUnknown; ///< What was written.
  Record write;
  /// Reads since, the last of each component.
  SmallVector<Record, 3> reads;
};

/// A tensor-memory read whose registers nothing has consumed yet.
struct PendingRead {
  int32_t fragment;
  int32_t used; ///< Index of its consumption.
  int32_t load; ///< Index of the read.
  Occurrence by;
};

struct AgentState {
  int32_t pc = 0;
  int32_t decision = 0; ///< Decisions that the agent has taken in.
  bool arrived = false; ///< At a named barrier, and waits.
  int32_t target = 0;   ///< For this phase of it.
  bool inTasks = false;
  When when;
  /// Reads whose registers have not been consumed.
  SmallVector<PendingRead, 8> unused;
};

/// An agent's waits on one slot.
struct Waits {
  int32_t count = 0;
  int32_t target = -1; ///< Completion that the last waited for; -1 for none.
  int32_t index = 0;   ///< Of the last, among the agent's events.
  Occurrence last;
};

/// What may be outstanding when the roles are over.
enum class Leftover : int32_t { Mma, Store, Read, Write, Arrival };

/// Arrivals that a role has made on one slot.
struct Arrivals {
  int32_t count = 0;
  Mark last, previous; ///< The last arrival, and the one for the phase before.
  Occurrence by, byPrevious;
};

/// An access that a watch has to compare others with.
struct Seen {
  Mark done, proxy, issued;
  When when;
};

/// What the future of a watch depends on.
struct WatchState {
  /// Accesses that come before, while others may have to follow them.
  std::vector<Seen> before;
  /// Accesses that have run, while those that come before them may be late.
  std::vector<Seen> early;
};

/// What a run has shown of a watch.
struct WatchResult {
  bool met = false; ///< Both accesses have come.
  bool unordered = false;
  /// The first pair; unordered if any is.
  Occurrence before, after;
  Mark done;
  std::vector<Decision> decisions;
};

/// What the roles have stored of a task: a bit a stage.
struct Stored {
  int32_t task = 0;
  uint32_t results = 0, sums = 0;
};

/// The content of columns, and another where they do not hold the same.
struct Held {
  int32_t content = kUnknown, other = kUnknown;
  Occurrence by;
};

struct State {
  std::vector<AgentState> agents;
  std::vector<WatchState> watches;
  std::vector<int32_t> registers, cursors;
  std::vector<int32_t> completions; ///< By slot.
  std::vector<Arrivals> arrivals;   ///< By slot and entry.
  std::vector<Waits> waits;         ///< By slot and agent.
  std::vector<Atom> atoms;
  std::vector<int32_t> issued;  ///< Events of each component so far.
  std::vector<Occurrence> last; ///< The last of them.
  /// Clocks of agents, of their tensor-core queues, of completed phases, and of
  /// the phases at hand.
  std::vector<int32_t> clocks;
  std::vector<Decision> decisions;
  /// Of tasks that some role is still in.
  std::vector<Stored> stored;
};

enum class Fault : uint8_t {
  Race,
  Unwaited, ///< A warning: registers are consumed that no wait covers.
  Unwritten,
  Content, ///< What is read is not what belongs there.
  Unstored,
  Early,
  Overrun,
  Parity, ///< A wait has that of another phase; `tag` is what it has.
  Deadlock,
  Unfinished,
  Outstanding,
  UnknownSlot,
};

struct Finding {
  Fault fault;
  Occurrence here, there;
  Access access;
  int32_t accessSlot = 0;
  bool writes = false, wrote = false; ///< This access, and the other.
  /// Of a race: what would have completed the other access is what is missing.
  bool issuedBefore = false, usedBefore = false, needsFence = false;
  /// Each warp knows what is there of one warp of the other role alone.
  bool ofOneWarp = false;
  int32_t slot = -1, phase = 0;
  int32_t tag = kUnknown;
  /// Of a wrong content: what was expected, and what is there.
  std::string text = "", got = "";
};

/// Is told what happens in a run.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void access(const Access &access, int32_t slot, const Record &record,
                      const int32_t *knowledge, bool async) {}
  virtual void arrive(const Occurrence &here, int32_t slot, int32_t phase,
                      const int32_t *knowledge) {}
  /// A cursor moves; the agent's op gives the slot from here on.
  virtual void next(const Occurrence &here, int32_t ring) {}
  /// Behind a wait: what the agent knew before, and knows now.
  virtual void wait(const Occurrence &here, int32_t slot, int32_t phase,
                    const int32_t *before, const int32_t *now) {}
};

class Machine {
public:
  explicit Machine(const Program &program);

  Observer *observer = nullptr;
  std::vector<WatchResult> watchResults;

  State state;
  /// The first fault of the run, if any, and what is worth a warning.
  std::optional<Finding> fault;
  std::vector<Finding> warnings;
  uint64_t events = 0;

  /// Runs until every agent waits, is over, or needs a decision.
  void run();
  /// Adds a decision and runs.
  void decide(Decision decision);
  /// Checks the end of a run: nobody waits, nothing is outstanding.
  void finish();

  bool isOver(int32_t agent) const;
  const Instruction &getInstruction(int32_t agent) const;
  /// The slot that an agent waits on, and the completion that it waits for.
  std::pair<int32_t, int32_t> getAwaited(int32_t agent) const;

  /// The contents that registers and atoms number; shared by all copies.
  const ContentTable &getContents() const { return *contents; }
  /// K/V blocks of a task so far, and whether there will be more.
  std::pair<int32_t, bool> getBlocks(int32_t task) const;

  const int32_t *getAgentClock(int32_t agent) const { return getClock(agent); }
  const int32_t *getQueueClock(int32_t agent) const {
    return getClock(numAgents + agent);
  }
  const int32_t *getCompletedClock(int32_t slot) const {
    return getClock(2 * numAgents + slot);
  }
  const int32_t *getArrivingClock(int32_t slot) const {
    return getClock(2 * numAgents + program.slots + slot);
  }
  Arrivals &getArrivals(int32_t slot, int32_t entry) {
    return state.arrivals[firstArrival[slot] + entry];
  }
  const Arrivals &getArrivals(int32_t slot, int32_t entry) const {
    return state.arrivals[firstArrival[slot] + entry];
  }
  const Waits &getWaits(int32_t slot, int32_t agent) const {
    return state.waits[slot * numAgents + agent];
  }

private:
  const int32_t *getClock(int32_t index) const {
    return state.clocks.data() + index * program.components;
  }
  int32_t *getClock(int32_t index) {
    return state.clocks.data() + index * program.components;
  }
  void join(int32_t *into, const int32_t *from) const;

  bool step(int32_t agent);
  bool stepLoop(int32_t agent, const Instruction &instruction);
  bool checkParity(int32_t agent, const Instruction &instruction, int32_t slot,
                   int32_t target);
  bool stepWait(int32_t agent, const Instruction &instruction);
  void stepTile(int32_t agent, const Instruction &instruction);
  void stepMma(int32_t agent, const Instruction &instruction);
  void stepProduct(int32_t agent, const Instruction &instruction);
  int32_t multiplyScores(int32_t agent, const Instruction &instruction,
                         ArrayRef<int32_t> slots);
  int32_t multiplyWeights(int32_t agent, const Instruction &instruction,
                          int32_t slot);
  void stepScaleRows(int32_t agent, const Instruction &instruction);
  void stepUse(int32_t agent, const Instruction &instruction);

  int32_t tick(int32_t agent);
  int32_t getRegister(int32_t agent, int32_t index) const;
  void setRegister(int32_t agent, int32_t index, int32_t value);
  int32_t getSlot(int32_t agent, const Instruction &instruction);
  Occurrence getOccurrence(int32_t agent, const Instruction &instruction) const;

  void arrive(int32_t agent, const Instruction &instruction, int32_t slot,
              const int32_t *knowledge, Mark mark);
  /// The mark of an event that each warp has, done by all of them.
  Mark ofEveryWarp(const Mark &mark) const {
    int32_t every = program.everyWarp[mark.component];
    return every < 0 ? mark : Mark{every, mark.index};
  }
  void meet(int32_t *knowledge) const;
  void complete(int32_t slot, const Occurrence &by);

  bool isBefore(const Mark &mark, const int32_t *knowledge) const {
    return knowledge[mark.component] >= mark.index;
  }
  /// Checks an access by whoever has `knowledge`, and records it. `async`: it
  /// goes through the asynchronous proxy.
  void touch(const Access &access, int32_t slot, const int32_t *knowledge,
             const Record &record, bool async, bool reads, int32_t content);
  void watch(const Record &record, const int32_t *knowledge, bool async);
  void watchBefore(const Watch &watch, WatchState &state, WatchResult &result,
                   const Record &record);
  void watchAfter(const Watch &watch, WatchState &state, WatchResult &result,
                  const Record &record, const int32_t *knowledge, bool async);
  void forget(const Watch &watch, WatchState &state) const;
  void forget();
  void checkOrder(const Record &before, bool wrote, const int32_t *knowledge,
                  bool async, Finding finding);
  /// The slot of a ring that an access names; -1 after a fault.
  int32_t getRingSlot(int32_t agent, const Access &access,
                      const Occurrence &here);
  /// A mark for the next event of a component, which `here` is.
  Mark issue(int32_t component, const Occurrence &here);

  /// The content that a register holds, if it holds one.
  std::optional<Content> getContent(int32_t agent, int32_t index) const;
  void setContent(int32_t agent, int32_t index, const Content &content);
  Held getHeld(const Access &access, int32_t slot) const;
  void setHeld(const Access &access, int32_t slot, int32_t content);
  /// The content of the columns of an access, if all hold one that lies where
  /// the access's tile has it; else a fault that says what was expected.
  std::optional<Content> expectHeld(const Held &held, const Access &access,
                                    int32_t slot, const Occurrence &here,
                                    StringRef expected);
  std::string describePart(const Access &access, int32_t slot,
                           int32_t number) const;
  void refuseMisplaced(const Occurrence &here, const Twine &expected,
                       const Access &access, int32_t slot, const Held &held);
  void refuseMixed(const Occurrence &here, const Twine &expected,
                   const Access &access, int32_t slot, const Held &held);
  void refuseContent(const Occurrence &here, const Twine &expected, int32_t got,
                     const Occurrence &there = {});
  /// The content of a register if it is of the kind and of the agent's task.
  std::optional<Content> expect(int32_t agent, const Instruction &instruction,
                                int32_t index, Kind kind, const Twine &what);
  /// Fragments that hold all keys of one block, each once.
  std::optional<Content> expectRow(int32_t agent,
                                   const Instruction &instruction, Kind kind,
                                   StringRef what);
  bool isLast(const Content &content) const;

  void stepMath(int32_t agent, const Instruction &instruction);
  void stepRowMax(int32_t agent, const Instruction &instruction);
  bool expectScaled(int32_t agent, const Instruction &instruction,
                    const Content &content);
  std::string findMaskReason(int32_t agent, const Instruction &instruction,
                             const Content &content) const;
  bool expectMasked(int32_t agent, const Instruction &instruction,
                    const Content &content);
  void stepMask(int32_t agent, const Instruction &instruction, int32_t input);
  void stepRowSum(int32_t agent, const Instruction &instruction);
  void stepStoreLse(int32_t agent, const Instruction &instruction);
  int32_t getLoaded(int32_t agent, const Instruction &instruction);
  void readTile(int32_t agent, const Instruction &instruction,
                const Access &access, int32_t slot);
  int32_t getWritten(int32_t agent, const Instruction &instruction,
                     const Access &access) const;
  void rescale(int32_t agent, const Instruction &instruction,
               const Access &access, int32_t slot, const Held &held,
               const Content &factor);
  void storeTile(int32_t agent, const Instruction &instruction,
                 const Access &access, int32_t slot);
  std::optional<Content> expectOperand(const Occurrence &here,
                                       const Access &access, int32_t slot,
                                       const Held &held, Kind kind);
  /// What an MMA leaves in D; slots and what they held are those of A, B and D.
  int32_t multiply(int32_t agent, const Instruction &instruction,
                   ArrayRef<int32_t> slots, ArrayRef<Held> held);
  void noteStored(const Occurrence &here, const Content &content,
                  uint32_t Stored::*what);
  void leaveTask(int32_t task);
  void checkOutstanding();
  void refuse(Finding finding);
  void warn(const Finding &finding);

  const Program &program;
  std::shared_ptr<ContentTable> contents;
  int32_t numAgents;
  std::vector<int32_t> firstArrival; ///< By slot.
  std::vector<int32_t> scratch;
};

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_MACHINE_H
