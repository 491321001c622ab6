// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// barrier.cluster in a cluster of one CTA: all its threads arrive, then wait.

#include "ClusterBarrier.h"

using namespace ptxsim;

namespace {

/// Completes the phase when every thread that has not exited has arrived.
void completeIfAll(Cta &cta) {
  for (auto &warp : cta.warps)
    if (warp->live & ~warp->clusterArrived)
      return;
  for (auto &warp : cta.warps)
    warp->clusterArrived = 0;
  ++cta.clusterPhase;
  ++cta.epoch;
  if (cta.race)
    cta.race->namedDone(RaceDetector::kClusterBarrier);
}

Step execArrive(Warp &w, const Op &op, uint32_t mask) {
  if (w.clusterArrived & mask)
    return w.fault(op, "bad-barrier",
                   "lanes " + hexString(w.clusterArrived & mask) +
                       " arrive at the cluster barrier twice without a wait");
  if (w.cta.race)
    w.cta.race->arriveNamed(w, mask, RaceDetector::kClusterBarrier);
  w.clusterArrived |= mask;
  forLanes(mask, [&](unsigned lane) {
    w.clusterTicket[lane] = w.cta.clusterPhase + 1;
  });
  ++w.cta.epoch;
  completeIfAll(w.cta);
  return Step::Next;
}

Step execWait(Warp &w, const Op &op, uint32_t mask) {
  completeIfAll(w.cta); // threads may have exited
  bool done = true;
  uint32_t never = 0;
  forLanes(mask, [&](unsigned lane) {
    never |= uint32_t(w.clusterTicket[lane] == 0) << lane;
    done &= w.cta.clusterPhase >= w.clusterTicket[lane];
  });
  if (never)
    return w.fault(op, "bad-barrier",
                   "lanes " + hexString(never) +
                       " wait at the cluster barrier without an arrival");
  if (!done)
    return Step::Blocked;
  if (w.cta.race)
    w.cta.race->leaveNamed(w, mask, RaceDetector::kClusterBarrier);
  forLanes(mask, [&](unsigned lane) { w.clusterTicket[lane] = 0; });
  return Step::Next;
}

} // namespace

bool ptxsim::decodeClusterBarrier(Decoder &d) {
  bool wait = d.take("wait");
  if (!wait && !d.take("arrive"))
    return d.fail("expected '.arrive' or '.wait'");
  if (wait)
    d.take("acquire");
  else
    d.takeAny({"release", "relaxed"});
  if (d.take("aligned"))
    d.op.flags |= kAligned;
  d.op.fn = wait ? execWait : execArrive;
  return d.expectOps(0);
}
