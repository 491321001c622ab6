// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contracts from the tile ops of the roles.

#ifndef FA4_ANALYSIS_DERIVECONTRACTS_H
#define FA4_ANALYSIS_DERIVECONTRACTS_H

#include "fa4/IR/FA4.h"

namespace mlir::fa4 {

/// Replaces all barriers, waits and arrivals of a kernel by ones that follow
/// from its tile ops, and proves the result. With `perWarp`, two warpgroups
/// meet in pairs of warps, each on its own rows. On failure the kernel is left
/// without contracts, or with some that do not do.
LogicalResult deriveContracts(KernelOp kernel, bool perWarp = false);

/// Declares the barrier that copies by `role` into a ring signal: "NAME_full".
/// Copies cannot be written without one, all other contracts are derived.
BarrierOp declareCopyBarrier(OpBuilder &builder, AllocOp ring,
                             FlatSymbolRefAttr role);

} // namespace mlir::fa4

#endif // FA4_ANALYSIS_DERIVECONTRACTS_H
