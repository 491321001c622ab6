// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A pair at a time.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[FACTOR:.*]] = llvm.mlir.constant(dense<5.000000e-01> : vector<2xf32>)
// CHECK-COUNT-2: llvm.fmul %{{.*}}, %[[FACTOR]] : vector<2xf32>
// CHECK-NOT: llvm.fmul
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x4xf32>
      %y = fa4.scale %x by 0.5 : !fa4.fragment<128x4xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
