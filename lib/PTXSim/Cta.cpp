// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One CTA: set-up, the scheduler, and the checks at exit.

#include "Machine.h"

#include <algorithm>

using namespace ptxsim;

Cta::Cta(const Program &program, const Launch &launch, Memory &memory,
         const Options &options, std::array<uint32_t, 3> id, uint64_t linearId)
    : program(program), launch(launch), memory(memory), options(options),
      id(id), threads(launch.block[0] * launch.block[1] * launch.block[2]),
      engines(options.mode),
      random(options.seed * 0x9e3779b97f4a7c15u + linearId) {
  shared.resize(program.dynamicSharedBase + launch.dynamicSharedBytes);
  setUpParams();
  for (unsigned first = 0; first < threads; first += 32) {
    unsigned n = std::min(32u, threads - first);
    uint32_t lanes = n == 32 ? ~0u : (1u << n) - 1;
    warps.push_back(std::make_unique<Warp>(*this, first / 32, lanes));
  }
  // What ptxas gives a thread at launch when one CTA has the SM to itself: no
  // more than the largest 'setmaxnreg.inc' asks for.
  const Function &fn = *program.fn;
  unsigned padded = unsigned(warps.size()) * 32;
  if (fn.maxnreg)
    launchRegs = std::min(fn.maxnreg, 255u);
  else
    launchRegs = std::min({65536u / padded / 8 * 8, 255u,
                           program.largestInc ? program.largestInc : 255u});
  regPool = 65536 - int64_t(launchRegs) * padded;
  for (auto &warp : warps)
    warp->maxRegs = launchRegs;
  if (options.race != RaceMode::Off)
    race =
        std::make_unique<RaceDetector>(*this, options.race == RaceMode::Formal);
}

void Cta::setUpParams() {
  params.assign(program.paramBytes, 0xff);
  for (size_t i = 0; i < launch.params.size(); ++i) {
    const Param &p = launch.params[i];
    std::copy(p.bytes.begin(), p.bytes.end(),
              params.begin() + program.paramOffsets[i]);
  }
}

void Cta::fault(const Op &op, unsigned warp, const char *kind,
                std::string message) {
  if (faults.size() >= std::max(1u, options.maxFaults))
    return;
  faults.push_back(
      {kind, std::move(message), op.line, program.where(op), id, warp});
}

unsigned Cta::liveThreads() const {
  unsigned n = 0;
  for (auto &warp : warps)
    n += __builtin_popcount(warp->live);
  return n;
}

Status Cta::run() {
  const bool shuffle = options.mode == AsyncMode::Random;
  std::vector<Warp *> order;
  for (auto &warp : warps)
    order.push_back(warp.get());
  unsigned idleRounds = 0;
  for (;;) {
    uint64_t before = epoch;
    bool active = false, alive = false;
    if (shuffle)
      std::shuffle(order.begin(), order.end(), random);
    for (Warp *warp : order) {
      if (warp->done())
        continue;
      alive = true;
      active |= warp->run(shuffle ? 1 + random() % 400 : 256);
      if (faulted())
        return Status::Fault;
      if (shuffle && random() % 4 == 0 && engines.completeRandom(random))
        ++epoch;
      if (faulted())
        return Status::Fault;
    }
    timeOut = false;
    if (!alive)
      return atExit();
    if (options.maxSteps && stats.warpInstructions > options.maxSteps)
      return Status::StepLimit;
    if (options.interrupted && options.interrupted())
      return Status::Interrupted;
    if (active || epoch != before) {
      idleRounds = 0;
      continue;
    }
    if (shuffle ? engines.completeRandom(random) : engines.completeOldest()) {
      if (faulted())
        return Status::Fault;
      ++epoch;
      idleRounds = 0;
      continue;
    }
    // Nothing moves. Suspended waits may time out, so let them return false
    // a few times; a program that only comes back to its wait is stuck.
    if (idleRounds++ == 0)
      report = deadlockReport(); // while every warp is at what it waits for
    if (idleRounds > 8)
      return Status::Deadlock;
    timeOut = true;
  }
}

