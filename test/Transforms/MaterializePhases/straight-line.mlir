// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Outside of loops phases are constants, and what is not used goes.

// CHECK: fa4.role @r warps(0 to 4) regs(48) {
// CHECK-DAG: [[C0_INDEX:%[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG: [[C0_I32:%[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: fa4.wait %full[[[C0_INDEX]]] parity([[C0_I32]])
// CHECK-NEXT: fa4.wait %x[%c0] parity([[C0_I32]])
// CHECK-NEXT: }

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    %slot = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %full[%slot]
    fa4.wait %x[%c0]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
