// RUN: fa4-opt %s | FileCheck %s
// RUN: fa4-opt %s | fa4-opt | FileCheck %s
// RUN: fa4-opt %s --mlir-print-op-generic | fa4-opt | FileCheck %s
// RUN: fa4-opt %s --emit-bytecode | fa4-opt | FileCheck %s
// RUN: fa4-opt %s -o %t.first && fa4-opt %t.first -o %t.second && diff %t.first %t.second
// RUN: fa4-opt %s --mlir-print-op-generic | fa4-opt -o %t.generic && diff %t.first %t.generic
// RUN: fa4-opt %s --emit-bytecode | fa4-opt -o %t.bytecode && diff %t.first %t.bytecode

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The whole non-causal schedule as one would write it by hand: every way of
// printing it reads back as the same text.

// CHECK-LABEL: fa4.kernel @attention(
// CHECK-SAME: %q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>
// CHECK-SAME: target(#fa4.target<sm_100a>) warps(16) scheduler(linear_persistent) {
// CHECK: %q_smem = fa4.alloc "q" : !fa4.ring<2 x 128x128xf16, smem>
// CHECK: %p_tmem = fa4.alias %s column(64)
// CHECK: fa4.role @softmax(%stage) warps(0 to 8) regs(200) {
// CHECK: fa4.for_task (%b, %h, %m) {
// CHECK: fa4.tmem_wait load
// CHECK: %last:2 = fa4.for_kv %j in rest(%m)
// CHECK: fa4.role @correction warps(8 to 12) regs(64) {
// CHECK: fa4.fence async_shared
// CHECK: fa4.role @mma warps(12 to 13) regs(48) {
// CHECK: %slot = fa4.next %kv
// CHECK: accumulate(%flag_{{[0-9]+}}) k(0 to 96)
// CHECK: fa4.role @load warps(13 to 14) regs(48) {
// CHECK: fa4.role @store warps(14 to 15) regs(48) {
// CHECK: fa4.role @idle warps(15 to 16) regs(48) {
// CHECK: fa4.tmem_release warp(0)

