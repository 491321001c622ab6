// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Values that loops carry already stay first; loops that move nothing stay as
// they are; attributes of loops are kept.

// CHECK: fa4.role @r warps(0 to 4) regs(48) {
// CHECK-DAG: [[C1_I32:%[a-z0-9_]+]] = arith.constant 1 : i32
// CHECK-DAG: [[C0_I32:%[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: [[TASKS:%[a-z0-9_]+]]:2 = fa4.for_task (%b, %h, %m) iter_args([[SLOT:%[a-z0-9_]+]] = %c0, [[PHASE:%[a-z0-9_]+]] = [[C0_I32]]) -> (index, i32) attributes {kept} {
// CHECK-NEXT: [[BLOCKS:%[a-z0-9_]+]] = fa4.for_kv %j in rest(%m) iter_args([[SLOT2:%[a-z0-9_]+]] = [[SLOT]]) -> (index) {
// CHECK-NEXT: [[SUM:%[a-z0-9_]+]] = arith.addi [[SLOT2]], %c1 : index
// CHECK-NEXT: fa4.yield [[SUM]] : index
// CHECK-NEXT: }
// CHECK-NEXT: [[FLIPPED:%[a-z0-9_]+]] = arith.xori [[PHASE]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %x[%c0] parity([[PHASE]])
// CHECK-NEXT: fa4.yield [[BLOCKS]], [[FLIPPED]] : index, i32
// CHECK-NEXT: }
// CHECK-NEXT: "test.use"([[TASKS]]#0) : (index) -> ()
// CHECK-NEXT: }

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    %sum = fa4.for_task (%b, %h, %m) iter_args(%i = %c0) -> (index) attributes {kept} {
      %next = fa4.for_kv %j in rest(%m) iter_args(%n = %i) -> (index) {
        %more = arith.addi %n, %c1 : index
        fa4.yield %more : index
      }
      fa4.wait %x[%c0]
      fa4.yield %next : index
    }
    "test.use"(%sum) : (index) -> ()
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
