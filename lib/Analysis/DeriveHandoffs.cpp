// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which handoffs are needed, and where in the text they are arrived and waited
// for.

#include "Derive.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
/// When an agent runs a point: in front of its step number `index`.
using Executions = std::map<int32_t, std::vector<int32_t>>; ///< By slot.

/// What the text of a handoff does in the sample run.
struct Timing {
  Executions arrivals, waits;
  std::map<int32_t, int32_t> from, to; ///< Agents, by slot.
};

/// An arrival or a wait of an agent in the sample run.
struct Crossing {
  int32_t place; ///< In front of this step.
  bool waits;
  int32_t handoff, channel, phase; ///< A channel is a slot of a handoff.
};

class HandoffFinder {
public:
  HandoffFinder(const Program &program, const Sample &sample,
                const std::vector<Dependence> &dependences)
      : program(program), sample(sample), dependences(dependences) {}

  FailureOr<std::vector<Handoff>> run();

private:
  void group();
  void addPoints(Handoff &handoff) const;
  bool place(Handoff &handoff, Timing &timing) const;
  bool waitBehind(Handoff &handoff, Timing &timing) const;
  bool hoistArrivals(Handoff &handoff) const;
  bool isAligned(const Handoff &handoff, const Timing &timing) const;
  void execute(ArrayRef<Point> points, int32_t role, int32_t ring,
               Executions &executions,
               std::map<int32_t, int32_t> &agents) const;
  void findCrossings();
  /// Runs the sample with some of the handoffs. The first dependence that they
  /// leave open, or -1; -2 when agents wait for each other, with the step that
  /// each of them cannot take.
  int32_t simulate(ArrayRef<bool> chosen,
                   SmallVectorImpl<int32_t> *stuck = nullptr) const;
  InFlightDiagnostic emitStuck(ArrayRef<int32_t> stuck) const;
  int32_t getOrdinal(const Dependence &dependence) const;

  const Step &getStep(int32_t step) const { return sample.steps[step]; }
  int32_t getRole(int32_t step) const {
    return program.agents[getStep(step).agent].role;
  }
  StringRef getRoleName(int32_t step) const {
    return RoleOp(program.roles[getRole(step)].op).getSymName();
  }

  const Program &program;
  const Sample &sample;
  const std::vector<Dependence> &dependences;
  std::vector<Handoff> handoffs;
  std::vector<Timing> timings;
  std::vector<std::vector<Crossing>> crossings; ///< By agent, in order.
  int32_t channels = 0;
};
} // namespace

/// How many accesses of the role to the tile come before, in its block and of
/// its rank: the segments of a product each have a handoff of their own.
int32_t HandoffFinder::getOrdinal(const Dependence &dependence) const {
  const Step &to = getStep(dependence.to);
  int32_t ordinal = 0;
  for (int32_t index : sample.byAgent[to.agent]) {
    const Step &step = getStep(index);
    bool samePlace = !(step.place < to.place) && !(to.place < step.place);
    bool touches = llvm::any_of(step.touched, [&](const Touched &touched) {
      return touched.access->ring == dependence.ring &&
             touched.slot == dependence.slot;
    });
    if (step.index < to.index && samePlace && touches)
      ++ordinal;
  }
  return ordinal;
}

void HandoffFinder::group() {
  for (const Dependence &dependence : dependences) {
    const Step &from = getStep(dependence.from), &to = getStep(dependence.to);
    Handoff handoff{getRole(dependence.from),
                    getRole(dependence.to),
                    dependence.ring,
                    program.rings[dependence.ring].slots,
                    dependence.flow,
                    dependence.cursor,
                    from.place.rank,
                    to.place.rank,
                    getOrdinal(dependence),
                    {},
                    {},
                    {}};
    handoff.commits = isa<MmaOp>(from.op);
    if (dependence.cursor)
      handoff.fromRank = from.place.rank == kLoad ? kLoad : -1,
      handoff.toRank = to.place.rank == kLoad ? kLoad : -1, handoff.ordinal = 0;
    auto known = llvm::find_if(handoffs, [&](const Handoff &other) {
      return std::tie(other.from, other.to, other.ring, other.flow,
                      other.fromRank, other.toRank, other.ordinal) ==
             std::tie(handoff.from, handoff.to, handoff.ring, handoff.flow,
                      handoff.fromRank, handoff.toRank, handoff.ordinal);
    });
    if (known == handoffs.end())
      known = handoffs.insert(known, std::move(handoff));
    known->dependences.push_back(dependence);
  }
}

//===----------------------------------------------------------------------===//
// Points in the text
//===----------------------------------------------------------------------===//

