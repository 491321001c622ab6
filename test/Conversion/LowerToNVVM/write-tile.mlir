// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Packed pairs are stored as they are, f32 pairs as their bits.
// CHECK-LABEL: llvm.func @k(
// CHECK: nvvm.tcgen05.ld
// CHECK-COUNT-8: llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// CHECK: arith.addi %{{.*}}, %c80_i32
// CHECK: %[[TO:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<6>
// CHECK: nvvm.tcgen05.st %[[TO]], %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<8xi32>
// CHECK-COUNT-8: llvm.bitcast %{{.*}} : vector<2xf32> to vector<2xi32>
// CHECK: arith.addi %{{.*}}, %c16_i32
// CHECK: nvvm.tcgen05.st {{.*}} : vector<16xi32>
// CHECK-NOT: nvvm.tcgen05.wait
// CHECK-NOT: fa4.
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %ps = fa4.alias %s column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x16xf32>
      %y = fa4.convert %x : !fa4.fragment<128x16xf32> to !fa4.fragment<128x16xf16>
      fa4.write_tile %y, %ps[%stage] columns(32) : !fa4.fragment<128x16xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      fa4.write_tile %x, %s[%stage] columns(16) : !fa4.fragment<128x16xf32>, !fa4.ring<2 x 128x128xf32, tmem>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
