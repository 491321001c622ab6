// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Of each of its two rows a thread has two of eight columns; the four threads of a row exchange.
// In a first block the maximum is the reference, and there is no factor.
// CHECK-LABEL: llvm.func @first(
// CHECK: llvm.inline_asm {{.*}}wgmma.wait_group
// CHECK: %[[X0:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK: %[[X1:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK: %[[X2:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK: %[[X3:.*]] = llvm.extractvalue %{{.*}}[3]
// CHECK: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: %[[OWN:.*]] = llvm.intr.maximum(%[[X0]], %[[X1]])
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[BESIDE:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[OWN]], %[[ONE]], %{{.*}} : f32 -> f32
// CHECK: %[[TWO_THREADS:.*]] = llvm.intr.maximum(%[[OWN]], %[[BESIDE]])
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: %[[OTHERS:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[TWO_THREADS]], %[[TWO]], %{{.*}} : f32 -> f32
// CHECK: %[[LARGEST:.*]] = llvm.intr.maximum(%[[TWO_THREADS]], %[[OTHERS]])
// CHECK: %[[SCALED:.*]] = llvm.fmul %[[LARGEST]], %[[SCALE]] : f32
// CHECK: llvm.intr.maximum(%[[X2]], %[[X3]])
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK-NOT: llvm.fcmp
// CHECK: llvm.return
fa4.kernel @first(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
    }
  }
}

// -----

// The reference moves to the maximum, or stays while that is not much larger.
// CHECK-LABEL: llvm.func @against(
// CHECK: llvm.inline_asm {{.*}}wgmma.wait_group
// CHECK: %[[X0:.*]] = llvm.extractvalue %{{.*}}[0]
// CHECK: %[[X1:.*]] = llvm.extractvalue %{{.*}}[1]
// CHECK: %[[X2:.*]] = llvm.extractvalue %{{.*}}[2]
// CHECK: %[[X3:.*]] = llvm.extractvalue %{{.*}}[3]
// CHECK: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: %[[OWN:.*]] = llvm.intr.maximum(%[[X0]], %[[X1]])
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[BESIDE:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[OWN]], %[[ONE]], %{{.*}} : f32 -> f32
// CHECK: %[[TWO_THREADS:.*]] = llvm.intr.maximum(%[[OWN]], %[[BESIDE]])
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: %[[OTHERS:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[TWO_THREADS]], %[[TWO]], %{{.*}} : f32 -> f32
// CHECK: %[[LARGEST:.*]] = llvm.intr.maximum(%[[TWO_THREADS]], %[[OTHERS]])
// CHECK: %[[SCALED:.*]] = llvm.fmul %[[LARGEST]], %[[SCALE]] : f32
// CHECK: llvm.intr.maximum(%[[X2]], %[[X3]])
// CHECK: llvm.fmul
// CHECK: llvm.intr.maximum(%[[X0]], %[[X1]])
// CHECK: %[[NEW:.*]] = llvm.fmul
// CHECK: %[[THRESHOLD:.*]] = arith.constant 8.000000e+00 : f32
// CHECK: %[[LIMIT:.*]] = llvm.fadd %[[SCALED]], %[[THRESHOLD]] : f32
// CHECK: %[[KEEP:.*]] = llvm.fcmp "ole" %[[NEW]], %[[LIMIT]] : f32
// CHECK: llvm.select %[[KEEP]], %[[SCALED]], %[[NEW]] : i1, f32
fa4.kernel @against(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
    }
  }
}

// -----

// Warps vote whether a row of theirs moves; where none does, both keep what they have.
// CHECK-LABEL: llvm.func @vote(
// CHECK: %[[LIMIT:.*]] = llvm.fadd
// CHECK: %[[MOVES:.*]] = llvm.fcmp "ugt" %[[LARGEST:.*]], %[[LIMIT]] : f32
// CHECK: %[[OTHER:.*]] = llvm.fcmp "ugt"
// CHECK: %[[EITHER:.*]] = llvm.or %[[MOVES]], %[[OTHER]] : i1
// CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[EITHER]] -> i1
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: scf.if %[[ANY]] -> (f32, f32, f32, f32) {
// CHECK: llvm.fcmp "ole" %[[LARGEST]]
// CHECK: llvm.select
// CHECK: } else {
// CHECK-NEXT: scf.yield %{{.*}}, %[[ONE]], %{{.*}}, %[[ONE]] : f32, f32, f32, f32
fa4.kernel @vote(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
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
      %next, %f = fa4.row_max %x against %ref scale(0.125) threshold(8.0) vote : !fa4.fragment<64x8xf32, wgmma>
    }
  }
}
