// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the events of a run to lanes, nodes and edges.

#include "Print.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
class PictureBuilder {
public:
  PictureBuilder(const Program &program, const Trace &trace)
      : program(program), trace(trace) {}

  Picture build(size_t first, size_t second);

private:
  /// The lanes of an agent: its own, and that of the engine which does what it
  /// issues; -1 for none.
  struct Lanes {
    int32_t own = -1, engine = -1;
  };
  void keepEvents(size_t first, size_t second);
  void addLanes();
  void addAccess(const TraceEvent &event);
  void addArrival(const TraceEvent &event);
  void addWait(const TraceEvent &event);
  int32_t addNode(PictureNode node, int32_t atLeast = 0);

  Operation *getOp(const TraceEvent &event) const {
    return program.sites[event.by.site];
  }
  std::string getPlace(const Touched &touched, int32_t begin,
                       int32_t end) const;
  std::string getSlot(int32_t slot) const;

  const Program &program;
  const Trace &trace;
  Picture picture;
  std::vector<const TraceEvent *> kept;
  SmallVector<Lanes> lanesOf;
  std::vector<int32_t> last; ///< Node, by lane.
  /// What a node of accesses shows so far, to add to it.
  struct Open {
    int32_t site = -1;
    Touched touched{};
    int32_t begin = 0, end = 0;
  };
  std::vector<Open> open; ///< By lane.
  struct Arrival {
    int32_t node, agent, slot, phase;
    bool awaited = false;
  };
  std::vector<Arrival> arrivals;
};
} // namespace

/// Events from `first` on; of those from `second` on, what an agent does up to
/// where it no longer waits for something before.
void PictureBuilder::keepEvents(size_t first, size_t second) {
  std::vector<size_t> until(program.agents.size(), second);
  for (size_t i = second; i < trace.events.size(); ++i) {
    const TraceEvent &wait = trace.events[i];
    if (wait.kind != TraceEvent::Waits)
      continue;
    for (size_t j = first; j < second; ++j) {
      const TraceEvent &arrival = trace.events[j];
      if (arrival.kind == TraceEvent::Arrives && arrival.slot == wait.slot &&
          arrival.phase == wait.phase && arrival.by.agent != wait.by.agent)
        until[wait.by.agent] = i + 1;
    }
  }
  for (size_t agent = 0; agent < until.size(); ++agent) {
    if (until[agent] == second)
      continue;
    size_t i = until[agent];
    for (; i < trace.events.size(); ++i)
      if (trace.events[i].by.agent == static_cast<int32_t>(agent) &&
          trace.events[i].kind == TraceEvent::Waits)
        break;
    until[agent] = i;
  }
  for (size_t i = first; i < trace.events.size(); ++i)
    if (i < second || i < until[trace.events[i].by.agent])
      kept.push_back(&trace.events[i]);
}

static bool uses(const RoleProgram &role, std::initializer_list<Event> events) {
  return llvm::any_of(role.code, [&](const Instruction &instruction) {
    return llvm::is_contained(events, instruction.event);
  });
}

static bool usesTensorCore(const RoleProgram &role) {
  return uses(role, {Event::Mma, Event::Commit});
}

/// Roles that load come first, then those that multiply, then the others.
void PictureBuilder::addLanes() {
  SmallVector<std::pair<int32_t, int32_t>> order;
  for (int32_t agent = 0, end = program.agents.size(); agent < end; ++agent) {
    if (llvm::none_of(kept, [&](const TraceEvent *event) {
          return event->by.agent == agent;
        }))
      continue;
    const RoleProgram &role = program.roles[program.agents[agent].role];
    int32_t rank = uses(role, {Event::Load}) ? 0 : usesTensorCore(role) ? 1 : 2;
    order.push_back({rank, agent});
  }
  llvm::sort(order);
  lanesOf.resize(program.agents.size());
  for (auto [rank, agent] : order) {
    RoleOp role = program.roles[program.agents[agent].role].op;
    lanesOf[agent].own = picture.lanes.size();
    picture.lanes.push_back(
        {program.getAgentName(agent),
         ("warps " +
          Twine(role.getFirstWarp() +
                program.agents[agent].instance * (role.getThreads() / 32)) +
          " to " +
          Twine(role.getFirstWarp() + (program.agents[agent].instance + 1) *
                                          (role.getThreads() / 32)))
             .str()});
    if (rank == 2)
      continue;
    lanesOf[agent].engine = picture.lanes.size();
    std::string engine = rank == 0 ? "TMA" : "tensor core";
    if (rank == 0 && usesTensorCore(program.roles[program.agents[agent].role]))
      engine += " and tensor core";
    picture.lanes.push_back(
        {engine, ("what @" + role.getSymName() + " issues").str()});
  }
  last.assign(picture.lanes.size(), -1);
  open.resize(picture.lanes.size());
}

std::string PictureBuilder::getPlace(const Touched &touched, int32_t begin,
                                     int32_t end) const {
  const Ring &ring = program.rings[touched.access->ring];
  std::string text =
      (AllocOp(ring.op).getName() + "[" + Twine(touched.slot) + "]").str();
  if (begin != 0 || end != ring.cuts.back())
    text += " " + std::to_string(begin) + ":" + std::to_string(end);
  return text;
}

std::string PictureBuilder::getSlot(int32_t slot) const {
  const Barrier &barrier = program.barriers[program.barrierOfSlot[slot]];
  return (BarrierOp(barrier.op).getName() + "[" +
          Twine(slot - barrier.firstSlot) + "]")
      .str();
}

