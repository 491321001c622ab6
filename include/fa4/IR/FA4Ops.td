// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every op of the dialect, grouped by idea.

#ifndef FA4_IR_OPS_TD
#define FA4_IR_OPS_TD

include "fa4/IR/AttentionOps.td"
include "fa4/IR/StructureOps.td"
include "fa4/IR/StorageOps.td"
include "fa4/IR/BarrierOps.td"
include "fa4/IR/TileOps.td"
include "fa4/IR/MathOps.td"
include "fa4/IR/WarpgroupOps.td"

#endif // FA4_IR_OPS_TD
