// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The first block: its maximum is the reference, so a lone key weighs exactly 1,
// and there is no factor. Four chains of maxima that keep NaN.
// CHECK-LABEL: llvm.func @first(
// CHECK-COUNT-15: llvm.intr.maximum
// CHECK: %[[LARGEST:.*]] = llvm.fmul %{{.*}}, %{{.*}} : f32
// CHECK-NOT: llvm.call_intrinsic
// CHECK-NOT: llvm.fcmp
// CHECK: llvm.return
fa4.kernel @first(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x8xf32>
      %y = fa4.read_tile %s[%stage] columns(8) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x8xf32>
      %r, %f = fa4.row_max %x, %y scale(0.125) threshold(8.0) : !fa4.fragment<128x8xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

// The reference moves to the maximum, or stays while that is not much larger. The
// factor takes no special function.
// CHECK-LABEL: llvm.func @against(
// CHECK: %[[OLD:.*]] = llvm.load
// CHECK-COUNT-7: llvm.intr.maximum
// CHECK: %[[LARGEST:.*]] = llvm.fmul %{{.*}}, %{{.*}} : f32
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[THRESHOLD:.*]] = arith.constant 8.000000e+00 : f32
// CHECK: %[[LIMIT:.*]] = llvm.fadd %[[OLD]], %[[THRESHOLD]] : f32
// CHECK: %[[KEEP:.*]] = llvm.fcmp "ole" %[[LARGEST]], %[[LIMIT]] : f32
// CHECK: llvm.select %[[KEEP]], %[[OLD]], %[[LARGEST]] : i1, f32
// CHECK: %[[DIFFERENCE:.*]] = llvm.fsub %[[OLD]], %[[LARGEST]] : f32
// The factor takes no special function.
// CHECK: %[[X:.*]] = llvm.intr.maxnum(%[[DIFFERENCE]], %{{.*}})
// CHECK: llvm.fadd %[[X]], %{{.*}} : f32
// CHECK-COUNT-5: llvm.intr.fma
// CHECK: llvm.shl %{{.*}}, %c23_i32
// CHECK: %[[POWER:.*]] = llvm.bitcast %{{.*}} : i32 to f32
// CHECK: llvm.select %[[KEEP]], %[[ONE]], %[[POWER]] : i1, f32
// CHECK-NOT: ex2
// CHECK-NOT: ex2
fa4.kernel @against(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x8xf32>
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %r, %f = fa4.row_max %x against %row scale(0.125) threshold(8.0) : !fa4.fragment<128x8xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
