// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule for targets with wgmma: consumer warpgroups that hold S, P and O
// in registers, and a warpgroup that copies for them.

#ifndef FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_HOPPER_HOPPER_H
#define FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_HOPPER_HOPPER_H

#include "../Plan.h"

namespace mlir::fa4::schedule {

/// Query rows of one consumer's tile: the M of wgmma.
constexpr int64_t kWgmmaRows = 64;

struct HopperPlan {
  TargetAttr target;
  Scheduler scheduler;
  bool causal, hasLse, maskFirst;
  /// Warpgroups that compute, and whether they take turns at the tensor core.
  int64_t consumers;
  bool turns;
  int64_t consumerRegisters, producerRegisters;
  int64_t headDim, pack;
  /// Keys of a block, and slots of the K and of the V ring.
  int64_t tileKeys, kvStages;
  /// Whether a block's exponentials wait for the next one's Q * K^T to be
  /// started, and their share by polynomial in unmasked blocks.
  bool lookAhead;
  int64_t polyPairs, polyOf;
  float threshold;
  ScalePlan scale;

  int64_t warps() const { return 4 * (consumers + 1); }
};

FailureOr<HopperPlan> planHopper(AttentionOp op, TargetAttr target,
                                 const ScheduleAttentionOptions &options);

/// Builds the whole kernel: what each role does, and what follows from that.
FailureOr<KernelOp> buildHopperKernel(OpBuilder &builder, Location loc,
                                      StringRef name, FunctionType functionType,
                                      const HopperPlan &plan);

} // namespace mlir::fa4::schedule

#endif // FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_HOPPER_HOPPER_H
