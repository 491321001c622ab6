// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_TMEMLOADUSES_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_TMEMLOADUSES_H

#include "mlir/IR/Operation.h"

namespace mlir::fa4 {

/// Moves what is computed from the registers of a tcgen05.ld behind the
/// tcgen05.wait::ld that follows in its block. PTX fills these registers only
/// there; nothing ties them to the wait, and the pairs that the pattern of
/// fa4.read_tile makes stand before it.
void sinkTmemLoadUses(Operation *function);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_TMEMLOADUSES_H
