// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The cursor of a ring of one slot is its phase alone.

// CHECK: fa4.role @r warps(0 to 4) regs(48) {
// CHECK-DAG: [[C1_I32:%[a-z0-9_]+]] = arith.constant 1 : i32
// CHECK-DAG: [[C0_INDEX:%[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG: [[C0_I32:%[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: [[TASKS:%[a-z0-9_]+]] = fa4.for_task (%b, %h, %m) iter_args([[PHASE:%[a-z0-9_]+]] = [[C0_I32]]) -> (i32) {
// CHECK-NEXT: [[FLIPPED:%[a-z0-9_]+]] = arith.xori [[PHASE]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %full[[[C0_INDEX]]] parity([[PHASE]])
// CHECK-NEXT: "test.use"([[C0_INDEX]]) : (index) -> ()
// CHECK-NEXT: [[FLIPPED2:%[a-z0-9_]+]] = arith.xori [[FLIPPED]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %full[[[C0_INDEX]]] parity([[FLIPPED]])
// CHECK-NEXT: fa4.yield [[FLIPPED2]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: }

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<1 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(1) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      %slot = fa4.next %kv : !fa4.ring<1 x 128x128xf16, smem>
      fa4.wait %full[%slot]
      "test.use"(%slot) : (index) -> ()
      %again = fa4.next %kv : !fa4.ring<1 x 128x128xf16, smem>
      fa4.wait %full[%again]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
