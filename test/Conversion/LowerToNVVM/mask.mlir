// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// 32 columns at a time: a mask with as many ones as columns are visible.
// CHECK-LABEL: llvm.func @k(
// CHECK: nvvm.tcgen05.ld {{.*}} : vector<64xi32>
// CHECK: %[[FIRST:.*]] = llvm.mul %{{.*}}, %c128_i32{{.*}} : i32
// CHECK: %[[LIMIT:.*]] = llvm.sub %c256_i32{{.*}}, %[[FIRST]] : i32
// CHECK: %[[VISIBLE:.*]] = llvm.add %[[LIMIT]], %c-32_i32 : i32
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[HIDDEN:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[COUNT:.*]] = llvm.intr.smax(%[[VISIBLE]], %[[ZERO]])
// CHECK: %[[TAIL:.*]] = llvm.inline_asm has_side_effects {{.*}}"shl.b32 $0, $1, $2;", "=r,r,r" %[[ONES:.*]], %[[COUNT]] : (i32, i32) -> i32
// CHECK: %[[BITS:.*]] = llvm.xor %[[TAIL]], %[[ONES]] : i32
// CHECK: %[[BIT:.*]] = llvm.and %[[BITS]], %c1_i32{{.*}} : i32
// CHECK: %[[KEEP:.*]] = llvm.icmp "ne" %[[BIT]], %[[ZERO]] : i32
// CHECK: llvm.select %[[KEEP]], %{{.*}}, %[[HIDDEN]] : i1, f32
// CHECK-COUNT-30: llvm.select
// CHECK: llvm.and %[[BITS]], %c-2147483648_i32 : i32
// CHECK: llvm.add %[[LIMIT]], %c-64_i32 : i32
// CHECK: llvm.inline_asm {{.*}}"shl.b32
// CHECK-COUNT-32: llvm.select
// CHECK-NOT: llvm.select
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %j = fa4.first_kv %m
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x64xf32>
      %y = fa4.mask %x[%m, %stage, %j] columns(32) : !fa4.fragment<128x64xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

// A row sees all keys but the last Sq - 1 - position: nothing here leaves 32 bits.
// CHECK-LABEL: llvm.func @causal(
// CHECK: %[[THREAD:.*]] = arith.andi %{{.*}}, %c127_i32
// CHECK: nvvm.tcgen05.ld
// CHECK: %[[FIRST:.*]] = llvm.mul %{{.*}}, %c128_i32{{.*}} : i32
// CHECK: llvm.mul %{{.*}}, %c64_i32{{.*}} : i32
// CHECK: llvm.mul %{{.*}}, %c32_i32{{.*}} : i32
// CHECK: %[[IN_TILE:.*]] = llvm.udiv %[[THREAD]], %c4_i32{{.*}} : i32
// CHECK: %[[POSITION:.*]] = llvm.add %{{.*}}, %[[IN_TILE]] : i32
// CHECK: %[[LAST:.*]] = llvm.add %[[SQ:.*]], %c-1_i32{{.*}} : i32
// CHECK: %[[AFTER:.*]] = llvm.sub %[[LAST]], %[[POSITION]] : i32
// CHECK: %[[UNSEEN:.*]] = llvm.intr.smax(%[[AFTER]], %{{.*}})
// CHECK: %[[SEEN:.*]] = llvm.sub %{{.*}}, %[[UNSEEN]] : i32
// CHECK: %[[KEYS:.*]] = llvm.intr.smax(%[[SEEN]], %{{.*}})
// CHECK: llvm.sub %[[KEYS]], %[[FIRST]] : i32
fa4.kernel @causal(%q: memref<?x?x8x64xf16>, %k: memref<?x?x2x64xf16>,
               %v: memref<?x?x2x64xf16>, %o: memref<?x?x8x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) pack(4) scheduler(linear_persistent) causal {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %j = fa4.first_kv %m
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x2xf32>
      %y = fa4.mask %x[%m, %stage, %j] columns(0) : !fa4.fragment<128x2xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
