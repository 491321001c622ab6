// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax role under a causal mask: first block, masked blocks, whole blocks,
// and the epilogue, which reads the row sums where they are.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK-SAME: %{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%[[LSE:[a-z0-9_]+]]: memref<
// CHECK: %[[O_STAGING:[a-z0-9_]+]] = fa4.alloc "o_staging"
// CHECK: %[[MAIL_FACTOR:[a-z0-9_]+]] = fa4.alloc "mail_factor"
// CHECK: %[[S:[a-z0-9_]+]] = fa4.alloc "s"
// CHECK: %[[O_TMEM:[a-z0-9_]+]] = fa4.alloc "o"
// CHECK: %[[P_TMEM:[a-z0-9_]+]] = fa4.alias
// CHECK: %[[S_READY:[a-z0-9_]+]] = fa4.barrier "s_ready"
// CHECK: %[[P_O_RESCALE:[a-z0-9_]+]] = fa4.barrier "p_o_rescale"
// CHECK: %[[P_READY_2:[a-z0-9_]+]] = fa4.barrier "p_ready_2"
// CHECK: %[[O_READY:[a-z0-9_]+]] = fa4.barrier "o_ready"
// CHECK: %[[STATS:[a-z0-9_]+]] = fa4.barrier "stats"
// CHECK: %[[O_FULL:[a-z0-9_]+]] = fa4.barrier "o_full"
// CHECK: %[[O_EMPTY:[a-z0-9_]+]] = fa4.barrier "o_empty"
// CHECK: fa4.role @softmax(%[[STAGE:[a-z0-9_]+]]) warps(0 to 8) regs(200) {
// CHECK-NEXT:   fa4.for_task (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[M:[a-z0-9_]+]]) {
// CHECK-NEXT:     %[[FIRST:[a-z0-9_]+]] = fa4.first_kv %[[M]]
// CHECK-NEXT:     fa4.wait %[[S_READY]][%[[STAGE]]]
// CHECK-NEXT:     %[[X:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:     %[[X_0:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:     %[[X_1:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:     %[[X_2:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[X_3:[a-z0-9_]+]] = fa4.mask %[[X]][%[[M]], %[[STAGE]], %[[FIRST]]] columns(0) :
// CHECK-NEXT:     %[[X_4:[a-z0-9_]+]] = fa4.mask %[[X_0]][%[[M]], %[[STAGE]], %[[FIRST]]] columns(32) :
// CHECK-NEXT:     %[[X_5:[a-z0-9_]+]] = fa4.mask %[[X_1]][%[[M]], %[[STAGE]], %[[FIRST]]] columns(64) :
// CHECK-NEXT:     %[[X_6:[a-z0-9_]+]] = fa4.mask %[[X_2]][%[[M]], %[[STAGE]], %[[FIRST]]] columns(96) :
// CHECK-NEXT:     %[[REF:[a-z0-9_]+]], %[[FACTOR:[a-z0-9_]+]] = fa4.row_max %[[X_3]], %[[X_4]], %[[X_5]], %[[X_6]] scale(0.127517432) threshold(8.000000e+00) :
// CHECK-NEXT:     fa4.publish %[[FACTOR]] to %[[MAIL_FACTOR]][%[[STAGE]]] :
// CHECK-NEXT:     fa4.arrive %[[STATS]][%[[STAGE]]]
// CHECK-NEXT:     %[[E:[a-z0-9_]+]] = fa4.exp2 %[[X_3]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P:[a-z0-9_]+]] = fa4.convert %[[E]] :
// CHECK-NEXT:     fa4.write_tile %[[P]], %[[P_TMEM]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:     %[[E_7:[a-z0-9_]+]] = fa4.exp2 %[[X_4]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P_8:[a-z0-9_]+]] = fa4.convert %[[E_7]] :
// CHECK-NEXT:     fa4.write_tile %[[P_8]], %[[P_TMEM]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:     fa4.tmem_wait store
// CHECK-NEXT:     fa4.arrive %[[P_O_RESCALE]][%[[STAGE]]]
// CHECK-NEXT:     %[[E_9:[a-z0-9_]+]] = fa4.exp2 %[[X_5]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P_10:[a-z0-9_]+]] = fa4.convert %[[E_9]] :
// CHECK-NEXT:     fa4.write_tile %[[P_10]], %[[P_TMEM]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:     %[[E_11:[a-z0-9_]+]] = fa4.exp2 %[[X_6]] minus %[[REF]] scale(0.127517432)  :
// CHECK-NEXT:     %[[P_12:[a-z0-9_]+]] = fa4.convert %[[E_11]] :
// CHECK-NEXT:     fa4.write_tile %[[P_12]], %[[P_TMEM]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:     fa4.tmem_wait store
// CHECK-NEXT:     fa4.arrive %[[P_READY_2]][%[[STAGE]]]
// CHECK-NEXT:     %[[SUM:[a-z0-9_]+]] = fa4.row_sum %[[E]], %[[E_7]], %[[E_9]], %[[E_11]] :
// CHECK-NEXT:     %[[LAST:[a-z0-9_]+]]:2 = fa4.for_kv %[[J:[a-z0-9_]+]] in rest_masked(%[[M]]) iter_args(%[[ROWS:[a-z0-9_]+]] = %[[REF]], %[[ROWS_25:[a-z0-9_]+]] = %[[SUM]]) -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>) {
// CHECK-NEXT:       fa4.wait %[[S_READY]][%[[STAGE]]]
// CHECK-NEXT:       %[[X_26:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:       %[[X_27:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:       %[[X_28:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:       %[[X_29:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:       fa4.tmem_wait load
// CHECK-NEXT:       %[[X_30:[a-z0-9_]+]] = fa4.mask %[[X_26]][%[[M]], %[[STAGE]], %[[J]]] columns(0) :
// CHECK-NEXT:       %[[X_31:[a-z0-9_]+]] = fa4.mask %[[X_27]][%[[M]], %[[STAGE]], %[[J]]] columns(32) :
// CHECK-NEXT:       %[[X_32:[a-z0-9_]+]] = fa4.mask %[[X_28]][%[[M]], %[[STAGE]], %[[J]]] columns(64) :
// CHECK-NEXT:       %[[X_33:[a-z0-9_]+]] = fa4.mask %[[X_29]][%[[M]], %[[STAGE]], %[[J]]] columns(96) :
// CHECK-NEXT:       %[[REF_34:[a-z0-9_]+]], %[[FACTOR_35:[a-z0-9_]+]] = fa4.row_max %[[X_30]], %[[X_31]], %[[X_32]], %[[X_33]] against %[[ROWS]] scale(0.127517432) threshold(8.000000e+00) :
// CHECK-NEXT:       fa4.publish %[[FACTOR_35]] to %[[MAIL_FACTOR]][%[[STAGE]]] :
// CHECK-NEXT:       fa4.arrive %[[STATS]][%[[STAGE]]]
// CHECK-NEXT:       %[[E_36:[a-z0-9_]+]] = fa4.exp2 %[[X_30]] minus %[[REF_34]] scale(0.127517432)  :
// CHECK-NEXT:       %[[P_37:[a-z0-9_]+]] = fa4.convert %[[E_36]] :
// CHECK-NEXT:       fa4.write_tile %[[P_37]], %[[P_TMEM]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:       %[[E_38:[a-z0-9_]+]] = fa4.exp2 %[[X_31]] minus %[[REF_34]] scale(0.127517432)  :
// CHECK-NEXT:       %[[P_39:[a-z0-9_]+]] = fa4.convert %[[E_38]] :
// CHECK-NEXT:       fa4.write_tile %[[P_39]], %[[P_TMEM]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:       fa4.tmem_wait store
// CHECK-NEXT:       fa4.arrive %[[P_O_RESCALE]][%[[STAGE]]]
// CHECK-NEXT:       %[[E_40:[a-z0-9_]+]] = fa4.exp2 %[[X_32]] minus %[[REF_34]] scale(0.127517432)  :
// CHECK-NEXT:       %[[P_41:[a-z0-9_]+]] = fa4.convert %[[E_40]] :
// CHECK-NEXT:       fa4.write_tile %[[P_41]], %[[P_TMEM]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:       %[[E_42:[a-z0-9_]+]] = fa4.exp2 %[[X_33]] minus %[[REF_34]] scale(0.127517432)  :
// CHECK-NEXT:       %[[P_43:[a-z0-9_]+]] = fa4.convert %[[E_42]] :
// CHECK-NEXT:       fa4.write_tile %[[P_43]], %[[P_TMEM]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:       fa4.tmem_wait store
// CHECK-NEXT:       fa4.arrive %[[P_READY_2]][%[[STAGE]]]
// CHECK-NEXT:       %[[SUM_44:[a-z0-9_]+]] = fa4.row_sum %[[E_36]], %[[E_38]], %[[E_40]], %[[E_42]] plus %[[ROWS_25]] times %[[FACTOR_35]] :
// CHECK-NEXT:       fa4.yield %[[REF_34]], %[[SUM_44]] :
// CHECK-NEXT:     }
// CHECK-NEXT:     %[[LAST_13:[a-z0-9_]+]]:2 = fa4.for_kv %[[J:[a-z0-9_]+]] in rest_unmasked(%[[M]]) iter_args(%[[ROWS:[a-z0-9_]+]] = %[[LAST]]#0, %[[ROWS_25:[a-z0-9_]+]] = %[[LAST]]#1) -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>) {
// CHECK-NEXT:       fa4.wait %[[S_READY]][%[[STAGE]]]
// CHECK-NEXT:       %[[X_26:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:       %[[X_27:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:       %[[X_28:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:       %[[X_29:[a-z0-9_]+]] = fa4.read_tile %[[S]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:       fa4.tmem_wait load
// CHECK-NEXT:       %[[REF_30:[a-z0-9_]+]], %[[FACTOR_31:[a-z0-9_]+]] = fa4.row_max %[[X_26]], %[[X_27]], %[[X_28]], %[[X_29]] against %[[ROWS]] scale(0.127517432) threshold(8.000000e+00) :
// CHECK-NEXT:       fa4.publish %[[FACTOR_31]] to %[[MAIL_FACTOR]][%[[STAGE]]] :
// CHECK-NEXT:       fa4.arrive %[[STATS]][%[[STAGE]]]
// CHECK-NEXT:       %[[E_32:[a-z0-9_]+]] = fa4.exp2 %[[X_26]] minus %[[REF_30]] scale(0.127517432) poly(2 of 8) :
// CHECK-NEXT:       %[[P_33:[a-z0-9_]+]] = fa4.convert %[[E_32]] :
// CHECK-NEXT:       fa4.write_tile %[[P_33]], %[[P_TMEM]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:       %[[E_34:[a-z0-9_]+]] = fa4.exp2 %[[X_27]] minus %[[REF_30]] scale(0.127517432) poly(2 of 8) :
// CHECK-NEXT:       %[[P_35:[a-z0-9_]+]] = fa4.convert %[[E_34]] :
// CHECK-NEXT:       fa4.write_tile %[[P_35]], %[[P_TMEM]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:       fa4.tmem_wait store
// CHECK-NEXT:       fa4.arrive %[[P_O_RESCALE]][%[[STAGE]]]
// CHECK-NEXT:       %[[E_36:[a-z0-9_]+]] = fa4.exp2 %[[X_28]] minus %[[REF_30]] scale(0.127517432) poly(2 of 8) :
// CHECK-NEXT:       %[[P_37:[a-z0-9_]+]] = fa4.convert %[[E_36]] :
// CHECK-NEXT:       fa4.write_tile %[[P_37]], %[[P_TMEM]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:       %[[E_38:[a-z0-9_]+]] = fa4.exp2 %[[X_29]] minus %[[REF_30]] scale(0.127517432)  :
// CHECK-NEXT:       %[[P_39:[a-z0-9_]+]] = fa4.convert %[[E_38]] :
// CHECK-NEXT:       fa4.write_tile %[[P_39]], %[[P_TMEM]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:       fa4.tmem_wait store
// CHECK-NEXT:       fa4.arrive %[[P_READY_2]][%[[STAGE]]]
// CHECK-NEXT:       %[[SUM_40:[a-z0-9_]+]] = fa4.row_sum %[[E_32]], %[[E_34]], %[[E_36]], %[[E_38]] plus %[[ROWS_25]] times %[[FACTOR_31]] :
// CHECK-NEXT:       fa4.yield %[[REF_30]], %[[SUM_40]] :
// CHECK-NEXT:     }
// CHECK-NEXT:     fa4.wait %[[O_READY]][%[[STAGE]]]
// CHECK-NEXT:     fa4.wait %[[O_EMPTY]][%[[STAGE]]]
// CHECK-NEXT:     %[[X_14:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y:[a-z0-9_]+]] = fa4.normalize %[[X_14]] by %[[LAST_13]]#1 :
// CHECK-NEXT:     %[[P_15:[a-z0-9_]+]] = fa4.convert %[[Y]] :
// CHECK-NEXT:     fa4.write_tile %[[P_15]], %[[O_STAGING]][%[[STAGE]]] columns(0) :
// CHECK-NEXT:     %[[X_16:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_17:[a-z0-9_]+]] = fa4.normalize %[[X_16]] by %[[LAST_13]]#1 :
// CHECK-NEXT:     %[[P_18:[a-z0-9_]+]] = fa4.convert %[[Y_17]] :
// CHECK-NEXT:     fa4.write_tile %[[P_18]], %[[O_STAGING]][%[[STAGE]]] columns(32) :
// CHECK-NEXT:     %[[X_19:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_20:[a-z0-9_]+]] = fa4.normalize %[[X_19]] by %[[LAST_13]]#1 :
// CHECK-NEXT:     %[[P_21:[a-z0-9_]+]] = fa4.convert %[[Y_20]] :
// CHECK-NEXT:     fa4.write_tile %[[P_21]], %[[O_STAGING]][%[[STAGE]]] columns(64) :
// CHECK-NEXT:     %[[X_22:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_23:[a-z0-9_]+]] = fa4.normalize %[[X_22]] by %[[LAST_13]]#1 :
// CHECK-NEXT:     %[[P_24:[a-z0-9_]+]] = fa4.convert %[[Y_23]] :
// CHECK-NEXT:     fa4.write_tile %[[P_24]], %[[O_STAGING]][%[[STAGE]]] columns(96) :
// CHECK-NEXT:     fa4.fence async_shared
// CHECK-NEXT:     fa4.arrive %[[O_FULL]][%[[STAGE]]]
// CHECK-NEXT:     fa4.store_lse %[[LAST_13]]#0, %[[LAST_13]]#1 to %[[LSE]][%[[B]], %[[H]], %[[M]], %[[STAGE]]] :
// CHECK-NEXT:   }
// CHECK-NEXT: }

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>) causal
  return
}
