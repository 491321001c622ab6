// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A cursor is a slot and a phase, carried through the loops that move it; the
// parity is inverted where the barrier is initially free.

// CHECK: fa4.role @r warps(0 to 4) regs(48) {
// CHECK-DAG: [[C1_I32:%[a-z0-9_]+]] = arith.constant 1 : i32
// CHECK-DAG: [[C3_INDEX:%[a-z0-9_]+]] = arith.constant 3 : index
// CHECK-DAG: [[C1_INDEX:%[a-z0-9_]+]] = arith.constant 1 : index
// CHECK-DAG: [[C0_INDEX:%[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG: [[C0_I32:%[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: [[TASKS:%[a-z0-9_]+]]:2 = fa4.for_task (%b, %h, %m) iter_args([[SLOT:%[a-z0-9_]+]] = [[C0_INDEX]], [[PHASE:%[a-z0-9_]+]] = [[C0_I32]]) -> (index, i32) {
// CHECK-NEXT: [[SUM:%[a-z0-9_]+]] = arith.addi [[SLOT]], [[C1_INDEX]] : index
// CHECK-NEXT: [[WRAPS:%[a-z0-9_]+]] = arith.cmpi eq, [[SUM]], [[C3_INDEX]] : index
// CHECK-NEXT: [[NEXT:%[a-z0-9_]+]] = arith.select [[WRAPS]], [[C0_INDEX]], [[SUM]] : index
// CHECK-NEXT: [[WRAPPED:%[a-z0-9_]+]] = arith.extui [[WRAPS]] : i1 to i32
// CHECK-NEXT: [[FLIPPED:%[a-z0-9_]+]] = arith.xori [[PHASE]], [[WRAPPED]] : i32
// CHECK-NEXT: fa4.wait %full[[[SLOT]]] parity([[PHASE]])
// CHECK-NEXT: [[FLIPPED2:%[a-z0-9_]+]] = arith.xori [[PHASE]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %empty[[[SLOT]]] parity([[FLIPPED2]])
// CHECK-NEXT: [[BLOCKS:%[a-z0-9_]+]]:2 = fa4.for_kv %j in rest(%m) iter_args([[SLOT2:%[a-z0-9_]+]] = [[NEXT]], [[PHASE2:%[a-z0-9_]+]] = [[FLIPPED]]) -> (index, i32) {
// CHECK-NEXT: [[SUM2:%[a-z0-9_]+]] = arith.addi [[SLOT2]], [[C1_INDEX]] : index
// CHECK-NEXT: [[WRAPS2:%[a-z0-9_]+]] = arith.cmpi eq, [[SUM2]], [[C3_INDEX]] : index
// CHECK-NEXT: [[NEXT2:%[a-z0-9_]+]] = arith.select [[WRAPS2]], [[C0_INDEX]], [[SUM2]] : index
// CHECK-NEXT: [[WRAPPED2:%[a-z0-9_]+]] = arith.extui [[WRAPS2]] : i1 to i32
// CHECK-NEXT: [[FLIPPED3:%[a-z0-9_]+]] = arith.xori [[PHASE2]], [[WRAPPED2]] : i32
// CHECK-NEXT: fa4.wait %full[[[SLOT2]]] parity([[PHASE2]])
// CHECK-NEXT: [[FLIPPED4:%[a-z0-9_]+]] = arith.xori [[PHASE2]], [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %empty[[[SLOT2]]] parity([[FLIPPED4]])
// CHECK-NEXT: "test.use"([[SLOT2]]) : (index) -> ()
// CHECK-NEXT: fa4.yield [[NEXT2]], [[FLIPPED3]] : index, i32
// CHECK-NEXT: }
// CHECK-NEXT: [[SUM3:%[a-z0-9_]+]] = arith.addi [[BLOCKS]]#0, [[C1_INDEX]] : index
// CHECK-NEXT: [[WRAPS3:%[a-z0-9_]+]] = arith.cmpi eq, [[SUM3]], [[C3_INDEX]] : index
// CHECK-NEXT: [[NEXT3:%[a-z0-9_]+]] = arith.select [[WRAPS3]], [[C0_INDEX]], [[SUM3]] : index
// CHECK-NEXT: [[WRAPPED3:%[a-z0-9_]+]] = arith.extui [[WRAPS3]] : i1 to i32
// CHECK-NEXT: [[FLIPPED5:%[a-z0-9_]+]] = arith.xori [[BLOCKS]]#1, [[WRAPPED3]] : i32
// CHECK-NEXT: fa4.wait %full[[[BLOCKS]]#0] parity([[BLOCKS]]#1)
// CHECK-NEXT: [[FLIPPED6:%[a-z0-9_]+]] = arith.xori [[BLOCKS]]#1, [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %empty[[[BLOCKS]]#0] parity([[FLIPPED6]])
// CHECK-NEXT: fa4.yield [[NEXT3]], [[FLIPPED5]] : index, i32
// CHECK-NEXT: }
// CHECK-NEXT: fa4.wait %full[[[TASKS]]#0] parity([[TASKS]]#1)
// CHECK-NEXT: [[FLIPPED7:%[a-z0-9_]+]] = arith.xori [[TASKS]]#1, [[C1_I32]] : i32
// CHECK-NEXT: fa4.wait %empty[[[TASKS]]#0] parity([[FLIPPED7]])
// CHECK-NEXT: }

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  %empty = fa4.barrier "empty" slots(3) arrives(@other commit) initially_free
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      %first = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %full[%first]
      fa4.wait %empty[%first]
      fa4.for_kv %j in rest(%m) {
        %slot = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %full[%slot]
        fa4.wait %empty[%slot]
        "test.use"(%slot) : (index) -> ()
      }
      %last = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %full[%last]
      fa4.wait %empty[%last]
    }
    %drain = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %full[%drain]
    fa4.wait %empty[%drain]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
