// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A slot given by the role's instance is one bit, since each instance runs the
// program for itself.

// CHECK: fa4.role @r(%stage) warps(0 to 8) regs(48) {
// CHECK-DAG: [[C1_I32:%[a-z0-9_]+]] = arith.constant 1 : i32
// CHECK-DAG: [[C0_I32:%[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: [[TASKS:%[a-z0-9_]+]] = fa4.for_task (%b, %h, %m) iter_args([[PHASE:%[a-z0-9_]+]] = [[C0_I32]]) -> (i32) {
// CHECK-NEXT: [[FLIPPED:%[a-z0-9_]+]] = arith.xori [[PHASE]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %x[%stage] parity([[PHASE]])
// CHECK-NEXT: fa4.wait %n[%stage]
// CHECK-NEXT: fa4.yield [[FLIPPED]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: }

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  %n = fa4.barrier "n" named slots(2) arrives(@r threads 128)
  fa4.role @r(%stage) warps(0 to 8) regs(48) {
    fa4.for_task (%b, %h, %m) {
      fa4.wait %x[%stage]
      fa4.wait %n[%stage]
    }
  }
}
