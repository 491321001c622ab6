// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Schedule loops to scf loops.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_LOOPLOWERING_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_LOOPLOWERING_H

#include "KernelLowering.h"

namespace mlir::fa4 {

/// Replaces every `fa4.for_task`, `fa4.for_kv` and `fa4.first_kv` in a role.
/// The scf loops carry values of the same types.
LogicalResult lowerLoops(RoleOp role, const KernelLowering &lowering);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_LOOPLOWERING_H
