// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One f32 a thread, 512 bytes a slot.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[THREAD:.*]] = arith.andi %{{.*}}, %c127_i32
// CHECK: %[[BYTE:.*]] = llvm.shl %[[THREAD]], %c2_i32{{.*}} : i32
// CHECK: %[[SLOT:.*]] = arith.muli %{{.*}}, %c512_i32
// CHECK: arith.addi %[[SLOT]], %[[BYTE]] : i32
// CHECK: arith.addi %{{.*}}, %c4096_i32
// CHECK: %[[FROM:.*]] = llvm.inttoptr
// CHECK: %[[VALUE:.*]] = llvm.load %[[FROM]] : !llvm.ptr<3> -> f32
// CHECK: arith.addi %{{.*}}, %c8192_i32
// CHECK: %[[TO:.*]] = llvm.inttoptr
// CHECK: llvm.store %[[VALUE]], %[[TO]] : f32, !llvm.ptr<3>
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  %other = fa4.alloc "other" at(8192) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.publish %row to %other[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
