// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contracts from the tile ops of the roles. docs/protocol.md has the steps.

#ifndef FA4_LIB_ANALYSIS_DERIVE_H
#define FA4_LIB_ANALYSIS_DERIVE_H

#include "PrintTrace.h"

namespace mlir::fa4::protocol {

/// Where an access stands when one reads the schedule as a sequential program:
/// task by task, block by block, and in a block in the order of the data.
struct Place {
  int32_t task = 0, block = 0, rank = 0;

  bool operator<(const Place &other) const {
    return std::tie(task, block, rank) <
           std::tie(other.task, other.block, other.rank);
  }
};

/// The ranks of a block's accesses.
enum Rank : int32_t {
  kLoad,
  kScores, ///< S = Q * K
  kRead,
  kPublish,
  kCollect,
  kRescale,
  kWeights, ///< P to tensor memory.
  kProduct, ///< O += P * V
  kStage,   ///< O to shared memory.
  kStore,
};

/// An access in the sample run.
struct Step {
  Operation *op;
  int32_t agent;
  int32_t index; ///< Among the agent's.
  When when;
  Place place;
  SmallVector<Touched, 3> touched;
  /// For each tile that it touches: which value of the cursor gave the slot; -1
  /// where no cursor did.
  SmallVector<int32_t, 3> versions;
};

/// A run of all roles without a contract, long enough to show every kind of
/// handoff. Steps are in no order but each agent's.
struct Sample {
  std::vector<Step> steps;
  std::vector<std::vector<int32_t>> byAgent;
};

/// `to` must come behind the completion of `from`, another agent's.
struct Dependence {
  int32_t from, to;
  int32_t ring, slot;
  bool flow;   ///< `to` reads what `from` wrote.
  bool cursor; ///< A cursor gave the slot.
};

/// A place in a role's text: before or behind an op.
struct Point {
  Operation *op;
  bool behind;
  Value slot;

  bool operator==(const Point &other) const {
    return op == other.op && behind == other.behind && slot == other.slot;
  }
};

/// Dependences that one arrival and one wait a phase can take care of.
struct Handoff {
  int32_t from, to;    ///< Roles.
  int32_t ring, slots; ///< And how many the ring has.
  bool flow, cursor;
  int32_t fromRank, toRank, ordinal; ///< -1 where a cursor gives the slot.
  std::vector<Dependence> dependences;
  SmallVector<Point> arrivals, waits;
  bool free = false; ///< The first wait of each slot has nothing to wait for.
  bool commits = false; ///< The tensor core arrives.
};

/// A barrier to be.
struct Contract {
  /// Of different roles, and waited for at the same points; or of one role, and
  /// waited for by different ones, each for slots of its own.
  SmallVector<const Handoff *> parts;
  std::string name;
  bool named = false; ///< One of the hardware's own.
  /// The ring's slots that the barrier has one for.
  SmallVector<int32_t> slots;
};

/// Takes all waits and arrivals out of a kernel. Each ring that is loaded keeps
/// a barrier, which the loads signal.
LogicalResult stripContracts(KernelOp kernel);

FailureOr<Sample> takeSample(const Program &program);
FailureOr<std::vector<Dependence>> findDependences(const Program &program,
                                                   const Sample &sample);
/// The fewest handoffs, of those that can be placed, that order all
/// dependences.
FailureOr<std::vector<Handoff>>
findHandoffs(const Program &program, const Sample &sample,
             const std::vector<Dependence> &dependences);
/// The barriers that the handoffs need, in the order of their declarations.
std::vector<Contract> findContracts(const Program &program,
                                    const std::vector<Handoff> &handoffs,
                                    bool perWarp);
/// Writes contracts into the stripped kernel that `program` was built from.
void placeContracts(const Program &program,
                    const std::vector<Contract> &contracts, bool perWarp);

/// The slot that a constant names.
std::optional<int32_t> getConstantSlot(Value slot);

/// The operand that names the slot of a tile which an op touches.
Value getSlotOperand(Operation *op, unsigned touched);

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_DERIVE_H
