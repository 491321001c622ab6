// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Columns are counted in elements of the ring and addressed in 32-bit columns; the
// warp's lanes come on top. A pair of f32 columns is one vector, two 16-bit ones an i32.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[IN_GROUP:.*]] = arith.andi %[[WARP]]
// CHECK: %[[LANE:.*]] = arith.shli %[[IN_GROUP]], %c21
// CHECK: scf.for
// CHECK: %[[SLOT:.*]] = arith.muli %{{.*}}, %c128_i32
// CHECK: %[[RING:.*]] = arith.addi %{{.*}}, %[[SLOT]] : i32
// CHECK: %[[COLUMN:.*]] = arith.addi %[[RING]], %c288_i32 : i32
// CHECK: %[[ADDRESS:.*]] = llvm.add %[[COLUMN]], %[[LANE]] : i32
// CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<6>
// CHECK: %[[WORDS:.*]] = nvvm.tcgen05.ld %[[POINTER]] {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<32xi32>
// CHECK-NEXT: %[[FLOATS:.*]] = llvm.bitcast %[[WORDS]] : vector<32xi32> to vector<32xf32>
// CHECK-NEXT: llvm.shufflevector %[[FLOATS]], %[[FLOATS]] [0, 1]
// CHECK-COUNT-14: llvm.shufflevector %[[FLOATS]], %[[FLOATS]]
// CHECK-NEXT: llvm.shufflevector %[[FLOATS]], %[[FLOATS]] [30, 31]
// CHECK: arith.addi %{{.*}}, %c382_i32
// CHECK: nvvm.tcgen05.ld {{.*}} : vector<2xi32>
// CHECK: arith.addi %{{.*}}, %c324_i32
// CHECK: %[[PACKED:.*]] = nvvm.tcgen05.ld {{.*}} : vector<2xi32>
// CHECK: llvm.extractelement %[[PACKED]][%{{.*}} : i32] : vector<2xi32>
// CHECK: llvm.extractelement %[[PACKED]][%{{.*}} : i32] : vector<2xi32>
// CHECK: arith.addi %{{.*}}, %c321_i32
// CHECK: nvvm.tcgen05.ld {{.*}} : i32
// CHECK-NOT: fa4.
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(256) : !fa4.ring<2 x 128x128xf32, tmem>
  %ps = fa4.alias %s column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      %y = fa4.read_tile %s[%stage] columns(126) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x2xf32>
      %p = fa4.read_tile %ps[%stage] columns(8) : !fa4.ring<2 x 128x128xf16, tmem> to !fa4.fragment<128x4xf16>
      %w = fa4.read_tile %ps[%stage] columns(2) : !fa4.ring<2 x 128x128xf16, tmem> to !fa4.fragment<128x2xf16>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
