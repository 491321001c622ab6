// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that prove the contracts of a schedule, print and derive them.

#ifndef FA4_ANALYSIS_PASSES_H
#define FA4_ANALYSIS_PASSES_H

#include "fa4/Analysis/PrintProtocol.h"
#include "fa4/IR/FA4.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fa4 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fa4/Analysis/Passes.h.inc"

} // namespace mlir::fa4

#endif // FA4_ANALYSIS_PASSES_H
