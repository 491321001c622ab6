// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof that a schedule's handoffs are right, for every number of tasks and
// of K/V blocks. docs/protocol.md has the model and the argument.

#ifndef FA4_ANALYSIS_PROTOCOL_H
#define FA4_ANALYSIS_PROTOCOL_H

#include "fa4/IR/FA4.h"

namespace mlir::fa4 {

/// How much a proof took.
struct ProtocolStatistics {
  /// Different relative markings at which the roles wait for a decision.
  unsigned markings = 0;
  /// Events that were run, over all continuations of all markings.
  uint64_t events = 0;
};

/// Proves a kernel, in logical time or with parities: no wrong parity, no
/// deadlock, no arrival in a wrong phase, no phase that a wait may miss, no
/// race, nothing outstanding at the end. Otherwise fails with a diagnostic at
/// the op, and notes at the ops on the other side. What the proof does not
/// model is refused as `incomplete`. With `redundancy`, remarks on each
/// barrier, wait or arrival without which a right kernel is right too.
LogicalResult verifyProtocol(KernelOp kernel,
                             ProtocolStatistics *statistics = nullptr,
                             bool redundancy = false);

} // namespace mlir::fa4

#endif // FA4_ANALYSIS_PROTOCOL_H
