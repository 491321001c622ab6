// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The state of one CTA while it runs: warps, shared memory, TMEM, barriers
// and asynchronous engines.

#ifndef PTXSIM_LIB_MACHINE_H
#define PTXSIM_LIB_MACHINE_H

#include "Engines.h"
#include "Program.h"
#include "Race.h"
#include "Tmem.h"
#include "TmemLoads.h"

#include <array>
#include <map>
#include <memory>
#include <random>
#include <unordered_map>

namespace ptxsim {

class Cta;
struct WgmmaState;

/// Where lanes that diverged meet again.
struct Rendezvous {
  uint32_t pc;
  uint32_t members;
  uint32_t arrived = 0;
  std::shared_ptr<Rendezvous> outer;
};

/// Lanes of a warp that run together.
struct Split {
  uint32_t pc = 0;
  uint32_t mask = 0;
  std::shared_ptr<Rendezvous> meet;
  bool armed = false;  // the instruction at pc has begun and waits
  uint64_t ticket = 0; // its private state while it waits
};

struct BulkGroup {
  const Op *first = nullptr;
  unsigned reading = 0; // operations that have not read their source
  unsigned open = 0;    // operations that are not complete
  std::vector<RaceDetector::Stamp> stamps;
};

/// Bulk-copy groups of one thread.
struct BulkThread {
  std::shared_ptr<BulkGroup> current; // not committed
  std::vector<std::shared_ptr<BulkGroup>> committed;
};

class Warp {
public:
  Warp(Cta &cta, unsigned id, uint32_t lanes);

  /// Runs until every split is blocked or about \p budget instructions are
  /// done. True when some split can still go on.
  bool run(unsigned budget);
  bool done() const { return live == 0; }

  template <class T> T *reg(uint32_t offset) {
    return reinterpret_cast<T *>(regs + offset);
  }
  uint32_t &pred(uint32_t offset) { return *reg<uint32_t>(offset); }
  /// Lanes in which the predicate source holds.
  uint32_t predMask(uint32_t offset, bool negated) {
    return negated ? ~pred(offset) : pred(offset);
  }
  void setPred(uint32_t offset, uint32_t mask, uint32_t value) {
    pred(offset) = (pred(offset) & ~mask) | (value & mask);
  }
  /// Zero-extended address of a lane: base register plus offset.
  uint64_t address(uint32_t base, bool wide, int64_t offset, unsigned lane) {
    uint64_t b = wide ? reg<uint64_t>(base)[lane] : reg<uint32_t>(base)[lane];
    return b + uint64_t(offset);
  }
  Split &split() { return splits[current]; }
  Step fault(const Op &op, const char *kind, std::string message);

  Cta &cta;
  unsigned id;
  uint32_t lanes;       // lanes that exist
  uint32_t live;        // lanes that have not exited
  uint32_t maxRegs = 0; // of setmaxnreg; 0: as launched
  std::vector<Split> splits;
  std::vector<uint8_t> local; // per lane localBytes
  TmemLoads tmemLoads;
  std::shared_ptr<WgmmaState> wgmma; // of WgmmaOps.cpp
  // barrier.cluster: lanes that arrived in this phase, and the phase, by
  // number, that each lane waits for.
  uint32_t clusterArrived = 0;
  std::array<uint64_t, 32> clusterTicket{};

private:
  std::vector<uint8_t> storage;
  uint8_t *regs;
  size_t current = 0;
  std::vector<std::shared_ptr<Rendezvous>> parked;

  enum class Stop { Blocked, Yield, Budget, Gone };
  Stop runSplit(unsigned &budget);
  bool meet();
  void formSums(const Op &op, uint32_t mask);
  void branch(const Op &op, uint32_t taken, uint32_t target);
  bool branchIndexed(const Op &op, uint32_t mask);
  void exitLanes(uint32_t mask);
  Step warpSync(const Op &op, uint32_t mask);
  void releaseParked();
};

class SharedMemory {
public:
  enum State : uint8_t { Uninit = 0, Init = 1, Barrier = 2 };
  void resize(uint32_t end) {
    bytes.assign(end, 0xff);
    state.assign(end, Uninit);
  }
  uint32_t end() const { return uint32_t(bytes.size()); }
  bool contains(uint64_t address, uint64_t size) const {
    return address >= kSharedBase && size <= bytes.size() &&
           address <= bytes.size() - size;
  }
  /// The state shared by all bytes of the range, or Uninit if any is.
  State query(uint32_t address, uint32_t size) const {
    State s = Init;
    for (uint32_t i = 0; i < size; ++i) {
      if (state[address + i] == Uninit)
        return Uninit;
      if (state[address + i] == Barrier)
        s = Barrier;
    }
    return s;
  }
  bool holdsBarrier(uint32_t address, uint32_t size) const;
  void mark(uint32_t address, uint32_t size, State s);

