// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// One thread of the four stores each of its two rows, if Q has the row; then the warp's lanes meet.
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[LSE:[a-z0-9]+]]: !llvm.ptr<1>)
// CHECK: %[[QUAD:.*]] = llvm.and %{{.*}}, %{{c3_i32.*}} : i32
// CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %[[QUAD]], %{{c0_i32.*}} : i32
// CHECK: %[[EXISTS:.*]] = llvm.icmp "ult" %{{.*}}, %{{c256_i32.*}} : i32
// CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"
// CHECK: %[[INFINITE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[VALUE:.*]] = llvm.select %{{.*}}, %[[INFINITE]], %{{.*}} : i1, f32
// CHECK: %[[STORES:.*]] = llvm.and %[[FIRST]], %[[EXISTS]] : i1
// CHECK: scf.if %[[STORES]] {
// CHECK: llvm.getelementptr %[[LSE]]
// CHECK: llvm.store %[[VALUE]], %{{.*}} : f32, !llvm.ptr<1>
// CHECK: llvm.add %{{.*}}, %{{c8_i32.*}} : i32
// CHECK: scf.if
// CHECK: llvm.store
// CHECK-NEXT: }
// CHECK-NEXT: %[[ALL:.*]] = arith.constant -1 : i32
// CHECK-NEXT: nvvm.bar.warp.sync %[[ALL]] : i32
// CHECK-NOT: llvm.store
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
              %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>, %lse: memref<1x2x256xf32>)
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
      %l = fa4.row_sum %x : !fa4.fragment<64x8xf32, wgmma>
      %t = fa4.row_total %l : !fa4.rows<64xf32, partial>
      fa4.store_lse %ref, %t to %lse[%b, %h, %m, %c1] : !fa4.rows<64xf32>, memref<1x2x256xf32>
    }
  }
}
