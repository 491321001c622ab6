// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A sum of zero chooses zero, whatever the product is.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[SUM:.*]] = llvm.load
// CHECK: %[[NOTHING:.*]] = llvm.fcmp "oeq" %[[SUM]], %{{.*}} : f32
// CHECK: nvvm.rcp.approx.ftz.f %[[SUM]] : f32
// CHECK: %[[ZEROS:.*]] = llvm.mlir.constant(dense<0.000000e+00> : vector<2xf32>)
// CHECK: %[[PRODUCT:.*]] = llvm.fmul %{{.*}} : vector<2xf32>
// CHECK: llvm.select %[[NOTHING]], %[[ZEROS]], %[[PRODUCT]] : i1, vector<2xf32>
// CHECK: llvm.fmul
// CHECK: llvm.select %[[NOTHING]]
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x4xf32>
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %y = fa4.normalize %x by %row : !fa4.fragment<128x4xf32>, !fa4.rows<128xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
