// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rows of 128 bytes, in which the 16-byte chunk c of row r lies at c ^ r % 8; the second row of a
// thread lies 8 rows further.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[P0:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P1:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P2:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P3:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[ROW:.*]] = llvm.or
// CHECK: %[[QUAD:.*]] = llvm.and %{{.*}}, %{{c3_i32.*}} : i32
// CHECK: %[[PHASE:.*]] = llvm.and %[[ROW]], %{{c7_i32.*}} : i32
// CHECK: %[[AT:.*]] = llvm.shl %[[ROW]], %{{c7_i32.*}} : i32
// CHECK: %[[CHUNK:.*]] = llvm.shl %[[PHASE]], %{{c4_i32.*}} : i32
// CHECK: %[[SWIZZLED:.*]] = llvm.or %[[AT]], %[[CHUNK]] : i32
// CHECK: %[[WORD:.*]] = llvm.shl %[[QUAD]], %{{c2_i32.*}} : i32
// CHECK: llvm.or %[[SWIZZLED]], %[[WORD]] : i32
// CHECK: llvm.xor %{{.*}}, %{{c32_i32.*}} : i32
// CHECK: arith.addi %{{.*}}, %{{c40960_i32.*}} : i32
// CHECK: llvm.store %[[P0]], %{{.*}} : i32, !llvm.ptr<3>
// CHECK: arith.addi %{{.*}}, %{{c41984_i32.*}} : i32
// CHECK: llvm.store %[[P1]], %{{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.xor %{{.*}}, %{{c48_i32.*}} : i32
// CHECK: llvm.store %[[P2]], %{{.*}} : i32, !llvm.ptr<3>
// CHECK: llvm.store %[[P3]], %{{.*}} : i32, !llvm.ptr<3>
// CHECK-NOT: llvm.store
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
              %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %ks = fa4.alloc "k" at(16384) : !fa4.ring<2 x 8x64xf16, smem>
  %vs = fa4.alloc "v" at(20480) : !fa4.ring<2 x 16x64xf16, smem>
  %out = fa4.alloc "out" at(32768) : !fa4.ring<2 x 64x64xf16, smem>
  fa4.cta_sync
  fa4.role @idle warps(0 to 4) regs(24) {
  }
  fa4.role @r warps(4 to 8) regs(240) {
    fa4.for_task (%b, %h, %m) {
      %s = fa4.warpgroup_mma %qs[%c0] * %vs[%c1] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 16x64xf16, smem> to !fa4.pending<64x16xf32>
      %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x16xf32>
      %p = fa4.convert %x : !fa4.fragment<64x16xf32, wgmma> to !fa4.fragment<64x16xf16, wgmma>
      fa4.write_tile %p, %out[%c1] columns(16) : !fa4.fragment<64x16xf16, wgmma>, !fa4.ring<2 x 64x64xf16, smem>
    }
  }
}
