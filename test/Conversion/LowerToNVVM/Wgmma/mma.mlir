// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// S = Q * K^T from shared memory. A descriptor has the swizzle, the strides and the slot's
// address in units of 16 bytes; a K step of 16 elements adds 2 units. The first step starts the
// sum, so nothing has to be zero before.
// CHECK-LABEL: llvm.func @scores(
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %{{.*}}[17408] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[SLOT]] : !llvm.ptr<3> to i32
// CHECK: %[[UNITS:.*]] = llvm.lshr %[[ADDRESS]], %{{.*}} : i32
// CHECK: %[[FIELD:.*]] = llvm.and %[[UNITS]], %{{c16383_i32.*}} : i32
// CHECK: %[[WIDE:.*]] = llvm.zext %[[FIELD]] : i32 to i64
// CHECK: %[[FIXED:.*]] = llvm.mlir.constant(4611686293305360384 : i64) : i64
// CHECK: %[[B:.*]] = llvm.or %[[WIDE]], %[[FIXED]] : i64
// CHECK: %[[A:.*]] = llvm.or %{{.*}}, %{{.*}} : i64
// CHECK: llvm.inline_asm has_side_effects
// CHECK-SAME: wgmma.fence.sync.aligned;{{.*}}setp.ne.b32 p, 0, 0;
// CHECK-SAME: add.s64 b, $5, 0;{{[^;]*}}add.s64 a, $4, 0;
// CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, a, b, p, 1, 1, 0, 0;
// CHECK-SAME: add.s64 b, $5, 2;{{[^;]*}}add.s64 a, $4, 2;
// CHECK-SAME: {$0, $1, $2, $3}, a, b, 1, 1, 1, 0, 0;
// CHECK-SAME: add.s64 b, $5, 4;{{[^;]*}}add.s64 a, $4, 4;
// CHECK-SAME: add.s64 b, $5, 6;{{[^;]*}}add.s64 a, $4, 6;
// CHECK-SAME: wgmma.commit_group.sync.aligned;
// CHECK-SAME: "=f,=f,=f,=f,l,l" %[[A]], %[[B]] : (i64, i64) -> !llvm.struct<(f32, f32, f32, f32)>
fa4.kernel @scores(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
    }
  }
}

// -----

// -Q for a negative scale.
// CHECK-LABEL: llvm.func @negated(
// CHECK: wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, a, b, p, -1, 1, 0, 0;
// CHECK-NOT: , 1, 1, 0, 0;
// CHECK: wgmma.wait_group
fa4.kernel @negated(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
      %s = fa4.warpgroup_mma %qs[%c0] * %ks[%c1] transpose_b negate_a : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 8x64xf16, smem> to !fa4.pending<64x8xf32>
      %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x8xf32>
    }
  }
}

// -----

// O + P * V: A is in four registers a K step, what is added to is in the registers of the result,
// and V is read across its rows.
// CHECK-LABEL: llvm.func @weights(
// CHECK: %[[P0:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P1:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P2:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[P3:.*]] = llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: llvm.getelementptr %{{.*}}[34816]
// CHECK: llvm.inline_asm has_side_effects
// CHECK-NOT: setp
// CHECK-SAME: add.s64 b, $68, 0;{{[^;]*}}wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0, $1,
// CHECK-SAME: $31}, {$64, $65, $66, $67}, b, 1, 1, 1, 1;
// CHECK-SAME: wgmma.commit_group.sync.aligned;
// CHECK-SAME: =f,0,1,2,
// CHECK-SAME: ,31,r,r,r,r,l" %[[ZERO]], %[[ZERO]],
// CHECK-SAME: %[[P0]], %[[P1]], %[[P2]], %[[P3]], %{{[0-9]+}} :
fa4.kernel @weights(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
      %o0 = fa4.fill 0.0 : !fa4.fragment<64x64xf32, wgmma>
      %d = fa4.warpgroup_mma %p * %vs[%c1] plus %o0 : !fa4.fragment<64x16xf16, wgmma> * !fa4.ring<2 x 16x64xf16, smem> plus !fa4.fragment<64x64xf32, wgmma> to !fa4.pending<64x64xf32>
      %y = fa4.warpgroup_wait pending(0) %d : !fa4.pending<64x64xf32>
    }
  }
}
