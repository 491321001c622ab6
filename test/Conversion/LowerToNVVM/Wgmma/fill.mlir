// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each register of a thread's part is the one constant.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[VALUE:.*]] = arith.constant 2.500000e+00 : f32
// CHECK: llvm.inline_asm {{.*}}m64n8k16{{.*}}"=f,=f,=f,=f,0,1,2,3,l,l" %[[VALUE]], %[[VALUE]], %[[VALUE]], %[[VALUE]],
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
      %z = fa4.fill 2.5 : !fa4.fragment<64x8xf32, wgmma>
      %s = fa4.warpgroup_mma %qs[%c0] * %ks[%c1] plus %z transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 8x64xf16, smem> plus !fa4.fragment<64x8xf32, wgmma> to !fa4.pending<64x8xf32>
      %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x8xf32>
    }
  }
}
