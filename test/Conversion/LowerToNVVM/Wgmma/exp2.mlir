// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 2^(scale * x - reference) with one multiply-add and the special function, for each row with its
// own reference; a reference of -inf takes nothing away, so the row's weights are 0.
// CHECK-LABEL: llvm.func @k(
// CHECK: llvm.inline_asm {{.*}}wgmma.wait_group
// CHECK: %[[X0:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK: %[[X1:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK: %[[X2:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK: %[[X3:.*]] = llvm.extractvalue %{{.*}}[3]
// CHECK: %[[SCALED0:.*]] = llvm.fmul
// CHECK: %[[SCALED1:.*]] = llvm.fmul
// CHECK: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: %[[EMPTY:.*]] = llvm.fcmp "oeq" %[[SCALED0]], %{{.*}} : f32
// CHECK: %[[OFFSET0:.*]] = llvm.select %[[EMPTY]], %{{.*}}, %{{.*}} : i1, f32
// CHECK: %[[OFFSET1:.*]] = llvm.select
// CHECK: %[[E0:.*]] = llvm.intr.fma(%[[X0]], %[[SCALE]], %[[OFFSET0]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[E0]])
// CHECK: llvm.intr.fma(%[[X1]], %[[SCALE]], %[[OFFSET0]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.intr.fma(%[[X2]], %[[SCALE]], %[[OFFSET1]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.intr.fma(%[[X3]], %[[SCALE]], %[[OFFSET1]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK-NOT: llvm.call_intrinsic
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
      %e = fa4.exp2 %x minus %ref scale(0.125) : !fa4.fragment<64x8xf32, wgmma>, !fa4.rows<64xf32>
    }
  }
}

// -----

// Without a reference: 2^x of what fa4.exponents gave.
// CHECK-LABEL: llvm.func @halves(
// CHECK-COUNT-4: %[[LAST:.*]] = llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: llvm.return
fa4.kernel @halves(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
      %z = fa4.exponents %x minus %ref scale(0.125) : !fa4.fragment<64x8xf32, wgmma>, !fa4.rows<64xf32>
      %e = fa4.exp2 %z : !fa4.fragment<64x8xf32, wgmma>
      %p = fa4.row_sum %e : !fa4.fragment<64x8xf32, wgmma>
    }
  }
}

// -----

// All pairs by polynomial: the first pair of each row carries NaN on.
// CHECK-LABEL: llvm.func @polynomial(
// CHECK: %[[OFFSET0:.*]] = llvm.select
// CHECK: %[[OFFSET1:.*]] = llvm.select
// CHECK-NOT: ex2
// CHECK: llvm.intr.maxnum
// CHECK: llvm.call_intrinsic "llvm.nvvm.add.rm.ftz.f"
// CHECK-COUNT-3: llvm.intr.fma
// CHECK: llvm.shl %{{.*}} : i32
// CHECK: %[[NAN:.*]] = llvm.fsub %[[OFFSET0]], %[[OFFSET0]] : f32
// CHECK: llvm.fadd %{{.*}}, %[[NAN]] : f32
// CHECK: llvm.fsub %[[OFFSET1]], %[[OFFSET1]] : f32
fa4.kernel @polynomial(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
      %e = fa4.exp2 %x minus %ref scale(0.125) poly(4 of 4) : !fa4.fragment<64x8xf32, wgmma>, !fa4.rows<64xf32>
      %p = fa4.row_sum %e : !fa4.fragment<64x8xf32, wgmma>
    }
  }
}
