// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes and pipelines that end in PTX or a binary.

#ifndef FA4_TARGET_PASSES_TD
#define FA4_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // FA4_TARGET_PASSES_TD
