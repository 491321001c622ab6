// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Several waits on one slot in an iteration: the bit flips after each.

// CHECK: fa4.role @r warps(0 to 4) regs(48) {
// CHECK-DAG: [[C1_I32:%[a-z0-9_]+]] = arith.constant 1 : i32
// CHECK-DAG: [[C0_I32:%[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: [[TASKS:%[a-z0-9_]+]] = fa4.for_task (%b, %h, %m) iter_args([[PHASE:%[a-z0-9_]+]] = [[C0_I32]]) -> (i32) {
// CHECK-NEXT: [[FLIPPED:%[a-z0-9_]+]] = arith.xori [[PHASE]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %x[%c0] parity([[PHASE]])
// CHECK-NEXT: [[FLIPPED2:%[a-z0-9_]+]] = arith.xori [[FLIPPED]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %x[%c0] parity([[FLIPPED]])
// CHECK-NEXT: [[FLIPPED3:%[a-z0-9_]+]] = arith.xori [[FLIPPED2]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %x[%c0] parity([[FLIPPED2]])
// CHECK-NEXT: fa4.yield [[FLIPPED3]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: }

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      fa4.wait %x[%c0]
      fa4.wait %x[%c0]
      fa4.wait %x[%c0]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
