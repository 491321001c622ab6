// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_KERNELTOFUNCTION_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_KERNELTOFUNCTION_H

#include "LaunchPlan.h"
#include "fa4/IR/FA4.h"

namespace mlir::fa4 {

/// Lowers a kernel that checkReadyToLower accepts to a gpu.module before it and
/// returns the name of the function. The kernel is left empty, to be erased.
FailureOr<SymbolRefAttr> lowerKernel(KernelOp kernel, const LaunchPlan &plan,
                                     StringRef ptxFeature);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_KERNELTOFUNCTION_H
