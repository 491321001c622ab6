// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that end in PTX or a binary.

#ifndef FA4_TARGET_PASSES_H
#define FA4_TARGET_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::fa4 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fa4/Target/Passes.h.inc"

} // namespace mlir::fa4

#endif // FA4_TARGET_PASSES_H
