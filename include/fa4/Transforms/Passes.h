// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes on the schedule level: fa4 to fa4.

#ifndef FA4_TRANSFORMS_PASSES_H
#define FA4_TRANSFORMS_PASSES_H

#include "fa4/IR/FA4.h"
#include "fa4/Transforms/ScheduleOptions.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fa4 {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fa4/Transforms/Passes.h.inc"

} // namespace mlir::fa4

#endif // FA4_TRANSFORMS_PASSES_H
