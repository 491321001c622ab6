// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PrintTrace.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// The barriers by which `to` learned of a mark of `from`, in order.
SmallVector<int32_t> Trace::getBarriers(Mark mark, int32_t from,
                                        int32_t to) const {
  auto knows = [&](const Synchronisation &sync) {
    return sync.clock[mark.component] >= mark.index;
  };
  SmallVector<int32_t> barriers;
  for (size_t learned = 0; to != from && learned < waits.size(); ++learned) {
    auto wait = llvm::find_if(waits, [&](const Synchronisation &sync) {
      return sync.agent == to && knows(sync);
    });
    if (wait == waits.end())
      return {};
    auto arrival = llvm::find_if(arrivals, [&](const Synchronisation &sync) {
      return sync.slot == wait->slot && sync.phase == wait->phase &&
             sync.agent != to &&
             (knows(sync) ||
              (mark.component == sync.slot && mark.index == sync.phase));
    });
    if (arrival == arrivals.end())
      return {};
    barriers.push_back(program.barrierOfSlot[wait->slot]);
    to = arrival->agent;
  }
  std::reverse(barriers.begin(), barriers.end());
  return barriers;
}

void Trace::addPair(const Earlier &earlier, const Touched &touched,
                    bool async) {
  int32_t after = events.size() - 1;
  int32_t from = events[earlier.event].by.agent, to = events[after].by.agent;
  if (from == to)
    return;
  bool crosses = async && earlier.proxy.component >= 0;
  SmallVector<int32_t> barriers =
      getBarriers(crosses ? earlier.proxy : earlier.done, from, to);
  pairs.push_back(
      {earlier.event, after, earlier.touched, touched, std::move(barriers)});
}

void Trace::access(const Access &access, int32_t slot, const Record &record,
                   const int32_t *knowledge, bool async) {
  // An MMA touches several tiles.
  if (events.empty() || record.issued.component != issued.component ||
      record.issued.index != issued.index) {
    events.push_back({TraceEvent::Accesses, record.by, -1, 0, {}});
    issued = record.issued;
  }
  Touched touched{&access, slot, access.reads, access.writes};
  events.back().touched.push_back(touched);
  const Ring &ring = program.rings[access.ring];
  Earlier self{static_cast<int32_t>(events.size()) - 1, touched, record.done,
               record.proxy};
  for (int32_t index = access.from; index < access.to; ++index) {
    Columns &atom = atoms[ring.firstAtom + slot * ring.getAtoms() + index];
    if (atom.write)
      addPair(*atom.write, touched, async);
    if (!access.writes) {
      atom.reads.push_back(self);
      continue;
    }
    for (const Earlier &read : atom.reads)
      addPair(read, touched, async);
    atom.reads.clear();
    atom.write = self;
  }
}

void Trace::arrive(const Occurrence &here, int32_t slot, int32_t phase,
                   const int32_t *knowledge) {
  events.push_back({TraceEvent::Arrives, here, slot, phase, {}});
  arrivals.push_back(
      {here.agent, slot, phase, {knowledge, knowledge + program.components}});
}

void Trace::wait(const Occurrence &here, int32_t slot, int32_t phase,
                 const int32_t *before, const int32_t *now) {
  events.push_back({TraceEvent::Waits, here, slot, phase, {}});
  waits.push_back({here.agent, slot, phase, {now, now + program.components}});
}
