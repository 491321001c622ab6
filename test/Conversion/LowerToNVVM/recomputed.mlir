// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a thread can compute anew does not live in registers across roles and tasks.
// A task decodes sizes that LLVM cannot see through, so that nothing derived from
// them, a reciprocal for a division say, moves out of the loop; a K/V loop does the
// same in its task; and the warp that gives the tensor memory back asks again who it is.
// CHECK-LABEL: llvm.func @k(
// CHECK: nvvm.tcgen05.alloc
// CHECK: scf.for
// CHECK: %[[M_BLOCKS:.*]] = llvm.inline_asm has_side_effects {{.*}}, "=r,r" %{{.*}} : (i32) -> i32
// CHECK: arith.remui %{{.*}}, %[[M_BLOCKS]] : i32
// CHECK: arith.divui %{{.*}}, %[[M_BLOCKS]] : i32
// CHECK: %[[KEYS:.*]] = llvm.inline_asm has_side_effects {{.*}}, "=r,r" %{{.*}} : (i32) -> i32
// CHECK: arith.addi %[[KEYS]], %{{.*}} : i32
// CHECK: scf.for
// CHECK: nvvm.barrier
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
// CHECK: %[[OWN:.*]] = arith.shrui %[[THREAD]], %{{.*}} : i32
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[OWN]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]], %{{.*}} : i32
// CHECK: scf.if %[[FIRST]] {
// CHECK-NOT: scf.if
// CHECK: nvvm.tcgen05.dealloc
fa4.kernel @k(%q: memref<?x?x2x64xf16>, %k: memref<?x?x2x64xf16>,
              %v: memref<?x?x2x64xf16>, %o: memref<?x?x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      fa4.for_kv %j in all(%m) {
        %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
        fa4.rescale %s[%c0] by %row chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
      }
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
