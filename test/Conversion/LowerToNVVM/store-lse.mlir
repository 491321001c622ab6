// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The sum decides on -inf; rows past the end of Q store nothing; one 64-bit address.
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[LSE:[a-z0-9]+]]: !llvm.ptr<1>)
// CHECK: %[[REFERENCE:.*]] = llvm.load
// CHECK: %[[SUM:.*]] = llvm.load
// CHECK: %[[POSITION:.*]] = llvm.add
// CHECK: %[[POSITION:.*]] = llvm.add
// CHECK: %[[EXISTS:.*]] = llvm.icmp "ult" %[[POSITION]], %c256_i32{{.*}} : i32
// CHECK: %[[LOG2:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%[[SUM]])
// CHECK: %[[BINARY:.*]] = llvm.fadd %[[REFERENCE]], %[[LOG2]] : f32
// CHECK: %[[NATURAL:.*]] = llvm.fmul %[[BINARY]], %{{.*}} : f32
// CHECK: %[[NOTHING:.*]] = llvm.fcmp "oeq" %[[SUM]], %{{.*}} : f32
// CHECK: %[[INFINITE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[VALUE:.*]] = llvm.select %[[NOTHING]], %[[INFINITE]], %[[NATURAL]] : i1, f32
// CHECK: scf.if %[[EXISTS]] {
// CHECK: %[[TO:.*]] = llvm.getelementptr %[[LSE]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
// CHECK: llvm.store %[[VALUE]], %[[TO]] : f32, !llvm.ptr<1>
// CHECK-NEXT: }
// CHECK-NEXT: %[[ALL:.*]] = arith.constant -1 : i32
// CHECK-NEXT: nvvm.bar.warp.sync %[[ALL]] : i32
// CHECK-NOT: llvm.store
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>, %lse: memref<1x2x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %sum = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.store_lse %row, %sum to %lse[%b, %h, %m, %stage] : !fa4.rows<128xf32>, memref<1x2x256xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

// Four heads share a tile: row r is position r / 4 of head r % 4.
// CHECK-LABEL: llvm.func @packed(
// CHECK: %[[THREAD:.*]] = arith.andi %{{.*}}, %c127_i32
// CHECK: scf.for
// CHECK: llvm.mul %{{.*}}, %c64_i32{{.*}} : i32
// CHECK: llvm.mul %{{.*}}, %c32_i32{{.*}} : i32
// CHECK: llvm.udiv %[[THREAD]], %c4_i32{{.*}} : i32
// CHECK: scf.if
// CHECK: %[[IN_PACK:.*]] = llvm.urem %[[THREAD]], %[[FOUR:.*]] : i32
// CHECK: %[[FIRST:.*]] = llvm.mul %{{.*}}, %[[FOUR]] : i32
// CHECK: %[[HEAD:.*]] = llvm.add %[[FIRST]], %[[IN_PACK]] : i32
// CHECK: llvm.zext %[[HEAD]] : i32 to i64
fa4.kernel @packed(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>, %lse: memref<?x8x?xf32>)
    target(#fa4.target<sm_100a>) warps(4) pack(4) scheduler(linear_persistent) {
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %sum = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.store_lse %row, %sum to %lse[%b, %h, %m, %stage] : !fa4.rows<128xf32>, memref<?x8x?xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
