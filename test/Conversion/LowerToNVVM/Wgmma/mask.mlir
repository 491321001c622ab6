// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The visible keys of a row are a prefix: a bit of a mask for each of the thread's columns, two of
// every eight, chooses between the logit and -inf.
// CHECK-LABEL: llvm.func @tail(
// CHECK: llvm.inline_asm {{.*}}wgmma.wait_group
// CHECK: %[[X0:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK: %[[X1:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK: %[[X2:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK: %[[X3:.*]] = llvm.extractvalue %{{.*}}[3]
// CHECK: %[[HIDDEN:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[QUAD:.*]] = llvm.and %{{.*}}, %{{c3_i32.*}} : i32
// CHECK: llvm.shl %[[QUAD]], %{{c1_i32.*}} : i32
// CHECK: %[[REST:.*]] = llvm.intr.smax
// CHECK: %[[WHOLE:.*]] = llvm.lshr %[[REST]], %{{c2_i32.*}} : i32
// CHECK: llvm.and %[[REST]], %{{c7_i32.*}} : i32
// CHECK: llvm.intr.umin
// CHECK: %[[ONES:.*]] = llvm.inline_asm {{.*}}"shl.b32 $0, $1, $2;"
// CHECK: %[[MASK0:.*]] = llvm.xor %[[ONES]],
// CHECK: %[[MASK1:.*]] = llvm.xor
// CHECK: llvm.and %[[MASK0]], %{{c1_i32.*}} : i32
// CHECK: llvm.select %{{.*}}, %[[X0]], %[[HIDDEN]] : i1, f32
// CHECK: llvm.and %[[MASK0]], %{{c2_i32.*}} : i32
// CHECK: llvm.select %{{.*}}, %[[X1]], %[[HIDDEN]] : i1, f32
// CHECK: llvm.and %[[MASK1]], %{{c1_i32.*}} : i32
// CHECK: llvm.select %{{.*}}, %[[X2]], %[[HIDDEN]] : i1, f32
// CHECK: llvm.and %[[MASK1]], %{{c2_i32.*}} : i32
// CHECK: llvm.select %{{.*}}, %[[X3]], %[[HIDDEN]] : i1, f32
fa4.kernel @tail(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
      %first = fa4.first_kv %m
      %y = fa4.mask %x[%m, %c1, %first] columns(0) : !fa4.fragment<64x8xf32, wgmma>
    }
  }
}

// -----

// With a causal mask the thread's rows see keys of their own: row l / 4 of the warp's 16, and 8 more.
// CHECK-LABEL: llvm.func @causal(
// CHECK: wgmma.wait_group
// CHECK: %[[WARP:.*]] = llvm.and %{{.*}}, %{{c48_i32.*}} : i32
// CHECK: %[[LANE:.*]] = llvm.and %{{.*}}, %{{c7_i32.*}} : i32
// CHECK: %[[ROW:.*]] = llvm.or %[[WARP]], %[[LANE]] : i32
// CHECK: llvm.intr.smax
// CHECK: %[[ROW1:.*]] = llvm.or
// CHECK: llvm.add %[[ROW1]], %{{c8_i32.*}} : i32
// CHECK: llvm.intr.smax
fa4.kernel @causal(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
              %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) causal {
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
      %first = fa4.first_kv %m
      %y = fa4.mask %x[%m, %c1, %first] columns(0) : !fa4.fragment<64x8xf32, wgmma>
    }
  }
}