fa4.kernel @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>, %lse: memref<1x8x1024xf32>)
    target(#fa4.target<sm_100a>) warps(16) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %true = arith.constant true

  %q_smem = fa4.alloc "q" : !fa4.ring<2 x 128x128xf16, smem>
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %o_smem = fa4.alloc "o_staging" : !fa4.ring<2 x 128x128xf16, smem>
  %mail_factor = fa4.alloc "mail_factor" : !fa4.ring<2 x 128xf32, smem>
  %mail_ref = fa4.alloc "mail_reference" : !fa4.ring<2 x 128xf32, smem>
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
  %o_acc = fa4.alloc "o" : !fa4.ring<2 x 128x128xf32, tmem>
  %p = fa4.alias %s column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>

  %q_full = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768)
  %q_empty = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free
  %kv_full = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768)
  %kv_empty = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free
  %s_ready = fa4.barrier "s_ready" slots(2) arrives(@mma commit)
  %p_o = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128)
  %p_rest = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128)
  %o_ready = fa4.barrier "o_ready" slots(2) arrives(@mma commit)
  %stats = fa4.barrier "stats" named slots(2) per_warp arrives(@softmax threads 32, @correction threads 32)
  %stats_empty = fa4.barrier "stats_empty" slots(2) arrives(@correction threads 128)
  %o_full = fa4.barrier "o_full" slots(2) arrives(@correction threads 128)
  %o_empty = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free

  fa4.init_barriers warp(0)
  fa4.tmem_acquire warp(12)
  fa4.cta_sync

  fa4.role @softmax(%stage) warps(0 to 8) regs(200) {
    fa4.for_task (%b, %h, %m) {
      %j0 = fa4.first_kv %m
      fa4.wait %s_ready[%stage]
      %xf0 = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      %xf1 = fa4.read_tile %s[%stage] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      %xf2 = fa4.read_tile %s[%stage] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      %xf3 = fa4.read_tile %s[%stage] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %ref1, %factor1 = fa4.row_max %xf0, %xf1, %xf2, %xf3 scale(0.127517432) threshold(8.0) : !fa4.fragment<128x32xf32>
      fa4.publish %factor1 to %mail_factor[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
      fa4.arrive %stats[%stage]
      %ef0 = fa4.exp2 %xf0 minus %ref1 scale(0.127517432) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %pf0 = fa4.convert %ef0 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %pf0, %p[%stage] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      %ef1 = fa4.exp2 %xf1 minus %ref1 scale(0.127517432) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %pf1 = fa4.convert %ef1 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %pf1, %p[%stage] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      %ef2 = fa4.exp2 %xf2 minus %ref1 scale(0.127517432) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %pf2 = fa4.convert %ef2 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %pf2, %p[%stage] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      fa4.tmem_wait store
      fa4.arrive %p_o[%stage]
      %ef3 = fa4.exp2 %xf3 minus %ref1 scale(0.127517432) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %pf3 = fa4.convert %ef3 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %pf3, %p[%stage] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      fa4.tmem_wait store
      fa4.arrive %p_rest[%stage]
      fa4.wait %stats_empty[%stage]
      %sum1 = fa4.row_sum %ef0, %ef1, %ef2, %ef3 : !fa4.fragment<128x32xf32>
      %last:2 = fa4.for_kv %j in rest(%m) iter_args(%r = %ref1, %l = %sum1) -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>) {
        fa4.wait %s_ready[%stage]
        %x0 = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        %x1 = fa4.read_tile %s[%stage] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        %x2 = fa4.read_tile %s[%stage] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        %x3 = fa4.read_tile %s[%stage] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        fa4.tmem_wait load
        %ref, %factor = fa4.row_max %x0, %x1, %x2, %x3 against %r scale(0.127517432) threshold(8.0) : !fa4.fragment<128x32xf32>
        fa4.publish %factor to %mail_factor[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
        fa4.arrive %stats[%stage]
        %e0 = fa4.exp2 %x0 minus %ref scale(0.127517432) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p0 = fa4.convert %e0 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p0, %p[%stage] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        %e1 = fa4.exp2 %x1 minus %ref scale(0.127517432) poly(2 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p1 = fa4.convert %e1 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p1, %p[%stage] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        %e2 = fa4.exp2 %x2 minus %ref scale(0.127517432) poly(2 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p2 = fa4.convert %e2 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p2, %p[%stage] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        fa4.tmem_wait store
        fa4.arrive %p_o[%stage]
        %e3 = fa4.exp2 %x3 minus %ref scale(0.127517432) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p3 = fa4.convert %e3 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p3, %p[%stage] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        fa4.tmem_wait store
        fa4.arrive %p_rest[%stage]
        fa4.wait %stats_empty[%stage]
        %sum = fa4.row_sum %e0, %e1, %e2, %e3 plus %l times %factor : !fa4.fragment<128x32xf32>
        fa4.yield %ref, %sum : !fa4.rows<128xf32>, !fa4.rows<128xf32>
      }
      fa4.publish %last#1 to %mail_factor[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
      fa4.publish %last#0 to %mail_ref[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
      fa4.arrive %stats[%stage]
      fa4.wait %stats_empty[%stage]
    }
  }

  fa4.role @correction warps(8 to 12) regs(64) {
    fa4.for_task (%b, %h, %m) {
      fa4.for_kv %j in all(%m) {
        fa4.wait %stats[%c0]
        %f0 = fa4.collect %mail_factor[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
        fa4.arrive %stats_empty[%c0]
        fa4.rescale %o_acc[%c0] by %f0 chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
        fa4.arrive %p_o[%c0]
        fa4.wait %stats[%c1]
        %f1 = fa4.collect %mail_factor[%c1] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
        fa4.arrive %stats_empty[%c1]
        fa4.rescale %o_acc[%c1] by %f1 chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
        fa4.arrive %p_o[%c1]
      }
      fa4.wait %stats[%c0]
      %sum0 = fa4.collect %mail_factor[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %ref0 = fa4.collect %mail_ref[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.arrive %stats_empty[%c0]
      fa4.wait %o_ready[%c0]
      fa4.wait %o_empty[%c0]
      %x00 = fa4.read_tile %o_acc[%c0] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y00 = fa4.normalize %x00 by %sum0 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z00 = fa4.convert %y00 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z00, %o_smem[%c0] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x01 = fa4.read_tile %o_acc[%c0] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y01 = fa4.normalize %x01 by %sum0 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z01 = fa4.convert %y01 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z01, %o_smem[%c0] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x02 = fa4.read_tile %o_acc[%c0] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y02 = fa4.normalize %x02 by %sum0 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z02 = fa4.convert %y02 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z02, %o_smem[%c0] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x03 = fa4.read_tile %o_acc[%c0] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y03 = fa4.normalize %x03 by %sum0 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z03 = fa4.convert %y03 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z03, %o_smem[%c0] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      fa4.fence async_shared
      fa4.arrive %o_full[%c0]
      fa4.store_lse %ref0, %sum0 to %lse[%b, %h, %m, %c0] : !fa4.rows<128xf32>, memref<1x8x1024xf32>
      fa4.wait %stats[%c1]
      %sum1 = fa4.collect %mail_factor[%c1] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %ref1 = fa4.collect %mail_ref[%c1] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.arrive %stats_empty[%c1]
      fa4.wait %o_ready[%c1]
      fa4.wait %o_empty[%c1]
      %x10 = fa4.read_tile %o_acc[%c1] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y10 = fa4.normalize %x10 by %sum1 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z10 = fa4.convert %y10 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z10, %o_smem[%c1] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x11 = fa4.read_tile %o_acc[%c1] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y11 = fa4.normalize %x11 by %sum1 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z11 = fa4.convert %y11 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z11, %o_smem[%c1] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x12 = fa4.read_tile %o_acc[%c1] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y12 = fa4.normalize %x12 by %sum1 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z12 = fa4.convert %y12 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z12, %o_smem[%c1] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x13 = fa4.read_tile %o_acc[%c1] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y13 = fa4.normalize %x13 by %sum1 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %z13 = fa4.convert %y13 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %z13, %o_smem[%c1] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      fa4.fence async_shared
      fa4.arrive %o_full[%c1]
      fa4.store_lse %ref1, %sum1 to %lse[%b, %h, %m, %c1] : !fa4.rows<128xf32>, memref<1x8x1024xf32>
    }
  }

  fa4.role @mma warps(12 to 13) regs(48) {
    fa4.for_task (%b, %h, %m) {
      %k0 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %q_full[%c0]
      fa4.wait %kv_full[%k0]
      fa4.mma %q_smem[%c0] * %kv[%k0] into %s[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %s_ready[%c0]
      fa4.wait %q_full[%c1]
      fa4.mma %q_smem[%c1] * %kv[%k0] into %s[%c1] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %s_ready[%c1]
      fa4.arrive %kv_empty[%k0]
      %more = fa4.for_kv %j in rest(%m) iter_args(%acc = %false) -> (i1) {
        %vs = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_full[%vs]
        fa4.wait %p_o[%c0]
        fa4.mma %p[%c0] * %kv[%vs] into %o_acc[%c0] accumulate(%acc) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.wait %p_rest[%c0]
        fa4.mma %p[%c0] * %kv[%vs] into %o_acc[%c0] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        %ks = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_full[%ks]
        fa4.mma %q_smem[%c0] * %kv[%ks] into %s[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.arrive %s_ready[%c0]
        fa4.wait %p_o[%c1]
        fa4.mma %p[%c1] * %kv[%vs] into %o_acc[%c1] accumulate(%acc) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.wait %p_rest[%c1]
        fa4.mma %p[%c1] * %kv[%vs] into %o_acc[%c1] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.arrive %kv_empty[%vs]
        fa4.mma %q_smem[%c1] * %kv[%ks] into %s[%c1] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.arrive %s_ready[%c1]
        fa4.arrive %kv_empty[%ks]
        fa4.yield %true : i1
      }
      fa4.arrive %q_empty[%c0]
      fa4.arrive %q_empty[%c1]
      %vl = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %kv_full[%vl]
      fa4.wait %p_o[%c0]
      fa4.mma %p[%c0] * %kv[%vl] into %o_acc[%c0] accumulate(%more) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.wait %p_rest[%c0]
      fa4.mma %p[%c0] * %kv[%vl] into %o_acc[%c0] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %o_ready[%c0]
      fa4.wait %p_o[%c1]
      fa4.mma %p[%c1] * %kv[%vl] into %o_acc[%c1] accumulate(%more) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.wait %p_rest[%c1]
      fa4.mma %p[%c1] * %kv[%vl] into %o_acc[%c1] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %o_ready[%c1]
      fa4.arrive %kv_empty[%vl]
    }
  }

  fa4.role @load warps(13 to 14) regs(48) {
    fa4.for_task (%b, %h, %m) {
      fa4.wait %q_empty[%c0]
      fa4.load %q[%b, %h, %m, %c0] to %q_smem[%c0] signals %q_full[%c0] : memref<1x1024x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %j0 = fa4.first_kv %m
      %k0 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %kv_empty[%k0]
      fa4.load %k[%b, %h, %j0] to %kv[%k0] signals %kv_full[%k0] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %q_empty[%c1]
      fa4.load %q[%b, %h, %m, %c1] to %q_smem[%c1] signals %q_full[%c1] : memref<1x1024x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %v0 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %kv_empty[%v0]
      fa4.load %v[%b, %h, %j0] to %kv[%v0] signals %kv_full[%v0] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
      fa4.for_kv %j in rest(%m) {
        %ks = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_empty[%ks]
        fa4.load %k[%b, %h, %j] to %kv[%ks] signals %kv_full[%ks] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
        %vs = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_empty[%vs]
        fa4.load %v[%b, %h, %j] to %kv[%vs] signals %kv_full[%vs] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
      }
    }
    // drain: no commit may arrive after the block has ended
    %d0 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %kv_empty[%d0]
    %d1 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %kv_empty[%d1]
    %d2 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %kv_empty[%d2]
    fa4.wait %q_empty[%c0]
    fa4.wait %q_empty[%c1]
  }

  fa4.role @store warps(14 to 15) regs(48) {
    fa4.for_task (%b, %h, %m) {
      fa4.wait %o_full[%c0]
      fa4.store %o_smem[%c0] to %o[%b, %h, %m, %c0] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x1024x8x128xf16>
      fa4.wait %o_full[%c1]
      fa4.store %o_smem[%c1] to %o[%b, %h, %m, %c1] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x1024x8x128xf16>
      fa4.store_wait pending(1)
      fa4.arrive %o_empty[%c0]
      fa4.store_wait pending(0)
      fa4.arrive %o_empty[%c1]
    }
  }

  fa4.role @idle warps(15 to 16) regs(48) {
  }

  fa4.cta_sync
  fa4.tmem_release warp(0)
}
