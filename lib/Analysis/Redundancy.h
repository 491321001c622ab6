// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contracts, or parts of them, that the proof does without.

#ifndef FA4_LIB_ANALYSIS_REDUNDANCY_H
#define FA4_LIB_ANALYSIS_REDUNDANCY_H

#include "fa4/IR/FA4.h"

namespace mlir::fa4::protocol {

/// Whether a kernel is right in every run, with at most so many warnings. Says
/// nothing.
bool holds(KernelOp kernel, size_t warnings);

/// Takes a barrier out of a kernel, with all waits and arrivals.
void eraseBarrier(BarrierOp barrier);

/// Remarks on each barrier, and each wait or arrival, without which a kernel
/// that was proved is right too.
void remarkRedundant(KernelOp kernel, size_t warnings);

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_REDUNDANCY_H
