// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every choice of a schedule, made and checked before any of it is built.

#ifndef FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_PLAN_H
#define FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_PLAN_H

#include "fa4/IR/FA4.h"
#include "fa4/Transforms/Passes.h"

namespace mlir::fa4::schedule {

/// Query tiles in flight: one for each softmax warpgroup.
constexpr int64_t kStages = 2;
/// Query rows of a tile and keys of a block.
constexpr int64_t kTile = 128;
constexpr int64_t kWarpThreads = 32;
constexpr int64_t kWarpgroupThreads = 128;

/// The warps of each role: first, and one past the last.
struct WarpRange {
  int64_t first, end;
};
constexpr WarpRange kSoftmaxWarps{0, 8}, kCorrectionWarps{8, 12},
    kMmaWarps{12, 13}, kLoadWarps{13, 14}, kStoreWarps{14, 15},
    kIdleWarps{15, 16};
constexpr int64_t kWarps = 16;

/// How the attention's scale enters the exponentials 2^(factor * x -
/// reference).
struct ScalePlan {
  /// Positive and normal.
  float factor;
  /// Q is negated in Q * K^T, because the scale is negative.
  bool negateQ;
  /// The logits are multiplied by this before the mask, because no normal
  /// `factor` expresses the scale: -inf times 0 would be NaN.
  std::optional<float> premultiply;

  bool operator==(const ScalePlan &other) const {
    return factor == other.factor && negateQ == other.negateQ &&
           premultiply == other.premultiply;
  }
};

struct Plan {
  TargetAttr target;
  Scheduler scheduler;
  bool causal, hasLse;
  /// The softmax role does the epilogue, not the correction role.
  bool softmaxEpilogue;
  /// The first visited block of a task may hold hidden keys.
  bool maskFirst;
  bool statsPerWarp;
  int64_t softmaxRegisters, correctionRegisters, otherRegisters;
  int64_t headDim;
  /// Query heads that share a tile.
  int64_t pack;
  int64_t kvStages;
  /// Columns of one softmax fragment, of the first P segment, and of one step
  /// of the epilogue and of rescaling.
  int64_t fragmentColumns, firstSegment, epilogueChunk, rescaleChunk;
  int64_t polyPairs, polyOf;
  /// The columns whose exponentials are partly polynomial.
  int64_t polyBegin, polyEnd;
  float threshold;
  ScalePlan scale;

  bool splitsP() const { return firstSegment != kTile; }
  /// The reference travels to the correction role, which needs it for the LSE.
  bool publishesReference() const { return hasLse && !softmaxEpilogue; }
};

/// The scale in units of log2 and how it is applied.
ScalePlan planScale(AttentionOp op);

/// Query heads that share a tile of `rows` rows.
FailureOr<int64_t> planPack(AttentionOp op, GroupPacking choice, int64_t rows);

Scheduler planScheduler(bool causal, SchedulerChoice choice);

/// What every schedule asks of an attention.
LogicalResult checkAttention(AttentionOp op);

/// Plans `op` for `target`, or says at `op` what does not fit.
FailureOr<Plan> planSchedule(AttentionOp op, TargetAttr target,
                             const ScheduleAttentionOptions &options);

} // namespace mlir::fa4::schedule

#endif // FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_PLAN_H
