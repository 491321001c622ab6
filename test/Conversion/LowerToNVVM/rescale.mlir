// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Only the data path is conditional, on a vote that a NaN factor wins too. Every
// chunk is read before it is overwritten; one wait for all stores stands inside.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[FACTOR:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[NEEDED:.*]] = llvm.fcmp "une" %[[FACTOR]], %[[ONE]] : f32
// CHECK: %[[ANY:.*]] = nvvm.vote.sync any %c-1_i32{{.*}}, %[[NEEDED]] -> i1
// CHECK: scf.if %[[ANY]] {
// CHECK: arith.addi %{{.*}}, %c256_i32
// CHECK: %[[FIRST:.*]] = llvm.inttoptr
// CHECK: nvvm.tcgen05.ld %[[FIRST]] {{.*}} : vector<32xi32>
// CHECK: nvvm.tcgen05.wait <load>
// CHECK-COUNT-16: llvm.fmul %{{.*}} : vector<2xf32>
// CHECK: nvvm.tcgen05.st %[[FIRST]], %{{.*}} : vector<32xi32>
// CHECK: arith.addi %{{.*}}, %c288_i32
// CHECK: nvvm.tcgen05.ld
// CHECK: nvvm.tcgen05.wait <load>
// CHECK-COUNT-16: llvm.fmul %{{.*}} : vector<2xf32>
// CHECK: nvvm.tcgen05.st
// CHECK-NEXT: nvvm.tcgen05.wait <store>
// CHECK-NEXT: }
// CHECK-NOT: nvvm.tcgen05.ld
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  %acc = fa4.alloc "o" at(256) : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.rescale %acc[%stage] by %row chunk(32) : !fa4.ring<2 x 128x64xf32, tmem>, !fa4.rows<128xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
