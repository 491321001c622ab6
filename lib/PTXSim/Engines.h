// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Asynchronous work of a CTA. Operations of one queue complete in order; the
// queues are independent of each other. The mode decides when: at issue, when
// no thread can go on, or by chance.

#ifndef PTXSIM_LIB_ENGINES_H
#define PTXSIM_LIB_ENGINES_H

#include "ptxsim/Simulator.h"

#include <deque>
#include <functional>
#include <map>
#include <random>

namespace ptxsim {

struct Op;

class Engines {
public:
  using Action = std::function<void()>;

  explicit Engines(AsyncMode mode) : mode(mode) {}

  // Queue numbers. The tensor core runs MMAs, copies and commits in order.
  static constexpr uint64_t kTensor = 0;
  static uint64_t tmemStores(unsigned warp) { return 1 + 2 * warp; }
  static uint64_t tmemLoads(unsigned warp) { return 2 + 2 * warp; }
  static uint64_t matrix(unsigned warp) { return 128 + warp; } // of wgmma
  /// A queue of its own, for an operation ordered after nothing.
  uint64_t fresh() { return nextFresh++; }

  bool eager() const { return mode == AsyncMode::Eager; }

  /// `inside` is the instruction, if its work reaches the CTA's shared memory
  /// or TMEM, so that it has to be done when the CTA ends.
  void issue(uint64_t queue, Action action, const Op *inside = nullptr);
  /// Completes the oldest operation of a queue that is not empty.
  void step(uint64_t queue) { completeHead(queue); }

  /// Completes all that the queue holds.
  void drain(uint64_t queue);
  bool empty(uint64_t queue) const { return !queues.count(queue); }
  bool idle() const { return queues.empty(); }
  /// Completes the oldest operation; false when there is none.
  bool completeOldest();
  /// Completes the head of a random queue.
  bool completeRandom(std::mt19937_64 &random);
  size_t pending() const;
  /// The oldest operation of those that have to be done when the CTA ends.
  const Op *oldestInside() const;

private:
  struct Pending {
    uint64_t sequence;
    Action action;
    const Op *inside;
  };
  AsyncMode mode;
  uint64_t nextFresh = 1u << 20;
  uint64_t nextSequence = 0;
  std::map<uint64_t, std::deque<Pending>> queues;

  void completeHead(uint64_t queue);
};

} // namespace ptxsim

#endif // PTXSIM_LIB_ENGINES_H
