// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_TMEMLOADRESULTS_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_TMEMLOADRESULTS_H

#include "mlir/IR/Operation.h"

namespace mlir::fa4 {

/// Lets what stands behind a tcgen05.wait::ld use the registers of the
/// tcgen05.ld before it in the block through one piece of inline assembly
/// behind the wait. PTX fills these registers at the wait only, but LLVM sees
/// nothing that ties them to it and would pack them into pairs right behind the
/// load.
void tieTmemLoadsToWaits(Operation *function);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_TMEMLOADRESULTS_H
