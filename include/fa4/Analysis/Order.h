// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Is one access of a schedule ordered after another, in every run?

#ifndef FA4_ANALYSIS_ORDER_H
#define FA4_ANALYSIS_ORDER_H

#include "fa4/IR/FA4.h"

namespace mlir::fa4 {

/// An op that accesses a tile or a mailbox, in one instance of its role.
struct AccessPoint {
  Operation *op = nullptr;
  int64_t instance = 0;
};

/// Is `after` ordered behind the completion of `before`? `after` is looked at
/// in every task (and block), `before` in the task so many tasks earlier;
/// within one task, where both lie in loops over blocks, in the block so many
/// blocks earlier, and else in every block.
struct OrderQuery {
  AccessPoint before, after;
  int64_t tasks = 0, blocks = 0;
};

enum class OrderVerdict {
  Always,    ///< In every run that has the two.
  NotAlways, ///< Some run has them unordered.
  Never,     ///< No run has the two.
};

/// When a run does an access: tasks and blocks count from 1, 0 is outside.
struct AccessTime {
  int64_t task = 0, block = 0;
};

struct OrderAnswer {
  OrderVerdict verdict = OrderVerdict::Never;
  /// The shortest run that has the two, or has them unordered: how many blocks
  /// each task has, up to the accesses.
  SmallVector<int64_t> run;
  AccessTime before, after;
  /// Of two that are ordered: the arrivals and waits in between, in order, by
  /// which the agent of `after` first learned of `before`.
  SmallVector<Operation *> path;
};

/// Answers queries about a kernel, in logical time or with parities. Races are
/// let pass. Fails with a diagnostic where a query names no access, or a run
/// cannot go on: a deadlock, a missed phase, or what the proof does not model.
FailureOr<SmallVector<OrderAnswer>> queryOrder(KernelOp kernel,
                                               ArrayRef<OrderQuery> queries);

} // namespace mlir::fa4

#endif // FA4_ANALYSIS_ORDER_H
