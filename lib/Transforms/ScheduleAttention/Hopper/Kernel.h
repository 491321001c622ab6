// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Hopper kernel under construction: its frame, and the roles that go into it.

#ifndef FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_HOPPER_KERNEL_H
#define FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_HOPPER_KERNEL_H

#include "Hopper.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fa4::schedule {

struct HopperKernel {
  HopperPlan plan;
  KernelOp kernel;
  /// Slot numbers, one for each consumer.
  SmallVector<Value> slots;
  Value q, k, v, oStaging;
  /// What copies signal. All other contracts follow from the roles.
  Value qFull, kFull, vFull;
  /// By consumer, the products that it starts in one turn: first and last.
  SmallVector<SmallVector<std::pair<Operation *, Operation *>>> turns;

  /// A role with an empty body, at whose end the builder is left.
  RoleOp addRole(ImplicitLocOpBuilder &b, StringRef name, int64_t firstWarp,
                 int64_t endWarp, int64_t registers) const;
};

/// Name of a consumer's role.
std::string getConsumerName(int64_t consumer);

void declareHopperStorage(ImplicitLocOpBuilder &b, HopperKernel &h);
void buildHopperLoadRole(ImplicitLocOpBuilder &b, const HopperKernel &h);
void buildHopperStoreRole(ImplicitLocOpBuilder &b, const HopperKernel &h);
void buildHopperConsumer(ImplicitLocOpBuilder &b, HopperKernel &h,
                         int64_t consumer);
/// Lets consumers start their products in turn: for speed, nothing needs it.
void addHopperTurns(ImplicitLocOpBuilder &b, HopperKernel &h);

/// A loop over the tasks; the builder is left in its body.
ForTaskOp addTaskLoop(ImplicitLocOpBuilder &b);
/// A loop over K/V blocks with values handed on; `body` returns the next ones.
ResultRange addKvLoop(
    ImplicitLocOpBuilder &b, KvRange range, Value mBlock, ValueRange inits,
    function_ref<SmallVector<Value>(Value kvBlock, ValueRange carried)> body);

} // namespace mlir::fa4::schedule

#endif // FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_HOPPER_KERNEL_H