int32_t PictureBuilder::addNode(PictureNode node, int32_t atLeast) {
  int32_t index = picture.nodes.size();
  int32_t before = last[node.lane];
  node.row = std::max(atLeast, before < 0 ? 0 : picture.nodes[before].row + 1);
  last[node.lane] = index;
  open[node.lane].site = -1;
  picture.nodes.push_back(std::move(node));
  return index;
}

void PictureBuilder::addAccess(const TraceEvent &event) {
  Operation *op = getOp(event);
  Lanes lanes = lanesOf[event.by.agent];
  const Touched &first = event.touched.front();
  int32_t begin = first.access->begin, end = first.access->end;
  if (isa<MmaOp, LoadOp, StoreOp>(op) && lanes.engine >= 0) {
    int32_t issue = addNode({PictureNode::Issue, lanes.own, "issue"});
    std::string label = (op->getName().stripDialect() + " ").str() +
                        getPlace(first, begin, end);
    if (isa<MmaOp>(op) && event.touched.size() == 3) {
      const Touched &d = event.touched[2], &b = event.touched[1];
      label = getPlace(d, d.access->begin, d.access->end) +
              (cast<MmaOp>(op).getAccumulate() ? " += " : " = ") +
              getPlace(first, begin, end) + " * " +
              getPlace(b, b.access->begin, b.access->end);
    }
    int32_t node = addNode({PictureNode::Access, lanes.engine, label},
                           picture.nodes[issue].row);
    picture.edges.push_back({issue, node, -1});
    return;
  }
  // Columns of one tile, one after the other, are one thing to see.
  Open &shown = open[lanes.own];
  bool more = shown.site >= 0 && shown.touched.slot == first.slot &&
              shown.touched.access->ring == first.access->ring &&
              program.sites[shown.site]->getName() == op->getName();
  if (more) {
    begin = std::min(begin, shown.begin);
    end = std::max(end, shown.end);
  }
  std::string verb = isa<ReadTileOp>(op) ? "read "
                     : isa<WriteTileOp>(op)
                         ? "write "
                         : (op->getName().stripDialect() + " ").str();
  std::string label = verb + getPlace(first, begin, end);
  int32_t node = last[lanes.own];
  if (more)
    picture.nodes[node].label = label;
  else
    addNode({PictureNode::Access, lanes.own, label});
  open[lanes.own] = {event.by.site, first, begin, end};
}

void PictureBuilder::addArrival(const TraceEvent &event) {
  Operation *op = getOp(event);
  Lanes lanes = lanesOf[event.by.agent];
  int32_t barrier = program.barrierOfSlot[event.slot];
  int32_t node = -1;
  if (isa<LoadOp>(op)) {
    node = last[lanes.engine];
    picture.nodes[node].barrier = barrier;
  } else if (auto arrive = dyn_cast<ArriveOp>(op)) {
    StringRef role = op->getParentOfType<RoleOp>().getSymName();
    bool commits = arrive.getBarrier()
                       .getDefiningOp<BarrierOp>()
                       .getArrivalOf(role)
                       .getEngine() == Engine::Commit;
    node = addNode({PictureNode::Arrive, commits ? lanes.engine : lanes.own,
                    (commits ? "commit " : "arrive ") + getSlot(event.slot),
                    barrier},
                   commits ? picture.nodes[last[lanes.own]].row : 0);
  } else {
    return; // A wait on a named barrier.
  }
  arrivals.push_back({node, event.by.agent, event.slot, event.phase});
}

void PictureBuilder::addWait(const TraceEvent &event) {
  int32_t barrier = program.barrierOfSlot[event.slot];
  const Barrier &contract = program.barriers[barrier];
  int32_t lane = lanesOf[event.by.agent].own, row = 0;
  for (Arrival &arrival : arrivals)
    if (arrival.slot == event.slot && arrival.phase == event.phase)
      row = std::max(row, picture.nodes[arrival.node].row + 1);
  int32_t node = addNode(
      {PictureNode::Wait, lane, "wait " + getSlot(event.slot), barrier}, row);
  size_t found = contract.named ? 1 : 0;
  for (Arrival &arrival : arrivals) {
    if (arrival.slot != event.slot || arrival.phase != event.phase ||
        arrival.agent == event.by.agent)
      continue;
    arrival.awaited = true;
    picture.edges.push_back({arrival.node, node, barrier});
    ++found;
  }
  picture.nodes[node].open = found < contract.roles.size();
}

Picture PictureBuilder::build(size_t first, size_t second) {
  picture.title = ("@" + KernelOp(program.kernel).getSymName()).str();
  if (program.hasTasks)
    picture.subtitle =
        (": one " + Twine(program.hasBlocks ? "K/V block" : "task") +
         " in the steady state")
            .str();
  for (const Barrier &barrier : program.barriers)
    picture.barriers.push_back(BarrierOp(barrier.op).getName().str());
  keepEvents(first, second);
  addLanes();
  for (const TraceEvent *event : kept) {
    if (event->kind == TraceEvent::Accesses)
      addAccess(*event);
    else if (event->kind == TraceEvent::Arrives)
      addArrival(*event);
    else
      addWait(*event);
  }
  for (const Arrival &arrival : arrivals)
    picture.nodes[arrival.node].open = !arrival.awaited;
  return std::move(picture);
}

Picture protocol::makePicture(const Program &program, const Trace &trace,
                              size_t first, size_t second) {
  return PictureBuilder(program, trace).build(first, second);
}
