// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// From roles and schedule loops to branches and scf loops. Runs before the
// conversion patterns, while values still have the types of the schedule level.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_STRUCTURELOWERING_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_STRUCTURELOWERING_H

#include "KernelLowering.h"

namespace mlir::fa4 {

/// Fails with a diagnostic unless storage is allocated, phases are materialised
/// and every op has a form that the lowering knows.
LogicalResult checkReadyToLower(KernelOp kernel);

/// Notes for every arrival and wait what its role tells: see KernelLowering.
void recordSynchronization(KernelOp kernel, KernelLowering &lowering);

/// Replaces set-up ops, roles and loops in `entry`, which holds the kernel's
/// body, by branches on the warp and scf loops.
LogicalResult lowerStructure(Block &entry, KernelLowering &lowering,
                             int64_t warps, int64_t smemBytes);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_STRUCTURELOWERING_H
