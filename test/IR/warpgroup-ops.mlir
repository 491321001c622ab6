// RUN: fa4-opt %s | fa4-opt | FileCheck %s
// RUN: fa4-opt %s --mlir-print-op-generic | fa4-opt | FileCheck %s
// RUN: fa4-opt %s --emit-bytecode | fa4-opt | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Products into registers, in every form, and what is done to accumulators.
// CHECK-LABEL: fa4.kernel @k(
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  fa4.role @r warps(4 to 8) regs(240) {
    fa4.for_task (%b, %h, %m) {
      // CHECK: %[[S:.*]] = fa4.warpgroup_mma %{{.*}}[%c0] * %{{.*}}[%c0] transpose_b negate_a : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
      // CHECK: %[[X:.*]] = fa4.warpgroup_wait pending(0) %[[S]] : !fa4.pending<64x128xf32>
      %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b negate_a : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
      %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x128xf32>
      // CHECK: %[[REF:.*]], %[[FACTOR:.*]] = fa4.row_max %[[X]] scale(1.000000e+00) threshold(8.000000e+00) : !fa4.fragment<64x128xf32, wgmma>
      %ref, %f = fa4.row_max %x scale(1.0) threshold(8.0) : !fa4.fragment<64x128xf32, wgmma>
      // CHECK: %[[E:.*]] = fa4.exp2 %[[X]] minus %[[REF]] scale(1.000000e+00) : !fa4.fragment<64x128xf32, wgmma>, !fa4.rows<64xf32>
      %e = fa4.exp2 %x minus %ref scale(1.0) : !fa4.fragment<64x128xf32, wgmma>, !fa4.rows<64xf32>
      // CHECK: %{{.*}}, %{{.*}} = fa4.row_max %[[X]] against %[[REF]] scale(1.000000e+00) threshold(8.000000e+00) vote : !fa4.fragment<64x128xf32, wgmma>
      %ref2, %f2 = fa4.row_max %x against %ref scale(1.0) threshold(8.0) vote : !fa4.fragment<64x128xf32, wgmma>
      // CHECK: %[[Z:.*]] = fa4.exponents %[[X]] minus %[[REF]] scale(1.000000e+00) : !fa4.fragment<64x128xf32, wgmma>, !fa4.rows<64xf32>
      // CHECK: fa4.exp2 %[[Z]] : !fa4.fragment<64x128xf32, wgmma>
      // CHECK: fa4.exp2 %[[Z]] poly(1 of 8) : !fa4.fragment<64x128xf32, wgmma>
      %z1 = fa4.exponents %x minus %ref scale(1.0) : !fa4.fragment<64x128xf32, wgmma>, !fa4.rows<64xf32>
      %e1 = fa4.exp2 %z1 : !fa4.fragment<64x128xf32, wgmma>
      %e2 = fa4.exp2 %z1 poly(1 of 8) : !fa4.fragment<64x128xf32, wgmma>
      // CHECK: fa4.fill 0.000000e+00 : !fa4.rows<64xf32, partial>
      %l0 = fa4.fill 0.0 : !fa4.rows<64xf32, partial>
      // CHECK: %[[L:.*]] = fa4.row_sum %[[E]] : !fa4.fragment<64x128xf32, wgmma>
      // CHECK: %[[L2:.*]] = fa4.row_sum %[[E]] plus %[[L]] times %[[FACTOR]] : !fa4.fragment<64x128xf32, wgmma>
      // CHECK: fa4.row_total %[[L2]] : !fa4.rows<64xf32, partial>
      %l = fa4.row_sum %e : !fa4.fragment<64x128xf32, wgmma>
      %l2 = fa4.row_sum %e plus %l times %f : !fa4.fragment<64x128xf32, wgmma>
      %total = fa4.row_total %l2 : !fa4.rows<64xf32, partial>
      %p = fa4.convert %e : !fa4.fragment<64x128xf32, wgmma> to !fa4.fragment<64x128xf16, wgmma>
      // CHECK: %[[O:.*]] = fa4.fill 0.000000e+00 : !fa4.fragment<64x64xf32, wgmma>
      // CHECK: %[[D:.*]] = fa4.warpgroup_mma %{{.*}} * %{{.*}}[%c0] plus %[[O]] : !fa4.fragment<64x128xf16, wgmma> * !fa4.ring<2 x 128x64xf16, smem> plus !fa4.fragment<64x64xf32, wgmma> to !fa4.pending<64x64xf32>
      %o0 = fa4.fill 0.0 : !fa4.fragment<64x64xf32, wgmma>
      %d = fa4.warpgroup_mma %p * %kv[%c0] plus %o0 : !fa4.fragment<64x128xf16, wgmma> * !fa4.ring<2 x 128x64xf16, smem> plus !fa4.fragment<64x64xf32, wgmma> to !fa4.pending<64x64xf32>
      // CHECK: %[[S2:.*]] = fa4.warpgroup_mma
      // CHECK: %[[Y:.*]] = fa4.warpgroup_wait pending(1) %[[D]] : !fa4.pending<64x64xf32>
      // CHECK: fa4.scale_rows %[[Y]] by %[[FACTOR]] : !fa4.fragment<64x64xf32, wgmma>, !fa4.rows<64xf32>
      %s2 = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
      %y = fa4.warpgroup_wait pending(1) %d : !fa4.pending<64x64xf32>
      %z = fa4.scale_rows %y by %f : !fa4.fragment<64x64xf32, wgmma>, !fa4.rows<64xf32>
      %x2 = fa4.warpgroup_wait pending(0) %s2 : !fa4.pending<64x128xf32>
    }
  }
  fa4.role @idle warps(0 to 4) regs(24) {
  }
}
