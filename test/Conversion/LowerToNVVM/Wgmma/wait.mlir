// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The results come out of the wait, in the registers that the product has, so that no use can
// stand in front of it. Registers of A are in use until then, so the wait reads them.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[P0:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P1:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P2:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P3:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[O:.*]] = llvm.inline_asm {{.*}}m64n64k16
// CHECK: %[[O0:.*]] = llvm.extractvalue %[[O]][0]
// CHECK: %[[S:.*]] = llvm.inline_asm {{.*}}m64n16k16
// CHECK: %[[S0:.*]] = llvm.extractvalue %[[S]][0]
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 1;", "=f,
// CHECK-SAME: ,30,31,r,r,r,r" %[[O0]],
// CHECK-SAME: %[[P0]], %[[P1]], %[[P2]], %[[P3]] :
// CHECK: llvm.inline_asm has_side_effects {{.*}}"wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7" %[[S0]],
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
              %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %ks = fa4.alloc "k" at(16384) : !fa4.ring<2 x 8x64xf16, smem>
  %vs = fa4.alloc "v" at(32768) : !fa4.ring<2 x 16x64xf16, smem>
  fa4.cta_sync
  fa4.role @idle warps(0 to 4) regs(24) {
  }
  fa4.role @r warps(4 to 8) regs(240) {
    fa4.for_task (%b, %h, %m) {
      %s = fa4.warpgroup_mma %qs[%c0] * %vs[%c1] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 16x64xf16, smem> to !fa4.pending<64x16xf32>
      %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x16xf32>
      %p = fa4.convert %x : !fa4.fragment<64x16xf32, wgmma> to !fa4.fragment<64x16xf16, wgmma>
      %d = fa4.warpgroup_mma %p * %vs[%c1] : !fa4.fragment<64x16xf16, wgmma> * !fa4.ring<2 x 16x64xf16, smem> to !fa4.pending<64x64xf32>
      %t = fa4.warpgroup_mma %qs[%c0] * %vs[%c1] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 16x64xf16, smem> to !fa4.pending<64x16xf32>
      %y = fa4.warpgroup_wait pending(1) %d : !fa4.pending<64x64xf32>
      %z = fa4.warpgroup_wait pending(0) %t : !fa4.pending<64x16xf32>
    }
  }
}
