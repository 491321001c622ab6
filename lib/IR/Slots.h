// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_LIB_IR_SLOTS_H
#define FA4_LIB_IR_SLOTS_H

#include "fa4/IR/FA4.h"

namespace mlir::fa4 {

/// Fails unless `slot`, as far as the text tells it, is one of the ring's.
LogicalResult verifyRingSlot(Operation *op, Value ring, Value slot);

/// The declaration behind a barrier value; fails where there is none, or where
/// `slot`, as far as the text tells it, is not one of the barrier's.
FailureOr<BarrierOp> verifyBarrierSlot(Operation *op, Value barrier,
                                       Value slot);

} // namespace mlir::fa4

#endif // FA4_LIB_IR_SLOTS_H
