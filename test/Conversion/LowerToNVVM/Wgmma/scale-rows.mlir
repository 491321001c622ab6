// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A warp in which every factor is 1 multiplies nothing; a NaN is not 1.
// CHECK-LABEL: llvm.func @k(
// CHECK: llvm.inline_asm {{.*}}wgmma.wait_group
// CHECK: %[[X0:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK: %[[X1:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK: %[[X2:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK: %[[X3:.*]] = llvm.extractvalue %{{.*}}[3]
// CHECK: %[[NEEDED0:.*]] = llvm.fcmp "une" %[[FACTOR0:.*]], %{{.*}} : f32
// CHECK: %[[NEEDED1:.*]] = llvm.fcmp "une" %[[FACTOR1:.*]], %{{.*}} : f32
// CHECK: %[[NEEDED:.*]] = llvm.or %[[NEEDED0]], %[[NEEDED1]] : i1
// CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[NEEDED]] -> i1
// CHECK: scf.if %[[ANY]] -> (f32, f32, f32, f32) {
// CHECK: llvm.fmul %[[X0]], %[[FACTOR0]] : f32
// CHECK: llvm.fmul %[[X1]], %[[FACTOR0]] : f32
// CHECK: llvm.fmul %[[X2]], %[[FACTOR1]] : f32
// CHECK: llvm.fmul %[[X3]], %[[FACTOR1]] : f32
// CHECK: } else {
// CHECK: scf.yield %[[X0]], %[[X1]], %[[X2]], %[[X3]] : f32, f32, f32, f32
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
              %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %ks = fa4.alloc "k" at(16384) : !fa4.ring<2 x 8x64xf16, smem>
  fa4.cta_sync
  fa4.role @idle warps(0 to 4) regs(24) {
  }
  fa4.role @r warps(4 to 8) regs(240) {
    fa4.for_task (%b, %h, %m) {
      %s = fa4.warpgroup_mma %qs[%c0] * %ks[%c1] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 8x64xf16, smem> to !fa4.pending<64x8xf32>
      %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x8xf32>
      %ref, %factor = fa4.row_max %x scale(0.125) threshold(8.0) : !fa4.fragment<64x8xf32, wgmma>
      %new, %next = fa4.row_max %x against %ref scale(0.125) threshold(8.0) : !fa4.fragment<64x8xf32, wgmma>
      %y = fa4.scale_rows %x by %next : !fa4.fragment<64x8xf32, wgmma>, !fa4.rows<64xf32>
    }
  }
}
