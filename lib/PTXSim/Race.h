// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Happens-before races on shared memory and TMEM, by vector clocks.
//
// An agent is what performs accesses one after the other: a thread; a warp's
// tcgen05 loads, and its stores; the tensor core on behalf of the thread that
// issues to it; a bulk copy. Access n of agent a has happened before all that
// an agent does which knows clock n of a. Three more clocks stand beside the
// plain one: accesses after which a proxy fence lies, those behind
// 'tcgen05.fence::before_thread_sync' and those that also lie before an
// 'after_thread_sync'. An asynchronous operation is checked when it is issued
// and reported to others when it completes, so the verdict does not depend on
// when the engines run.

#ifndef PTXSIM_LIB_RACE_H
#define PTXSIM_LIB_RACE_H

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxsim {

class Cta;
class Warp;
struct Op;

class RaceDetector {
public:
  using Clock = std::vector<uint32_t>;
  /// Names an asynchronous operation.
  struct Stamp {
    uint16_t agent = 0;
    uint32_t clock = 0;
  };

  RaceDetector(Cta &cta, bool formal);

  /// The cluster barrier stands after the barriers by id.
  static constexpr unsigned kClusterBarrier = 16;

  // Accesses. False after a report.
  bool generic(Warp &w, const Op &op, unsigned lane, uint32_t address,
               uint32_t bytes, bool write);

  /// What an asynchronous operation knows when it is issued, and passes on
  /// when it completes.
  struct Async {
    const Op *op;
    unsigned thread;
    Stamp stamp;
    Clock order, proxy, fenced;
  };
  using Token = std::shared_ptr<Async>;
  /// A bulk copy of its own, unordered with any other.
  Token copy(Warp &w, const Op &op, unsigned lane);
  bool copies(const Token &token, uint32_t address, uint32_t bytes, bool write);
  /// A thread has waited for these operations.
  void learn(unsigned thread, std::vector<Stamp> &stamps);

  /// The next tensor-core operation of a thread; accesses follow.
  void beginTensor(Warp &w, const Op &op, unsigned lane);
  bool tensorShared(uint32_t address, uint32_t bytes, bool write);
  bool tensorTmem(unsigned lane, unsigned lanes, unsigned column,
                  unsigned columns, bool write);
  /// All that the thread has issued to the tensor core.
  Token commit(Warp &w, const Op &op, unsigned lane);

  bool tmemAccess(Warp &w, const Op &op, unsigned lane, unsigned lanes,
                  unsigned column, unsigned columns, bool write);
  void tmemWait(Warp &w, bool stores);
  /// Of the warp's latest tcgen05.ld.
  uint32_t loadClock(const Warp &w) const;
  /// The warp has read all that its loads up to that one fill.
  void tmemUsed(Warp &w, uint32_t clock);
  /// The columns' uses must come after it; it needs no tcgen05 fence.
  void tmemAllocate(Warp &w, const Op &op, uint32_t mask, unsigned column,
                    unsigned columns);
  bool tmemRelease(Warp &w, const Op &op, uint32_t mask, unsigned column,
                   unsigned columns);

  // Order.
  void initBarrier(Warp &w, const Op &op, unsigned lane, uint32_t address);
  void dropBarrier(uint32_t address);
  /// Faults when the initialisation is not ordered before this use.
  bool useBarrier(Warp &w, const Op &op, unsigned lane, uint32_t address,
                  bool async);
  void release(unsigned thread, uint32_t mbarrier, bool relaxed);
  void acquire(unsigned thread, uint32_t mbarrier, bool relaxed);
  void complete(const Token &token, uint32_t mbarrier);
  void phaseDone(uint32_t mbarrier);
  void arriveNamed(Warp &w, uint32_t mask, unsigned index);
  void namedDone(unsigned index);
  void leaveNamed(Warp &w, uint32_t mask, unsigned index);
  void warpBarrier(Warp &w, uint32_t mask);
  void proxyFence(Warp &w, uint32_t mask);
  void initFence(Warp &w, uint32_t mask);
  void tensorFence(Warp &w, uint32_t mask, bool before);

private:
  static constexpr uint16_t kNobody = 0xffff;
  /// Agents beyond threads and the TMEM accesses of warps.
  static constexpr unsigned kExtra = 256;

  struct Access {
    uint32_t clock = 0;
    uint16_t agent = kNobody;
    uint8_t bytes = 0; // which of the word
    bool async = false;
    unsigned line = 0;
  };
  struct Cell {
    Access write, read;
    bool more = false; // there are more reads, in `moreReads`
  };
  /// Who performs the accesses at hand.
  struct Actor {
    const Op *op = nullptr;
    unsigned warp = 0, lane = 0;
    bool wholeWarp = false;
    Stamp stamp;
    bool inOrder = false; // after the agent's earlier accesses
    bool async = false;
    const uint32_t *order = nullptr, *proxy = nullptr, *after = nullptr;
  };
  /// Wait: no more than the wait behind a load whose registers were read.
  enum class Missing : uint8_t { Nothing, Wait, Order, Proxy, Fence };
  /// Used has no accesses: its clock counts the warp's loads that were read.
  enum class Kind : uint8_t { Thread, Loads, Stores, Used, Tensor, Copy };
  struct Agent {
    Kind kind;
    unsigned thread; // that acts or issues
    uint32_t clock = 1;
  };
  struct Thread {
    Clock order, proxy, fenced, after;
  };
  struct Knowledge {
    Clock order, proxy, fenced;
  };
  struct Barrier {
    Knowledge now, done;
    Stamp init;
    uint32_t fence = 0; // clock of the fence after it, 0: none
    unsigned line = 0;
  };

  Cta &cta;
  const bool formal;
  unsigned width; // entries of a clock
  std::vector<Agent> agents;
  std::vector<Thread> threads;
  std::map<uint32_t, Barrier> barriers;
  struct {
    Knowledge now, done;
  } named[17];
  std::vector<Cell> shared, tmem;
  std::unordered_map<uint64_t, std::vector<Access>> moreReads;
  std::map<unsigned, uint16_t> tensorAgents; // by thread
  Actor tensor;
  Clock meetOrder, meetAfter;

  Knowledge blank() const;
  void publish(unsigned thread, Knowledge &to, bool relaxed);
  void absorb(unsigned thread, const Knowledge &from, bool relaxed);
  uint16_t copyAgent(unsigned thread);
  Actor warpActor(Warp &w, const Op &op, uint32_t mask);
  Missing missing(const Actor &a, const Access &before, bool inTmem) const;
  bool touch(const Actor &a, Cell &cell, uint64_t key, uint8_t bytes,
             bool write, bool inTmem);
  bool touchShared(const Actor &a, uint32_t address, uint32_t bytes,
                   bool write);
  bool touchTmem(const Actor &a, unsigned lane, unsigned lanes, unsigned column,
                 unsigned columns, bool write);
  bool check(const Actor &a, const Access &before, bool beforeWrites,
             uint64_t key, bool write, bool inTmem);
  void report(const Actor &a, const Access &before, bool beforeWrites,
              uint64_t key, bool write, bool inTmem, Missing what);
  void warn(const Actor &a, const Access &before, uint64_t key);
  unsigned loadsOf(const Warp &w) const;
  std::string place(uint64_t key, bool inTmem) const;
  std::string describe(const Access &before, bool writes, bool inTmem) const;
  std::string advice(const Actor &a, const Access &before, Missing what) const;
};

} // namespace ptxsim

#endif // PTXSIM_LIB_RACE_H
