// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/IR/FA4.h"

using namespace mlir;
using namespace mlir::fa4;

#include "fa4/IR/FA4Dialect.cpp.inc"
#include "fa4/IR/FA4Enums.cpp.inc"

void FA4Dialect::initialize() {
  registerTypes();
  registerAttrs();
  addOperations<
#define GET_OP_LIST
#include "fa4/IR/FA4Ops.cpp.inc"
      >();
}