  std::vector<uint8_t> bytes;

private:
  std::vector<uint8_t> state;
};

struct MBarrier {
  uint32_t expected = 0; // arrivals a phase
  uint32_t pending = 0;
  int64_t tx = 0;
  uint64_t phase = 0; // completed phases
  unsigned initLine = 0;
};

struct NamedBarrier {
  uint32_t expected = 0; // threads; 0: idle
  uint32_t arrived = 0;
  bool wholeCta = false; // expects all threads that have not exited
  bool reduces = false;
  uint64_t generation = 0;
  // bar.red of the current and the last complete generation.
  uint32_t popc = 0, all = 1, any = 0;
  uint32_t lastPopc = 0, lastAll = 1, lastAny = 0;
};

class Cta {
public:
  Cta(const Program &program, const Launch &launch, Memory &memory,
      const Options &options, std::array<uint32_t, 3> id, uint64_t linearId);

  Status run();

  const Program &program;
  const Launch &launch;
  Memory &memory;
  const Options &options;
  std::array<uint32_t, 3> id;
  unsigned threads;

  std::vector<std::unique_ptr<Warp>> warps;
  SharedMemory shared;
  Tmem tmem;
  Engines engines;
  std::unordered_map<uint32_t, MBarrier> mbarriers;
  NamedBarrier named[16];
  uint64_t clusterPhase = 0; // completed phases of barrier.cluster
  std::unordered_map<uint32_t, BulkThread> bulk; // by warp * 32 + lane
  /// Tensor-core operations in flight, by the thread that issued them.
  std::unordered_map<uint32_t, unsigned> tensorPending;
  std::vector<uint8_t> params;
  uint32_t launchRegs = 0; // registers a thread starts with
  int64_t regPool = 0;     // registers not allocated to any warp

  std::unique_ptr<RaceDetector> race; // null: not asked for

  std::vector<Fault> faults;
  /// By line, and line of the instruction before it.
  std::map<std::pair<unsigned, unsigned>, Fault> warnings;
  std::string report; // of a deadlock
  Stats stats;
  uint64_t epoch = 1;   // counts changes that another warp could see
  bool timeOut = false; // suspended waits give up once
  bool strict() const { return options.strictConvergence; }

  bool faulted() const { return !faults.empty(); }
  void fault(const Op &op, unsigned warp, const char *kind,
             std::string message);
  unsigned liveThreads() const;

  // mbarrier arithmetic, shared by threads and engines. False with a fault.
  MBarrier *barrier(uint64_t address);
  bool arrive(uint32_t address, uint32_t count, int64_t expectTx, const Op &op,
              unsigned warp);
  bool completeTx(uint32_t address, int64_t bytes, const Op &op, unsigned warp);
  void namedBarrierCheck(unsigned index);
  std::mt19937_64 random;

private:
  void setUpParams();
  Status atExit();
  bool phaseCheck(uint32_t address, MBarrier &b, const Op &op, unsigned warp);
  std::string deadlockReport();
  std::string describeWait(Warp &warp, const Split &split);
};

/// Calls \p fn with each lane of \p mask.
template <class F> inline void forLanes(uint32_t mask, F &&fn) {
  while (mask) {
    unsigned lane = __builtin_ctz(mask);
    mask &= mask - 1;
    fn(lane);
  }
}

inline std::string hexString(uint64_t value) {
  char text[24];
  __builtin_snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
  return text;
}

} // namespace ptxsim

#endif // PTXSIM_LIB_MACHINE_H
