// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StrictOp.h"
#include "fa4/IR/FA4.h"

using namespace mlir;
using namespace mlir::fa4;

#include "fa4/IR/FA4Dialect.cpp.inc"
#include "fa4/IR/FA4Enums.cpp.inc"

/// Only a list of names comes out of the generated file: wrap each.
template <typename... Ops> static void registerStrictOps(Dialect &dialect) {
  (RegisteredOperationName::insert<StrictOp<Ops>>(dialect), ...);
}

void FA4Dialect::initialize() {
  registerTypes();
  registerAttrs();
  registerStrictOps<
#define GET_OP_LIST
#include "fa4/IR/FA4Ops.cpp.inc"
      >(*this);
}
