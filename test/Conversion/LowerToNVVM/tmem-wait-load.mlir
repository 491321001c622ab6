// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Uses behind the wait take what is loaded through copies behind it, made from the words
// themselves; a use before it takes the registers as they are. Pairs of f32 are packed,
// packed 16-bit words and a single column are copied.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[WORDS:.*]] = nvvm.tcgen05.ld %{{.*}} : vector<4xi32>
// CHECK: %[[EARLY:.*]] = llvm.shufflevector %{{.*}}, %{{.*}} [0, 1] : vector<4xf32>
// CHECK: %[[HALVES:.*]] = nvvm.tcgen05.ld %{{.*}} : vector<2xi32>
// CHECK: %[[HALF_0:.*]] = llvm.extractelement %[[HALVES]]
// CHECK: %[[HALF_1:.*]] = llvm.extractelement %[[HALVES]]
// CHECK: llvm.bitcast %[[EARLY]] : vector<2xf32> to vector<2xi32>
// CHECK: nvvm.tcgen05.st
// CHECK: nvvm.tcgen05.wait <load>
// CHECK: %[[W0:.*]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[W1:.*]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[W2:.*]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[W3:.*]] = llvm.extractelement %[[WORDS]]
// CHECK: %[[ALL:.*]] = llvm.inline_asm has_side_effects asm_dialect = att
// CHECK-SAME: "mov.b64 $0, {$4, $5};\0A\09mov.b64 $1, {$6, $7};\0A\09mov.b32 $2, $8;\0A\09mov.b32 $3, $9;",
// CHECK-SAME: "=l,=l,=r,=r,r,r,r,r,r,r" %[[W0]], %[[W1]], %[[W2]], %[[W3]], %[[HALF_0]], %[[HALF_1]]
// CHECK: llvm.extractvalue %[[ALL]][0]
// CHECK: llvm.extractvalue %[[ALL]][3]
// CHECK-NOT: llvm.bitcast %[[EARLY]]
// CHECK: nvvm.tcgen05.st
// A second wait has nothing more to cover.
// CHECK: nvvm.tcgen05.wait <load>
// CHECK-NOT: llvm.inline_asm {{.*}}mov.b64
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(256) : !fa4.ring<2 x 128x128xf32, tmem>
  %ps = fa4.alias %s column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x4xf32>
      %p = fa4.read_tile %ps[%stage] columns(8) : !fa4.ring<2 x 128x128xf16, tmem> to !fa4.fragment<128x4xf16>
      fa4.write_tile %x, %s[%stage] columns(0) : !fa4.fragment<128x4xf32>, !fa4.ring<2 x 128x128xf32, tmem>
      fa4.tmem_wait load
      fa4.write_tile %x, %s[%stage] columns(8) : !fa4.fragment<128x4xf32>, !fa4.ring<2 x 128x128xf32, tmem>
      fa4.write_tile %p, %ps[%stage] columns(32) : !fa4.fragment<128x4xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      fa4.tmem_wait load
      fa4.write_tile %x, %s[%stage] columns(16) : !fa4.fragment<128x4xf32>, !fa4.ring<2 x 128x128xf32, tmem>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
