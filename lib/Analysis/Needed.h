// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a role reach an effect. Lowering leaves out what computes the
// others.

#ifndef FA4_LIB_ANALYSIS_NEEDED_H
#define FA4_LIB_ANALYSIS_NEEDED_H

#include "fa4/IR/FA4.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fa4::protocol {

llvm::DenseSet<Value> findNeeded(RoleOp role);

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_NEEDED_H
