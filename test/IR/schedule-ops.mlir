// RUN: fa4-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: fa4-opt %s --allow-unregistered-dialect | fa4-opt --allow-unregistered-dialect | FileCheck %s
// RUN: fa4-opt %s --allow-unregistered-dialect --mlir-print-op-generic | fa4-opt --allow-unregistered-dialect | FileCheck %s
// RUN: fa4-opt %s --allow-unregistered-dialect --emit-bytecode | fa4-opt --allow-unregistered-dialect | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every op of the schedule level, with each optional part present and absent.

// CHECK-LABEL: fa4.kernel @optional_parts(
// CHECK-SAME: %q: memref<?x?x8x64xbf16>, %k: memref<?x?x4x64xbf16>, %v: memref<?x?x4x64xbf16>, %o: memref<?x?x8x64xbf16>)
// CHECK-SAME: target(#fa4.target<sm_100a, sms = 132, smem = 200000>) warps(8) stages(1) tile_keys(64) pack(2) scheduler(longest_first) causal smem(4096) attributes {note = "kept"} {
fa4.kernel @optional_parts(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x4x64xbf16>, %v: memref<?x?x4x64xbf16>, %o: memref<?x?x8x64xbf16>)
    target(#fa4.target<sm_100a, sms = 132, smem = 200000>) warps(8) stages(1) tile_keys(64) pack(2) scheduler(longest_first) causal smem(4096) attributes {note = "kept"} {
  %c0 = arith.constant 0 : index
  %c0_i32 = arith.constant 0 : i32
  // A ring's name is the value's, but for the names that arguments have.
  // CHECK: %o_tmem = fa4.alloc "o" at(64) : !fa4.ring<1 x 128x64xf32, tmem>
  %o_acc = fa4.alloc "o" at(64) : !fa4.ring<1 x 128x64xf32, tmem>
  // CHECK: %q_smem = fa4.alloc "q" : !fa4.ring<1 x 128x64xbf16, smem>
  %q_ring = fa4.alloc "q" : !fa4.ring<1 x 128x64xbf16, smem>
  // CHECK: %kv_ring = fa4.alloc "kv ring" {hot} : !fa4.ring<2 x 64x64xbf16, smem>
  %kv = fa4.alloc "kv ring" {hot} : !fa4.ring<2 x 64x64xbf16, smem>
  // CHECK: %mail = fa4.alloc "mail" at(16) : !fa4.ring<1 x 128xf32, smem>
  %mail = fa4.alloc "mail" at(16) : !fa4.ring<1 x 128xf32, smem>
  // CHECK: %alias_tmem = fa4.alias %o_tmem column(32) : !fa4.ring<1 x 128x64xf32, tmem> to !fa4.ring<1 x 128x32xf32, tmem>
  %half = fa4.alias %o_acc column(32) : !fa4.ring<1 x 128x64xf32, tmem> to !fa4.ring<1 x 128x32xf32, tmem>
  // CHECK: %full = fa4.barrier "full" slots(2) arrives(@work bytes 8192) at(8)
  %full = fa4.barrier "full" slots(2) arrives(@work bytes 8192) at(8)
  // CHECK: %free = fa4.barrier "free" slots(1) arrives(@work threads 128, @other commit) initially_free
  %free = fa4.barrier "free" slots(1) arrives(@work threads 128, @other commit) initially_free
  // CHECK: %pair = fa4.barrier "pair" named slots(2) per_warp arrives(@work threads 32, @other threads 32) at(1)
  %pair = fa4.barrier "pair" named slots(2) per_warp arrives(@work threads 32, @other threads 32) at(1)
  // CHECK: fa4.init_barriers warp(0)
  fa4.init_barriers warp(0)
  // CHECK: fa4.tmem_acquire warp(1) columns(128) at(32)
  fa4.tmem_acquire warp(1) columns(128) at(32)
  // CHECK: fa4.cta_sync
  fa4.cta_sync
  // CHECK: fa4.role @work(%stage) warps(0 to 4) regs(200) attributes {busy} {
  fa4.role @work(%stage) warps(0 to 4) regs(200) attributes {busy} {
    // CHECK: %phase = fa4.for_task (%b, %h, %m) iter_args(%phase_{{[0-9]+}} = %c0_i32) -> (i32) {
    %x = fa4.for_task (%b, %h, %m) iter_args(%p = %c0_i32) -> (i32) {
      // CHECK: %first = fa4.first_kv %m
      %j0 = fa4.first_kv %m
      // CHECK: %slot = fa4.next %kv_ring : !fa4.ring<2 x 64x64xbf16, smem>
      %slot = fa4.next %kv : !fa4.ring<2 x 64x64xbf16, smem>
      // CHECK: fa4.load %k[%b, %h, %first] to %kv_ring[%slot] signals %full[%slot] : memref<?x?x4x64xbf16>, !fa4.ring<2 x 64x64xbf16, smem>
      fa4.load %k[%b, %h, %j0] to %kv[%slot] signals %full[%slot] : memref<?x?x4x64xbf16>, !fa4.ring<2 x 64x64xbf16, smem>
      // CHECK: fa4.wait %full[%slot] parity(%phase_{{[0-9]+}})
      fa4.wait %full[%slot] parity(%p)
      // CHECK: fa4.mma %q_smem[%c0] * %kv_ring[%slot] into %o_tmem[%c0] transpose_b negate_a :
      fa4.mma %q_ring[%c0] * %kv[%slot] into %o_acc[%c0] transpose_b negate_a : !fa4.ring<1 x 128x64xbf16, smem> * !fa4.ring<2 x 64x64xbf16, smem> into !fa4.ring<1 x 128x64xf32, tmem>
      // CHECK: fa4.for_kv %j in all(%m) {
      fa4.for_kv %j in all(%m) {
        // CHECK: fa4.arrive %free[%stage]
        fa4.arrive %free[%stage]
      }
      // CHECK: fa4.for_kv %j in rest_masked(%m) attributes {masked} {
      fa4.for_kv %j in rest_masked(%m) attributes {masked} {
      }
      // CHECK: fa4.for_kv %j in rest_unmasked(%m) {
      fa4.for_kv %j in rest_unmasked(%m) {
      }
      // CHECK: %x = fa4.read_tile %o_tmem[%c0] columns(32) : !fa4.ring<1 x 128x64xf32, tmem> to !fa4.fragment<128x32xf32>
      %f = fa4.read_tile %o_acc[%c0] columns(32) : !fa4.ring<1 x 128x64xf32, tmem> to !fa4.fragment<128x32xf32>
      // CHECK: fa4.tmem_wait load
      fa4.tmem_wait load
      // CHECK: fa4.scale %x by 0.000000e+00 : !fa4.fragment<128x32xf32>
      %g = fa4.scale %f by 0.0 : !fa4.fragment<128x32xf32>
      // CHECK: fa4.mask %{{.*}}[%m, %stage, %first] columns(32) : !fa4.fragment<128x32xf32>
      %masked = fa4.mask %g[%m, %stage, %j0] columns(32) : !fa4.fragment<128x32xf32>
      // CHECK: %ref, %factor = fa4.row_max %{{.*}} scale(5.000000e-01) threshold(8.000000e+00) : !fa4.fragment<128x32xf32>
      %ref, %factor = fa4.row_max %masked scale(0.5) threshold(8.0) : !fa4.fragment<128x32xf32>
      // CHECK: fa4.row_max %{{.*}} against %ref scale(5.000000e-01) threshold(0.000000e+00) : !fa4.fragment<128x32xf32>
      %ref2, %factor2 = fa4.row_max %masked against %ref scale(0.5) threshold(0.0) : !fa4.fragment<128x32xf32>
      // CHECK: %e = fa4.exp2 %{{.*}} minus %ref scale(5.000000e-01) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %e = fa4.exp2 %masked minus %ref scale(0.5) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      // CHECK: fa4.exp2 %{{.*}} minus %ref scale(5.000000e-01) poly(2 of 8) :
      %e2 = fa4.exp2 %masked minus %ref scale(0.5) poly(2 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      // CHECK: fa4.exp2 %{{.*}} minus %ref scale(5.000000e-01) poly(0 of 8) :
      %e3 = fa4.exp2 %masked minus %ref scale(0.5) poly(0 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      // CHECK: %sum = fa4.row_sum %e, %{{.*}} : !fa4.fragment<128x32xf32>
      %sum = fa4.row_sum %e, %e2 : !fa4.fragment<128x32xf32>
      // CHECK: fa4.row_sum %{{.*}} plus %sum times %factor : !fa4.fragment<128x32xf32>
      %sum2 = fa4.row_sum %e3 plus %sum times %factor : !fa4.fragment<128x32xf32>
      // CHECK: %p = fa4.convert %e : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xbf16>
      %c = fa4.convert %e : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xbf16>
      // CHECK: %y = fa4.normalize %e by %sum : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %y = fa4.normalize %e by %sum : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      // CHECK: fa4.write_tile %p, %q_smem[%c0] columns(32) : !fa4.fragment<128x32xbf16>, !fa4.ring<1 x 128x64xbf16, smem>
      fa4.write_tile %c, %q_ring[%c0] columns(32) : !fa4.fragment<128x32xbf16>, !fa4.ring<1 x 128x64xbf16, smem>
      // CHECK: fa4.tmem_wait store
      fa4.tmem_wait store
      // CHECK: fa4.fence async_shared
      fa4.fence async_shared
      // CHECK: fa4.publish %factor to %mail[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
      fa4.publish %factor to %mail[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
      // CHECK: %row = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
      %row = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
      // CHECK: fa4.rescale %o_tmem[%c0] by %row chunk(16) : !fa4.ring<1 x 128x64xf32, tmem>, !fa4.rows<128xf32>
      fa4.rescale %o_acc[%c0] by %row chunk(16) : !fa4.ring<1 x 128x64xf32, tmem>, !fa4.rows<128xf32>
      // CHECK: fa4.store %q_smem[%c0] to %o[%b, %h, %m, %c0] : !fa4.ring<1 x 128x64xbf16, smem>, memref<?x?x8x64xbf16>
      fa4.store %q_ring[%c0] to %o[%b, %h, %m, %c0] : !fa4.ring<1 x 128x64xbf16, smem>, memref<?x?x8x64xbf16>
      // CHECK: fa4.store_wait pending(0)
      fa4.store_wait pending(0)
      // CHECK: fa4.yield %phase_{{[0-9]+}} : i32
      fa4.yield %p : i32
    }
  }
  // CHECK: fa4.role @other warps(4 to 8) regs(48) {
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.wait %pair[%c0]
  }
  // CHECK: fa4.tmem_release warp(0)
  fa4.tmem_release warp(0)
}

// CHECK-LABEL: fa4.kernel @with_lse(
// CHECK-SAME: %lse: memref<?x?x?xf32>)
fa4.kernel @with_lse(%q: memref<?x?x?x128xf16>, %k: memref<?x?x?x128xf16>, %v: memref<?x?x?x128xf16>, %o: memref<?x?x?x128xf16>, %lse: memref<?x?x?xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @all warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %rows = "test.rows"() : () -> !fa4.rows<128xf32>
      // CHECK: fa4.store_lse %{{.*}}, %{{.*}} to %lse[%b, %h, %m, %c0] : !fa4.rows<128xf32>, memref<?x?x?xf32>
      fa4.store_lse %rows, %rows to %lse[%b, %h, %m, %c0] : !fa4.rows<128xf32>, memref<?x?x?xf32>
    }
  }
}

