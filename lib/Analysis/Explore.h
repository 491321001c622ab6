// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All runs of a program: every number of tasks, and of K/V blocks in each.

#ifndef FA4_LIB_ANALYSIS_EXPLORE_H
#define FA4_LIB_ANALYSIS_EXPLORE_H

#include "Machine.h"

namespace mlir::fa4::protocol {

/// What the future of a machine that waits for a decision depends on.
struct Marking {
  std::vector<int32_t> facts;
  /// Bits: which clocks know of which marks. Of two markings with equal facts
  /// and numbers of bits, the one that knows more has no fault that the other
  /// has not.
  std::vector<uint32_t> knowledge;

  bool operator==(const Marking &other) const {
    return facts == other.facts && knowledge == other.knowledge;
  }
};
Marking getMarking(const Program &program, const Machine &machine);

struct Exploration {
  unsigned markings = 0;
  uint64_t events = 0;
  /// False when the markings did not repeat within the limit.
  bool complete = true;
  std::vector<Finding> warnings;
  /// What was seen of each watch of the program, in the shortest run.
  std::vector<WatchResult> watches;
  /// The machine that ran into a fault.
  std::unique_ptr<Machine> faulty;
  /// A machine of the longest run, where the markings did not repeat.
  std::unique_ptr<Machine> unrepeated;
};

/// Runs every continuation of every marking that can be reached, shortest
/// first, up to the first fault.
Exploration explore(const Program &program);

/// Reports a fault, with the ops on both sides.
void emitFault(const Program &program, const Machine &machine);
/// Notes what is held the longest, and so keeps the markings of a run apart.
void noteOldest(InFlightDiagnostic &diag, const Program &program,
                const Machine &machine);
/// Reports a finding that is worth a warning.
void emitWarning(const Program &program, const Finding &finding);

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_EXPLORE_H
