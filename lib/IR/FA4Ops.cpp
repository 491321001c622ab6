// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated definitions of every op, compiled once.

#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fa4;

#define GET_OP_CLASSES
#include "fa4/IR/FA4Ops.cpp.inc"
