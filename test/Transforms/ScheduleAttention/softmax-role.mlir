// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax role without a mask: the first block peeled off, then the rest, then
// the statistics for the epilogue of the correction role.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK: %[[MAIL_FACTOR:[a-z0-9_]+]] = fa4.alloc "mail_factor"
// CHECK: %[[MAIL_REFERENCE:[a-z0-9_]+]] = fa4.alloc "mail_reference"
// CHECK: %[[S:[a-z0-9_]+]] = fa4.alloc "s"
// CHECK: %[[P_TMEM:[a-z0-9_]+]] = fa4.alias
// CHECK: %[[S_READY:[a-z0-9_]+]] = fa4.barrier "s_ready"
// CHECK: %[[P_O_RESCALE:[a-z0-9_]+]] = fa4.barrier "p_o_rescale"
// CHECK: %[[P_READY_2:[a-z0-9_]+]] = fa4.barrier "p_ready_2"
// CHECK: %[[STATS:[a-z0-9_]+]] = fa4.barrier "stats"
// CHECK: %[[STATS_EMPTY:[a-z0-9_]+]] = fa4.barrier "stats_empty"
// CHECK: fa4.role @softmax(%[[STAGE:[a-z0-9_]+]]) warps(0 to 8) regs(200) {
// CHECK-NEXT:   fa4.for_task (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[M:[a-z0-9_]+]]) {
// CHECK-NEXT:     %[[FIRST:[a-z0-9_]+]] = fa4.first_kv %[[M]]
// CHECK-NEXT:     fa4.wait %[[S_READY]][%[[STAGE]]]
// CHECK-NEXT:     %[[X:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:     %[[X_0:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:     %[[X_1:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:     %[[X_2:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[REF:[a-z0-9_]+]], %[[FACTOR:[a-z0-9_]+]] = fa4.row_max %[[X]], %[[X_0]], %[[X_1]], %[[X_2]] scale(0.127517432) threshold(8.000000e+00) :
// CHECK-NEXT:     fa4.publish %[[FACTOR]] to %[[MAIL_FACTOR]][%[[STAGE]]] :
// CHECK-NEXT:     fa4.arrive %[[STATS]][%[[STAGE]]]
// CHECK-NEXT:     %[[E:[a-z0-9_]+]] = fa4.exp2 %[[X]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P:[a-z0-9_]+]] = fa4.convert %[[E]] :
// CHECK-NEXT:     fa4.write_tile %[[P]], %[[P_TMEM]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:     %[[E_3:[a-z0-9_]+]] = fa4.exp2 %[[X_0]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P_4:[a-z0-9_]+]] = fa4.convert %[[E_3]] :
// CHECK-NEXT:     fa4.write_tile %[[P_4]], %[[P_TMEM]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:     %[[E_5:[a-z0-9_]+]] = fa4.exp2 %[[X_1]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P_6:[a-z0-9_]+]] = fa4.convert %[[E_5]] :
// CHECK-NEXT:     fa4.write_tile %[[P_6]], %[[P_TMEM]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:     fa4.tmem_wait store
// CHECK-NEXT:     fa4.arrive %[[P_O_RESCALE]][%[[STAGE]]]
// CHECK-NEXT:     %[[E_7:[a-z0-9_]+]] = fa4.exp2 %[[X_2]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P_8:[a-z0-9_]+]] = fa4.convert %[[E_7]] :
// CHECK-NEXT:     fa4.write_tile %[[P_8]], %[[P_TMEM]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:     fa4.tmem_wait store
// CHECK-NEXT:     fa4.arrive %[[P_READY_2]][%[[STAGE]]]
// CHECK-NEXT:     fa4.wait %[[STATS_EMPTY]][%[[STAGE]]]
// CHECK-NEXT:     %[[SUM:[a-z0-9_]+]] = fa4.row_sum %[[E]], %[[E_3]], %[[E_5]], %[[E_7]] :
// CHECK-NEXT:     %[[LAST:[a-z0-9_]+]]:2 = fa4.for_kv %[[J:[a-z0-9_]+]] in rest(%[[M]]) iter_args(%[[ROWS:[a-z0-9_]+]] = %[[REF]], %[[ROWS_9:[a-z0-9_]+]] = %[[SUM]]) -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>) {
// CHECK-NEXT:       fa4.wait %[[S_READY]][%[[STAGE]]]
// CHECK-NEXT:       %[[X_10:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:       %[[X_11:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:       %[[X_12:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:       %[[X_13:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:       fa4.tmem_wait load
// CHECK-NEXT:       %[[REF_14:[a-z0-9_]+]], %[[FACTOR_15:[a-z0-9_]+]] = fa4.row_max %[[X_10]], %[[X_11]], %[[X_12]], %[[X_13]] against %[[ROWS]] scale(0.127517432) threshold(8.000000e+00) :
// CHECK-NEXT:       fa4.publish %[[FACTOR_15]] to %[[MAIL_FACTOR]][%[[STAGE]]] :
// CHECK-NEXT:       fa4.arrive %[[STATS]][%[[STAGE]]]
// CHECK-NEXT:       %[[E_16:[a-z0-9_]+]] = fa4.exp2 %[[X_10]] minus %[[REF_14]] scale(0.127517432)  :
// CHECK-NEXT:       %[[P_17:[a-z0-9_]+]] = fa4.convert %[[E_16]] :
// CHECK-NEXT:       fa4.write_tile %[[P_17]], %[[P_TMEM]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:       %[[E_18:[a-z0-9_]+]] = fa4.exp2 %[[X_11]] minus %[[REF_14]] scale(0.127517432) poly(2 of 8) :
// CHECK-NEXT:       %[[P_19:[a-z0-9_]+]] = fa4.convert %[[E_18]] :
// CHECK-NEXT:       fa4.write_tile %[[P_19]], %[[P_TMEM]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:       %[[E_20:[a-z0-9_]+]] = fa4.exp2 %[[X_12]] minus %[[REF_14]] scale(0.127517432) poly(2 of 8) :
// CHECK-NEXT:       %[[P_21:[a-z0-9_]+]] = fa4.convert %[[E_20]] :
// CHECK-NEXT:       fa4.write_tile %[[P_21]], %[[P_TMEM]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:       fa4.tmem_wait store
// CHECK-NEXT:       fa4.arrive %[[P_O_RESCALE]][%[[STAGE]]]
// CHECK-NEXT:       %[[E_22:[a-z0-9_]+]] = fa4.exp2 %[[X_13]] minus %[[REF_14]] scale(0.127517432)  :
// CHECK-NEXT:       %[[P_23:[a-z0-9_]+]] = fa4.convert %[[E_22]] :
// CHECK-NEXT:       fa4.write_tile %[[P_23]], %[[P_TMEM]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:       fa4.tmem_wait store
// CHECK-NEXT:       fa4.arrive %[[P_READY_2]][%[[STAGE]]]
// CHECK-NEXT:       fa4.wait %[[STATS_EMPTY]][%[[STAGE]]]
// CHECK-NEXT:       %[[SUM_24:[a-z0-9_]+]] = fa4.row_sum %[[E_16]], %[[E_18]], %[[E_20]], %[[E_22]] plus %[[ROWS_9]] times %[[FACTOR_15]] :
// CHECK-NEXT:       fa4.yield %[[REF_14]], %[[SUM_24]] :
// CHECK-NEXT:     }
// CHECK-NEXT:     fa4.publish %[[LAST]]#1 to %[[MAIL_FACTOR]][%[[STAGE]]] :
// CHECK-NEXT:     fa4.publish %[[LAST]]#0 to %[[MAIL_REFERENCE]][%[[STAGE]]] :
// CHECK-NEXT:     fa4.arrive %[[STATS]][%[[STAGE]]]
// CHECK-NEXT:     fa4.wait %[[STATS_EMPTY]][%[[STAGE]]]
// CHECK-NEXT:   }
// CHECK-NEXT: }

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
