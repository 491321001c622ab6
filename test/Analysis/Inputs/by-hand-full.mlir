// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference schedule without a mask, with contracts that were written by hand.

fa4.kernel @full_attention(%q: memref<1x1024x32x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x32x128xf16>, %lse: memref<1x32x1024xf32>) target(#fa4.target<sm_100a>) warps(16) pack(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %false = arith.constant false
  %true = arith.constant true
  %q_smem = fa4.alloc "q" : !fa4.ring<2 x 128x128xf16, smem>
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %o_staging = fa4.alloc "o_staging" : !fa4.ring<2 x 128x128xf16, smem>
  %mail_factor = fa4.alloc "mail_factor" : !fa4.ring<2 x 128xf32, smem>
  %mail_reference = fa4.alloc "mail_reference" : !fa4.ring<2 x 128xf32, smem>
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
  %o_tmem = fa4.alloc "o" : !fa4.ring<2 x 128x128xf32, tmem>
  %p_tmem = fa4.alias %s column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
  %q_full = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768)
  %q_empty = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free
  %kv_full = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768)
  %kv_empty = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free
  %s_ready = fa4.barrier "s_ready" slots(2) arrives(@mma commit)
  %p_o_rescale = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128)
  %p_ready_2 = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128)
  %o_ready = fa4.barrier "o_ready" slots(2) arrives(@mma commit)
  %stats = fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
  %stats_empty = fa4.barrier "stats_empty" slots(2) arrives(@correction threads 128)
  %o_full = fa4.barrier "o_full" slots(2) arrives(@correction threads 128)
  %o_empty = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free
  fa4.init_barriers warp(0)
  fa4.tmem_acquire warp(12)
  fa4.cta_sync
  fa4.role @softmax(%stage) warps(0 to 8) regs(200) {
    fa4.for_task (%b, %h, %m) {
      %first = fa4.first_kv %m
      fa4.wait %s_ready[%stage]
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      %x_0 = fa4.read_tile %s[%stage] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      %x_1 = fa4.read_tile %s[%stage] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      %x_2 = fa4.read_tile %s[%stage] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %ref, %factor = fa4.row_max %x, %x_0, %x_1, %x_2 scale(0.127517432) threshold(8.000000e+00) : !fa4.fragment<128x32xf32>
      fa4.publish %factor to %mail_factor[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
      fa4.arrive %stats[%stage]
      %e = fa4.exp2 %x minus %ref scale(0.127517432)  : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p = fa4.convert %e : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p, %p_tmem[%stage] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      %e_3 = fa4.exp2 %x_0 minus %ref scale(0.127517432)  : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_4 = fa4.convert %e_3 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_4, %p_tmem[%stage] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      %e_5 = fa4.exp2 %x_1 minus %ref scale(0.127517432)  : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_6 = fa4.convert %e_5 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_6, %p_tmem[%stage] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      fa4.tmem_wait store
      fa4.arrive %p_o_rescale[%stage]
      %e_7 = fa4.exp2 %x_2 minus %ref scale(0.127517432)  : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_8 = fa4.convert %e_7 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_8, %p_tmem[%stage] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
      fa4.tmem_wait store
      fa4.arrive %p_ready_2[%stage]
      fa4.wait %stats_empty[%stage]
      %sum = fa4.row_sum %e, %e_3, %e_5, %e_7 : !fa4.fragment<128x32xf32>
      %last:2 = fa4.for_kv %j in rest(%m) iter_args(%rows = %ref, %rows_9 = %sum) -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>) {
        fa4.wait %s_ready[%stage]
        %x_10 = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        %x_11 = fa4.read_tile %s[%stage] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        %x_12 = fa4.read_tile %s[%stage] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        %x_13 = fa4.read_tile %s[%stage] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
        fa4.tmem_wait load
        %ref_14, %factor_15 = fa4.row_max %x_10, %x_11, %x_12, %x_13 against %rows scale(0.127517432) threshold(8.000000e+00) : !fa4.fragment<128x32xf32>
        fa4.publish %factor_15 to %mail_factor[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
        fa4.arrive %stats[%stage]
        %e_16 = fa4.exp2 %x_10 minus %ref_14 scale(0.127517432)  : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p_17 = fa4.convert %e_16 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p_17, %p_tmem[%stage] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        %e_18 = fa4.exp2 %x_11 minus %ref_14 scale(0.127517432) poly(2 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p_19 = fa4.convert %e_18 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p_19, %p_tmem[%stage] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        %e_20 = fa4.exp2 %x_12 minus %ref_14 scale(0.127517432) poly(2 of 8) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p_21 = fa4.convert %e_20 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p_21, %p_tmem[%stage] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        fa4.tmem_wait store
        fa4.arrive %p_o_rescale[%stage]
        %e_22 = fa4.exp2 %x_13 minus %ref_14 scale(0.127517432)  : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
        %p_23 = fa4.convert %e_22 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
        fa4.write_tile %p_23, %p_tmem[%stage] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
        fa4.tmem_wait store
        fa4.arrive %p_ready_2[%stage]
        fa4.wait %stats_empty[%stage]
        %sum_24 = fa4.row_sum %e_16, %e_18, %e_20, %e_22 plus %rows_9 times %factor_15 : !fa4.fragment<128x32xf32>
        fa4.yield %ref_14, %sum_24 : !fa4.rows<128xf32>, !fa4.rows<128xf32>
      }
      fa4.publish %last#1 to %mail_factor[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
      fa4.publish %last#0 to %mail_reference[%stage] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
      fa4.arrive %stats[%stage]
      fa4.wait %stats_empty[%stage]
    }
  }
  fa4.role @correction warps(8 to 12) regs(64) {
    fa4.for_task (%b, %h, %m) {
      fa4.for_kv %j in all(%m) {
        fa4.wait %stats[%c0]
        %row_24 = fa4.collect %mail_factor[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
        fa4.arrive %stats_empty[%c0]
        fa4.rescale %o_tmem[%c0] by %row_24 chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
        fa4.arrive %p_o_rescale[%c0]
        fa4.wait %stats[%c1]
        %row_25 = fa4.collect %mail_factor[%c1] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
        fa4.arrive %stats_empty[%c1]
        fa4.rescale %o_tmem[%c1] by %row_25 chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
        fa4.arrive %p_o_rescale[%c1]
      }
      fa4.wait %stats[%c0]
      %row = fa4.collect %mail_factor[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %row_0 = fa4.collect %mail_reference[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.arrive %stats_empty[%c0]
      fa4.wait %o_ready[%c0]
      fa4.wait %o_empty[%c0]
      %x = fa4.read_tile %o_tmem[%c0] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y = fa4.normalize %x by %row : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p = fa4.convert %y : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p, %o_staging[%c0] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x_1 = fa4.read_tile %o_tmem[%c0] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y_2 = fa4.normalize %x_1 by %row : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_3 = fa4.convert %y_2 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_3, %o_staging[%c0] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x_4 = fa4.read_tile %o_tmem[%c0] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y_5 = fa4.normalize %x_4 by %row : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_6 = fa4.convert %y_5 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_6, %o_staging[%c0] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x_7 = fa4.read_tile %o_tmem[%c0] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y_8 = fa4.normalize %x_7 by %row : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_9 = fa4.convert %y_8 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_9, %o_staging[%c0] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      fa4.fence async_shared
      fa4.arrive %o_full[%c0]
      fa4.store_lse %row_0, %row to %lse[%b, %h, %m, %c0] : !fa4.rows<128xf32>, memref<1x32x1024xf32>
      fa4.wait %stats[%c1]
      %row_10 = fa4.collect %mail_factor[%c1] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %row_11 = fa4.collect %mail_reference[%c1] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.arrive %stats_empty[%c1]
      fa4.wait %o_ready[%c1]
      fa4.wait %o_empty[%c1]
      %x_12 = fa4.read_tile %o_tmem[%c1] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y_13 = fa4.normalize %x_12 by %row_10 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_14 = fa4.convert %y_13 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_14, %o_staging[%c1] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x_15 = fa4.read_tile %o_tmem[%c1] columns(32) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y_16 = fa4.normalize %x_15 by %row_10 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_17 = fa4.convert %y_16 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_17, %o_staging[%c1] columns(32) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x_18 = fa4.read_tile %o_tmem[%c1] columns(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y_19 = fa4.normalize %x_18 by %row_10 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_20 = fa4.convert %y_19 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_20, %o_staging[%c1] columns(64) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %x_21 = fa4.read_tile %o_tmem[%c1] columns(96) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
      fa4.tmem_wait load
      %y_22 = fa4.normalize %x_21 by %row_10 : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
      %p_23 = fa4.convert %y_22 : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
      fa4.write_tile %p_23, %o_staging[%c1] columns(96) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, smem>
      fa4.fence async_shared
      fa4.arrive %o_full[%c1]
      fa4.store_lse %row_11, %row_10 to %lse[%b, %h, %m, %c1] : !fa4.rows<128xf32>, memref<1x32x1024xf32>
    }
  }
  fa4.role @mma warps(12 to 13) regs(48) {
    fa4.for_task (%b, %h, %m) {
      %slot = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %q_full[%c0]
      fa4.wait %kv_full[%slot]
      fa4.mma %q_smem[%c0] * %kv[%slot] into %s[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %s_ready[%c0]
      fa4.wait %q_full[%c1]
      fa4.mma %q_smem[%c1] * %kv[%slot] into %s[%c1] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %s_ready[%c1]
      fa4.arrive %kv_empty[%slot]
      %flag = fa4.for_kv %j in rest(%m) iter_args(%flag_1 = %false) -> (i1) {
        %slot_2 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_full[%slot_2]
        fa4.wait %p_o_rescale[%c0]
        fa4.mma %p_tmem[%c0] * %kv[%slot_2] into %o_tmem[%c0] accumulate(%flag_1) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.wait %p_ready_2[%c0]
        fa4.mma %p_tmem[%c0] * %kv[%slot_2] into %o_tmem[%c0] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        %slot_3 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_full[%slot_3]
        fa4.mma %q_smem[%c0] * %kv[%slot_3] into %s[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.arrive %s_ready[%c0]
        fa4.wait %p_o_rescale[%c1]
        fa4.mma %p_tmem[%c1] * %kv[%slot_2] into %o_tmem[%c1] accumulate(%flag_1) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.wait %p_ready_2[%c1]
        fa4.mma %p_tmem[%c1] * %kv[%slot_2] into %o_tmem[%c1] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.arrive %kv_empty[%slot_2]
        fa4.mma %q_smem[%c1] * %kv[%slot_3] into %s[%c1] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
        fa4.arrive %s_ready[%c1]
        fa4.arrive %kv_empty[%slot_3]
        fa4.yield %true : i1
      }
      fa4.arrive %q_empty[%c0]
      fa4.arrive %q_empty[%c1]
      %slot_0 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %kv_full[%slot_0]
      fa4.wait %p_o_rescale[%c0]
      fa4.mma %p_tmem[%c0] * %kv[%slot_0] into %o_tmem[%c0] accumulate(%flag) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.wait %p_ready_2[%c0]
      fa4.mma %p_tmem[%c0] * %kv[%slot_0] into %o_tmem[%c0] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %o_ready[%c0]
      fa4.wait %p_o_rescale[%c1]
      fa4.mma %p_tmem[%c1] * %kv[%slot_0] into %o_tmem[%c1] accumulate(%flag) k(0 to 96) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.wait %p_ready_2[%c1]
      fa4.mma %p_tmem[%c1] * %kv[%slot_0] into %o_tmem[%c1] accumulate(%true) k(96 to 128) : !fa4.ring<2 x 128x128xf16, tmem> * !fa4.ring<3 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
      fa4.arrive %o_ready[%c1]
      fa4.arrive %kv_empty[%slot_0]
    }
  }
  fa4.role @load warps(13 to 14) regs(48) {
    fa4.for_task (%b, %h, %m) {
      fa4.wait %q_empty[%c0]
      fa4.load %q[%b, %h, %m, %c0] to %q_smem[%c0] signals %q_full[%c0] : memref<1x1024x32x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %first = fa4.first_kv %m
      %slot_2 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %kv_empty[%slot_2]
      fa4.load %k[%b, %h, %first] to %kv[%slot_2] signals %kv_full[%slot_2] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %q_empty[%c1]
      fa4.load %q[%b, %h, %m, %c1] to %q_smem[%c1] signals %q_full[%c1] : memref<1x1024x32x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
      %slot_3 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %kv_empty[%slot_3]
      fa4.load %v[%b, %h, %first] to %kv[%slot_3] signals %kv_full[%slot_3] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
      fa4.for_kv %j in rest(%m) {
        %slot_4 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_empty[%slot_4]
        fa4.load %k[%b, %h, %j] to %kv[%slot_4] signals %kv_full[%slot_4] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
        %slot_5 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %kv_empty[%slot_5]
        fa4.load %v[%b, %h, %j] to %kv[%slot_5] signals %kv_full[%slot_5] : memref<1x1024x8x128xf16>, !fa4.ring<3 x 128x128xf16, smem>
      }
    }
    %slot = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %kv_empty[%slot]
    %slot_0 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %kv_empty[%slot_0]
    %slot_1 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %kv_empty[%slot_1]
    fa4.wait %q_empty[%c0]
    fa4.wait %q_empty[%c1]
  }
  fa4.role @store warps(14 to 15) regs(48) {
    fa4.for_task (%b, %h, %m) {
      fa4.wait %o_full[%c0]
      fa4.store %o_staging[%c0] to %o[%b, %h, %m, %c0] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x1024x32x128xf16>
      fa4.wait %o_full[%c1]
      fa4.store %o_staging[%c1] to %o[%b, %h, %m, %c1] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x1024x32x128xf16>
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
