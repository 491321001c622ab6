// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel under construction: its frame, and the roles that go into it.

#ifndef FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_SCHEDULE_H
#define FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_SCHEDULE_H

#include "Plan.h"

#include "mlir/IR/Builders.h"

namespace mlir::fa4::schedule {

/// Names of the roles.
constexpr llvm::StringLiteral kSoftmax = "softmax", kCorrection = "correction",
                              kMma = "mma", kLoad = "load", kStore = "store",
                              kIdle = "idle";

/// The frame of a kernel: what its roles share.
struct Schedule {
  Plan plan;
  KernelOp kernel;

  /// Slot numbers of the two stages, and the two flags.
  Value slots[kStages];
  Value never, always;

  /// Rings. Without `publishesReference` there is no `mailReference`.
  Value q, kv, oStaging, mailFactor, mailReference, s, o, p;

  /// What copies signal. All other contracts follow from the roles.
  Value qFull, kvFull;

  /// f32 in registers: `columns` of a tile, and one value a row.
  FragmentType fragmentType(int64_t columns) const;
  RowsType rowsType() const;
};

/// Builds the kernel with its storage; its body has no role yet.
Schedule buildFrame(OpBuilder &builder, Location loc, StringRef name,
                    FunctionType functionType, const Plan &plan);
/// Ends the kernel's body, behind the roles.
void closeFrame(Schedule &schedule);

void buildSoftmaxRole(Schedule &schedule);
void buildCorrectionRole(Schedule &schedule);
void buildMmaRole(Schedule &schedule);
void buildLoadRole(Schedule &schedule);
void buildStoreRole(Schedule &schedule);
void buildIdleRole(Schedule &schedule);

} // namespace mlir::fa4::schedule

#endif // FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_SCHEDULE_H