/// The operand of a step that names a slot of a ring, or of the ring that is
/// handed over with it.
static Value getSlotValue(const Step &step, int32_t ring, int32_t slot) {
  for (bool exact : {true, false})
    for (auto [index, touched] : llvm::enumerate(step.touched))
      if (touched.slot == slot && (!exact || touched.access->ring == ring))
        return getSlotOperand(step.op, index);
  return {};
}

/// Messages side by side are sent together, and given back together.
static Operation *getLastNeighbour(Operation *op) {
  while (isa<PublishOp, CollectOp>(op) && op->getNextNode() &&
         op->getNextNode()->getName() == op->getName())
    op = op->getNextNode();
  return op;
}

/// Where to wait for an access: in front of it. What is read from tensor memory
/// to be written elsewhere would be held in registers through the wait, so that
/// stands in front of the read.
static Operation *getWaitOp(Operation *op) {
  auto write = dyn_cast<WriteTileOp>(op);
  if (!write || write.getRing().getType().getSpace() != MemorySpace::SMEM)
    return op;
  Operation *made = write.getFragment().getDefiningOp();
  while (isa_and_nonnull<ConvertOp, NormalizeOp, ScaleOp>(made))
    made = made->getOperand(0).getDefiningOp();
  auto read = dyn_cast_or_null<ReadTileOp>(made);
  return read && read->getBlock() == op->getBlock() &&
                 read.getSlot() == write.getSlot()
             ? made
             : op;
}

void HandoffFinder::addPoints(Handoff &handoff) const {
  auto add = [](SmallVector<Point> &points, Point point) {
    if (!llvm::is_contained(points, point))
      points.push_back(point);
  };
  for (const Dependence &dependence : handoff.dependences) {
    const Step &from = getStep(dependence.from), &to = getStep(dependence.to);
    add(handoff.arrivals,
        {getLastNeighbour(from.op), true,
         getSlotValue(from, dependence.ring, dependence.slot)});
    add(handoff.waits, {getWaitOp(to.op), false,
                        getSlotValue(to, dependence.ring, dependence.slot)});
  }
}

/// The slot that a value names for an agent, where it is not a cursor's.
static std::optional<int32_t> getFixedSlot(const Program &program, Value slot,
                                           int32_t agent) {
  if (std::optional<int32_t> constant = getConstantSlot(slot))
    return constant;
  RoleOp role = program.roles[program.agents[agent].role].op;
  if (role.getInstance() && slot == role.getInstance())
    return program.agents[agent].instance;
  return std::nullopt;
}

void HandoffFinder::execute(ArrayRef<Point> points, int32_t role, int32_t ring,
                            Executions &executions,
                            std::map<int32_t, int32_t> &agents) const {
  for (int32_t agent = 0, end = program.agents.size(); agent < end; ++agent) {
    if (program.agents[agent].role != role)
      continue;
    for (const Point &point : points) {
      if (isa<ForKvOp>(point.op)) {
        // Behind a loop, once a task.
        std::optional<int32_t> slot = getFixedSlot(program, point.slot, agent);
        if (!slot)
          continue;
        std::map<int32_t, int32_t> last;
        for (int32_t index : sample.byAgent[agent]) {
          const Step &step = getStep(index);
          Operation *inTask =
              point.op->getBlock()->findAncestorOpInBlock(*step.op);
          int32_t &until =
              last.try_emplace(step.when.task, step.index).first->second;
          if (inTask == point.op || inTask->isBeforeInBlock(point.op))
            until = step.index + 1;
        }
        for (auto [task, until] : last)
          executions[*slot].push_back(until);
        agents[*slot] = agent;
        continue;
      }
      for (int32_t index : sample.byAgent[agent]) {
        const Step &step = getStep(index);
        if (step.op != point.op)
          continue;
        for (const Touched &touched : step.touched) {
          if (getSlotValue(step, touched.access->ring, touched.slot) !=
              point.slot)
            continue;
          executions[touched.slot].push_back(step.index + point.behind);
          agents[touched.slot] = agent;
          break;
        }
      }
    }
  }
  for (auto &[slot, indices] : executions)
    llvm::sort(indices);
}

/// Arrives behind the loops over blocks instead of in them.
bool HandoffFinder::hoistArrivals(Handoff &handoff) const {
  SmallVector<Point> hoisted;
  for (const Point &point : handoff.arrivals) {
    auto task = point.op->getParentOfType<ForTaskOp>();
    ForKvOp last;
    for (auto loop : task.getBody().front().getOps<ForKvOp>())
      last = loop;
    if (!last || point.slot.getDefiningOp<NextOp>())
      return false;
    Point behind{last, true, point.slot};
    if (!llvm::is_contained(hoisted, behind))
      hoisted.push_back(behind);
  }
  handoff.arrivals = std::move(hoisted);
  return true;
}