// CHECK-LABEL: fa4.kernel @without_roles(
fa4.kernel @without_roles(%q: memref<1x1x1x128xf16>, %k: memref<1x1x1x128xf16>, %v: memref<1x1x1x128xf16>, %o: memref<1x1x1x128xf16>)
    target(#fa4.target<sm_90a>) warps(4) scheduler(linear_persistent) {
}

// CHECK-LABEL: func.func @launch(
func.func @launch(%q: memref<1x1x1x128xf16>, %k: memref<1x1x1x128xf16>, %v: memref<1x1x1x128xf16>, %o: memref<1x1x1x128xf16>) {
  // CHECK: fa4.launch @without_roles(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : memref<1x1x1x128xf16>, memref<1x1x1x128xf16>, memref<1x1x1x128xf16>, memref<1x1x1x128xf16>
  fa4.launch @without_roles(%q, %k, %v, %o) : memref<1x1x1x128xf16>, memref<1x1x1x128xf16>, memref<1x1x1x128xf16>, memref<1x1x1x128xf16>
  return
}

// CHECK-LABEL: func.func private @types(
// CHECK-SAME: !fa4.fragment<64x128xf32, wgmma>, !fa4.fragment<128x16xf16>, !fa4.ring<3 x 64x128xbf16, rmem>, !fa4.barrier
func.func private @types(!fa4.fragment<64x128xf32, wgmma>, !fa4.fragment<128x16xf16, row_per_thread>, !fa4.ring<3 x 64x128xbf16, rmem>, !fa4.barrier)

// CHECK-LABEL: func.func private @attributes()
// CHECK-SAME: arrival = #fa4.arrival<@mma commit>
// CHECK-SAME: target = #fa4.target<sm_90a, sms = 10, l2 = 5, smem = 2048, tmem = 512, registers = 4096, mma = tcgen05>
func.func private @attributes() attributes {
  arrival = #fa4.arrival<@mma commit>,
  target = #fa4.target<"sm_90a", mma = tcgen05, registers = 4096, tmem = 512, smem = 2048, l2 = 5, sms = 10>
}
