// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Cursors on rings of equal length that move in step are carried once.

// CHECK: fa4.role @r warps(0 to 4) regs(48) {
// CHECK-DAG: [[C4_INDEX:%[a-z0-9_]+]] = arith.constant 4 : index
// CHECK-DAG: [[C3_INDEX:%[a-z0-9_]+]] = arith.constant 3 : index
// CHECK-DAG: [[C1_INDEX:%[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG: [[C0_INDEX:%[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG: [[C0_I32:%[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: [[TASKS:%[a-z0-9_]+]]:4 = fa4.for_task (%b, %h, %m) iter_args([[SLOT:%[a-z0-9_]+]] = [[C0_INDEX]], [[PHASE:%[a-z0-9_]+]] = [[C0_I32]], [[SLOT2:%[a-z0-9_]+]] = [[C0_INDEX]], [[PHASE2:%[a-z0-9_]+]] = [[C0_I32]]) -> (index, i32, index, i32) {
// CHECK-NEXT: [[SUM:%[a-z0-9_]+]] = arith.addi [[SLOT]], [[C1_INDEX]] : index
// CHECK-NEXT: [[WRAPS:%[a-z0-9_]+]] = arith.cmpi eq, [[SUM]], [[C3_INDEX]] : index
// CHECK-NEXT: [[NEXT:%[a-z0-9_]+]] = arith.select [[WRAPS]], [[C0_INDEX]], [[SUM]] : index
// CHECK-NEXT: [[WRAPPED:%[a-z0-9_]+]] = arith.extui [[WRAPS]] : i1 to i32
// CHECK-NEXT: [[FLIPPED:%[a-z0-9_]+]] = arith.xori [[PHASE]], [[WRAPPED]] : i32
// CHECK-NEXT: fa4.wait %full[[[SLOT]]] parity([[PHASE]])
// CHECK-NEXT: "test.use"([[SLOT]], [[SLOT]]) : (index, index) -> ()
// CHECK-NEXT: [[SUM2:%[a-z0-9_]+]] = arith.addi [[SLOT2]], [[C1_INDEX]] : index
// CHECK-NEXT: [[WRAPS2:%[a-z0-9_]+]] = arith.cmpi eq, [[SUM2]], [[C4_INDEX]] : index
// CHECK-NEXT: [[NEXT2:%[a-z0-9_]+]] = arith.select [[WRAPS2]], [[C0_INDEX]], [[SUM2]] : index
// CHECK-NEXT: [[WRAPPED2:%[a-z0-9_]+]] = arith.extui [[WRAPS2]] : i1 to i32
// CHECK-NEXT: [[FLIPPED2:%[a-z0-9_]+]] = arith.xori [[PHASE2]], [[WRAPPED2]] : i32
// CHECK-NEXT: "test.use"([[SLOT2]]) : (index) -> ()
// CHECK-NEXT: fa4.yield [[NEXT]], [[FLIPPED]], [[NEXT2]], [[FLIPPED2]] : index, i32, index, i32
// CHECK-NEXT: }
// CHECK-NEXT: }

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %other_ring = fa4.alloc "other" : !fa4.ring<3 x 128x128xf16, smem>
  %longer = fa4.alloc "longer" : !fa4.ring<4 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      %a = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %full[%a]
      %c = fa4.next %other_ring : !fa4.ring<3 x 128x128xf16, smem>
      "test.use"(%a, %c) : (index, index) -> ()
      %d = fa4.next %longer : !fa4.ring<4 x 128x128xf16, smem>
      "test.use"(%d) : (index) -> ()
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