/// Whether phase by phase the waits are for the arrivals that the dependences
/// need: the first behind the access.
bool HandoffFinder::isAligned(const Handoff &handoff,
                              const Timing &timing) const {
  for (const Dependence &dependence : handoff.dependences) {
    auto waits = timing.waits.find(dependence.slot);
    auto arrivals = timing.arrivals.find(dependence.slot);
    if (waits == timing.waits.end() || arrivals == timing.arrivals.end())
      return false;
    int64_t wait =
        llvm::upper_bound(waits->second, getStep(dependence.to).index) -
        waits->second.begin() - 1 - handoff.free;
    int64_t arrival = llvm::lower_bound(arrivals->second,
                                        getStep(dependence.from).index + 1) -
                      arrivals->second.begin();
    if (wait < 0 || wait != arrival)
      return false;
  }
  return true;
}

/// Finds points for a handoff; false where one arrival and one wait a phase do
/// not do.
bool HandoffFinder::place(Handoff &handoff, Timing &timing) const {
  addPoints(handoff);
  for (const Point &point : handoff.arrivals)
    if (!point.slot)
      return false;
  for (bool hoist : {false, true}) {
    if (hoist && (handoff.fromRank == kLoad || !hoistArrivals(handoff)))
      return false;
    timing = {};
    execute(handoff.arrivals, handoff.from, handoff.ring, timing.arrivals,
            timing.from);
    execute(handoff.waits, handoff.to, handoff.ring, timing.waits, timing.to);
    for (bool free : {false, true}) {
      handoff.free = free;
      if (isAligned(handoff, timing))
        return true;
    }
  }
  return false;
}

/// A mailbox is read as soon as there is something in it. Waiting for that
/// before the next message would stand between the message's making and its
/// sending; behind the last message it costs nothing. False where that is not
/// an order of its own.
bool HandoffFinder::waitBehind(Handoff &handoff, Timing &timing) const {
  if (handoff.flow || handoff.toRank != kPublish)
    return false;
  for (Point &point : handoff.waits)
    point = {getLastNeighbour(point.op), true, point.slot};
  timing = {};
  execute(handoff.arrivals, handoff.from, handoff.ring, timing.arrivals,
          timing.from);
  execute(handoff.waits, handoff.to, handoff.ring, timing.waits, timing.to);
  handoff.free = false;
  return isAligned(handoff, timing);
}

//===----------------------------------------------------------------------===//
// The sample run with handoffs
//===----------------------------------------------------------------------===//

void HandoffFinder::findCrossings() {
  crossings.assign(program.agents.size(), {});
  channels = 0;
  for (size_t index = 0; index < timings.size(); ++index) {
    const Timing &timing = timings[index];
    llvm::SmallDenseMap<int32_t, int32_t> channelOf;
    auto add = [&](const Executions &executions,
                   const std::map<int32_t, int32_t> &agents, bool waits) {
      for (const auto &[slot, places] : executions) {
        auto [channel, isNew] = channelOf.try_emplace(slot, channels);
        channels += isNew;
        for (auto [phase, place] : llvm::enumerate(places))
          crossings[agents.at(slot)].push_back(
              {place, waits, static_cast<int32_t>(index), channel->second,
               static_cast<int32_t>(phase)});
      }
    };
    add(timing.arrivals, timing.from, /*waits=*/false);
    add(timing.waits, timing.to, /*waits=*/true);
  }
  // Arrivals in front of a step come before waits.
  for (std::vector<Crossing> &own : crossings)
    llvm::sort(own, [](const Crossing &a, const Crossing &b) {
      return std::tie(a.place, a.waits, a.channel, a.phase) <
             std::tie(b.place, b.waits, b.channel, b.phase);
    });
}

