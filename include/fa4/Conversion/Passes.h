// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowerings out of the fa4 dialect.

#ifndef FA4_CONVERSION_PASSES_H
#define FA4_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::fa4 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fa4/Conversion/Passes.h.inc"

} // namespace mlir::fa4

#endif // FA4_CONVERSION_PASSES_H