// Writes to global memory may outlive the CTA; what reaches its shared memory
// or TMEM may not.
Status Cta::atExit() {
  for (auto &[thread, state] : bulk) {
    auto groups = state.committed;
    if (state.current)
      groups.push_back(state.current);
    unsigned reading = 0;
    const Op *first = nullptr;
    for (auto &group : groups) {
      reading += group->reading;
      if (!first && group->reading)
        first = group->first;
    }
    if (first) {
      fault(*first, thread / 32, "early-exit",
            "the CTA exits while " + std::to_string(reading) +
                " bulk copies of thread " + std::to_string(thread) +
                " may still read its shared memory; a "
                "'cp.async.bulk.wait_group.read 0' is missing");
      return Status::Fault;
    }
  }
  if (const Op *op = engines.oldestInside()) {
    fault(
        *op, 0, "early-exit",
        "the CTA exits while this may still access its shared memory or TMEM, "
        "or arrive on its mbarrier; no thread has waited for it");
    return Status::Fault;
  }
  while (engines.completeOldest())
    if (faulted())
      return Status::Fault;
  for (auto &a : tmem.allocations()) {
    Op op;
    op.line = a.line;
    fault(op, 0, "tmem-leak",
          std::to_string(a.count) + " TMEM columns at " +
              std::to_string(a.column) + " are not deallocated at exit");
    return Status::Fault;
  }
  return Status::Ok;
}

// Deadlock report.

static std::string laneText(uint32_t mask) {
  if (mask == ~0u)
    return "";
  if ((mask & (mask - 1)) == 0)
    return " lane " + std::to_string(__builtin_ctz(mask));
  return " lanes " + hexString(mask);
}

std::string Cta::describeWait(Warp &warp, const Split &split) {
  const Op &op = program.ops[split.pc];
  const Instr *instr = program.source[split.pc];
  if (!instr)
    return "";
  const auto &parts = instr->parts;
  std::string text;
  if (parts[0] == "mbarrier") {
    std::vector<uint32_t> seen;
    forLanes(split.mask, [&](unsigned lane) {
      uint64_t address =
          warp.address(op.a, op.aux3 & 1, op.imm, lane) & ~kWindowMask;
      if (std::find(seen.begin(), seen.end(), uint32_t(address)) != seen.end())
        return;
      seen.push_back(uint32_t(address));
      auto it = mbarriers.find(uint32_t(address));
      if (it == mbarriers.end() || seen.size() > 4)
        return;
      const MBarrier &b = it->second;
      text += "; mbarrier " + program.sharedText(uint32_t(address)) +
              " has completed " + std::to_string(b.phase) +
              " phases, pending " + std::to_string(b.pending) + " of " +
              std::to_string(b.expected) + " arrivals, tx-count " +
              std::to_string(b.tx);
    });
  } else if (parts[0] == "bar" || parts[0] == "barrier") {
    if (parts.size() > 1 && parts[1] == "warp")
      return "; waits for other lanes of the warp (live " +
             hexString(warp.live) + ")";
    for (unsigned i = 0; i < 16; ++i)
      if (named[i].expected &&
          (op.a == kNone ||
           warp.reg<uint32_t>(op.a)[__builtin_ctz(split.mask)] == i))
        text += "; barrier " + std::to_string(i) + " has " +
                std::to_string(named[i].arrived) + " of " +
                std::to_string(named[i].expected) + " threads";
  } else if (parts[0] == "setmaxnreg") {
    text = "; the register pool has " + std::to_string(regPool) + " registers";
  } else if (parts[0] == "tcgen05") {
    for (auto &a : tmem.allocations())
      text += "; TMEM columns " + std::to_string(a.column) + ".." +
              std::to_string(a.column + a.count - 1) + " are allocated";
  }
  return text;
}

std::string Cta::deadlockReport() {
  std::string text = "deadlock in CTA (" + std::to_string(id[0]) + ", " +
                     std::to_string(id[1]) + ", " + std::to_string(id[2]) +
                     "):";
  for (auto &warp : warps)
    for (const Split &split : warp->splits) {
      const Op &op = program.ops[split.pc];
      text += "\n  warp " + std::to_string(warp->id) + laneText(split.mask) +
              " at line " + std::to_string(op.line) + ": " + program.where(op) +
              describeWait(*warp, split);
    }
  if (!engines.idle())
    text += "\n  " + std::to_string(engines.pending()) +
            " asynchronous operations are pending";
  return text;
}