int32_t HandoffFinder::simulate(ArrayRef<bool> chosen,
                                SmallVectorImpl<int32_t> *stuck) const {
  size_t numAgents = program.agents.size();
  // Of each clock, how many steps of each agent are known to be done.
  std::vector<int32_t> clocks(numAgents * numAgents, 0);
  std::vector<int32_t> atStep(sample.steps.size() * numAgents);
  std::vector<std::vector<int32_t>> phases(channels); ///< Clocks, one a phase.
  std::vector<size_t> at(numAgents, 0), crossed(numAgents, 0);

  auto run = [&](size_t agent) {
    const std::vector<int32_t> &own = sample.byAgent[agent];
    int32_t *clock = &clocks[agent * numAgents];
    size_t before = at[agent];
    for (;;) {
      for (size_t &next = crossed[agent];
           next < crossings[agent].size() &&
           crossings[agent][next].place <= static_cast<int32_t>(at[agent]);
           ++next) {
        const Crossing &crossing = crossings[agent][next];
        if (!chosen[crossing.handoff])
          continue;
        std::vector<int32_t> &done = phases[crossing.channel];
        const Handoff &handoff = handoffs[crossing.handoff];
        if (!crossing.waits) {
          done.insert(done.end(), clock, clock + numAgents);
          // Copies land when they like: one says nothing of those before.
          done[done.size() - numAgents + agent] =
              handoff.fromRank == kLoad ? 0 : at[agent];
          continue;
        }
        if (at[agent] == own.size())
          break;
        int64_t phase = crossing.phase - handoff.free;
        if (phase < 0)
          continue;
        if (done.size() < (phase + 1) * numAgents)
          return at[agent] != before;
        for (size_t i = 0; i < numAgents; ++i)
          clock[i] = std::max(clock[i], done[phase * numAgents + i]);
      }
      if (at[agent] == own.size())
        return at[agent] != before;
      std::copy(clock, clock + numAgents, &atStep[own[at[agent]] * numAgents]);
      ++at[agent];
    }
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t agent = 0; agent < numAgents; ++agent)
      progress |= run(agent);
  }
  bool ended = true;
  for (size_t agent = 0; agent < numAgents; ++agent) {
    const std::vector<int32_t> &own = sample.byAgent[agent];
    if (at[agent] == own.size())
      continue;
    ended = false;
    if (stuck)
      stuck->push_back(own[at[agent]]);
  }
  if (!ended)
    return -2;
  for (auto [index, dependence] : llvm::enumerate(dependences)) {
    const Step &from = getStep(dependence.from);
    if (from.place.rank != kLoad &&
        atStep[dependence.to * numAgents + from.agent] <= from.index)
      return index;
  }
  return -1;
}

InFlightDiagnostic HandoffFinder::emitStuck(ArrayRef<int32_t> stuck) const {
  InFlightDiagnostic diag =
      getStep(stuck.front()).op->emitOpError()
      << "expected roles whose orders of accesses agree, but each waits for "
         "another: @"
      << getRoleName(stuck.front()) << " stops here";
  for (int32_t step : stuck.drop_front())
    diag.attachNote(getStep(step).op->getLoc())
        << "and @" << getRoleName(step) << " here";
  return diag;
}

FailureOr<std::vector<Handoff>> HandoffFinder::run() {
  group();
  std::vector<Handoff> placed;
  for (Handoff &handoff : handoffs) {
    Timing timing;
    if (place(handoff, timing)) {
      Handoff before = std::move(handoff);
      Handoff behind = before;
      placed.push_back(std::move(before));
      timings.push_back(std::move(timing));
      if (waitBehind(behind, timing)) {
        placed.push_back(std::move(behind));
        timings.push_back(std::move(timing));
      }
    } else if (handoff.fromRank == kLoad) {
      return getStep(handoff.dependences.front().to)
                 .op->emitOpError("expected uses of what is loaded that follow "
                                  "the loads one by one"),
             failure();
    }
  }
  handoffs = std::move(placed);
  findCrossings();
  SmallVector<bool> chosen(handoffs.size(), true);
  // What keeps tiles from being overwritten goes first: that data flows must be
  // told, and often tells the rest.
  for (bool flow : {false, true})
    for (size_t i = 0; i < handoffs.size(); ++i) {
      if (handoffs[i].flow != flow || handoffs[i].fromRank == kLoad)
        continue;
      int32_t before = simulate(chosen);
      chosen[i] = false;
      int32_t after = simulate(chosen);
      // Of handoffs that agents are stuck with, one has to go.
      if (after != -1 && (flow || before != -2 || after == -2))
        chosen[i] = true;
    }
  SmallVector<int32_t> stuck;
  int32_t open = simulate(chosen, &stuck);
  if (open == -2)
    return emitStuck(stuck), failure();
  if (open >= 0) {
    const Dependence &dependence = dependences[open];
    InFlightDiagnostic diag =
        getStep(dependence.to).op->emitOpError()
        << "expected an order that one arrival and one wait a phase can give, "
           "but found none for \""
        << AllocOp(program.rings[dependence.ring].op).getName() << "\"["
        << dependence.slot << "] behind @" << getRoleName(dependence.from);
    diag.attachNote(getStep(dependence.from).op->getLoc())
        << "the access that comes before is here";
    return failure();
  }
  std::vector<Handoff> result;
  for (size_t i = 0; i < handoffs.size(); ++i)
    if (chosen[i])
      result.push_back(std::move(handoffs[i]));
  return std::move(result);
}

FailureOr<std::vector<Handoff>>
protocol::findHandoffs(const Program &program, const Sample &sample,
                       const std::vector<Dependence> &dependences) {
  return HandoffFinder(program, sample, dependences).run();
}
