// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The correction role without a mask: every block, the first too, then the epilogue
// of both tiles.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK-SAME: %{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%[[LSE:[a-z0-9_]+]]: memref<
// CHECK: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK: %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK: %[[O_STAGING:[a-z0-9_]+]] = fa4.alloc "o_staging"
// CHECK: %[[MAIL_FACTOR:[a-z0-9_]+]] = fa4.alloc "mail_factor"
// CHECK: %[[MAIL_REFERENCE:[a-z0-9_]+]] = fa4.alloc "mail_reference"
// CHECK: %[[O_TMEM:[a-z0-9_]+]] = fa4.alloc "o"
// CHECK: %[[P_O_RESCALE:[a-z0-9_]+]] = fa4.barrier "p_o_rescale"
// CHECK: %[[O_READY:[a-z0-9_]+]] = fa4.barrier "o_ready"
// CHECK: %[[STATS:[a-z0-9_]+]] = fa4.barrier "stats"
// CHECK: %[[STATS_EMPTY:[a-z0-9_]+]] = fa4.barrier "stats_empty"
// CHECK: %[[O_FULL:[a-z0-9_]+]] = fa4.barrier "o_full"
// CHECK: %[[O_EMPTY:[a-z0-9_]+]] = fa4.barrier "o_empty"
// CHECK: fa4.role @correction warps(8 to 12) regs(64) {
// CHECK-NEXT:   fa4.for_task (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[M:[a-z0-9_]+]]) {
// CHECK-NEXT:     fa4.for_kv %[[J:[a-z0-9_]+]] in all(%[[M]]) {
// CHECK-NEXT:       fa4.wait %[[STATS]][%[[C0]]]
// CHECK-NEXT:       %[[ROW_24:[a-z0-9_]+]] = fa4.collect %[[MAIL_FACTOR]][%[[C0]]] :
// CHECK-NEXT:       fa4.arrive %[[STATS_EMPTY]][%[[C0]]]
// CHECK-NEXT:       fa4.rescale %[[O_TMEM]][%[[C0]]] by %[[ROW_24]] chunk(32) :
// CHECK-NEXT:       fa4.arrive %[[P_O_RESCALE]][%[[C0]]]
// CHECK-NEXT:       fa4.wait %[[STATS]][%[[C1]]]
// CHECK-NEXT:       %[[ROW_25:[a-z0-9_]+]] = fa4.collect %[[MAIL_FACTOR]][%[[C1]]] :
// CHECK-NEXT:       fa4.arrive %[[STATS_EMPTY]][%[[C1]]]
// CHECK-NEXT:       fa4.rescale %[[O_TMEM]][%[[C1]]] by %[[ROW_25]] chunk(32) :
// CHECK-NEXT:       fa4.arrive %[[P_O_RESCALE]][%[[C1]]]
// CHECK-NEXT:     }
// CHECK-NEXT:     fa4.wait %[[STATS]][%[[C0]]]
// CHECK-NEXT:     %[[ROW:[a-z0-9_]+]] = fa4.collect %[[MAIL_FACTOR]][%[[C0]]] :
// CHECK-NEXT:     %[[ROW_0:[a-z0-9_]+]] = fa4.collect %[[MAIL_REFERENCE]][%[[C0]]] :
// CHECK-NEXT:     fa4.arrive %[[STATS_EMPTY]][%[[C0]]]
// CHECK-NEXT:     fa4.wait %[[O_READY]][%[[C0]]]
// CHECK-NEXT:     fa4.wait %[[O_EMPTY]][%[[C0]]]
// CHECK-NEXT:     %[[X:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C0]]] columns(0) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y:[a-z0-9_]+]] = fa4.normalize %[[X]] by %[[ROW]] :
// CHECK-NEXT:     %[[P:[a-z0-9_]+]] = fa4.convert %[[Y]] :
// CHECK-NEXT:     fa4.write_tile %[[P]], %[[O_STAGING]][%[[C0]]] columns(0) :
// CHECK-NEXT:     %[[X_1:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C0]]] columns(32) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_2:[a-z0-9_]+]] = fa4.normalize %[[X_1]] by %[[ROW]] :
// CHECK-NEXT:     %[[P_3:[a-z0-9_]+]] = fa4.convert %[[Y_2]] :
// CHECK-NEXT:     fa4.write_tile %[[P_3]], %[[O_STAGING]][%[[C0]]] columns(32) :
// CHECK-NEXT:     %[[X_4:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C0]]] columns(64) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_5:[a-z0-9_]+]] = fa4.normalize %[[X_4]] by %[[ROW]] :
// CHECK-NEXT:     %[[P_6:[a-z0-9_]+]] = fa4.convert %[[Y_5]] :
// CHECK-NEXT:     fa4.write_tile %[[P_6]], %[[O_STAGING]][%[[C0]]] columns(64) :
// CHECK-NEXT:     %[[X_7:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C0]]] columns(96) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_8:[a-z0-9_]+]] = fa4.normalize %[[X_7]] by %[[ROW]] :
// CHECK-NEXT:     %[[P_9:[a-z0-9_]+]] = fa4.convert %[[Y_8]] :
// CHECK-NEXT:     fa4.write_tile %[[P_9]], %[[O_STAGING]][%[[C0]]] columns(96) :
// CHECK-NEXT:     fa4.fence async_shared
// CHECK-NEXT:     fa4.arrive %[[O_FULL]][%[[C0]]]
// CHECK-NEXT:     fa4.store_lse %[[ROW_0]], %[[ROW]] to %[[LSE]][%[[B]], %[[H]], %[[M]], %[[C0]]] :
// CHECK-NEXT:     fa4.wait %[[STATS]][%[[C1]]]
// CHECK-NEXT:     %[[ROW_10:[a-z0-9_]+]] = fa4.collect %[[MAIL_FACTOR]][%[[C1]]] :
// CHECK-NEXT:     %[[ROW_11:[a-z0-9_]+]] = fa4.collect %[[MAIL_REFERENCE]][%[[C1]]] :
// CHECK-NEXT:     fa4.arrive %[[STATS_EMPTY]][%[[C1]]]
// CHECK-NEXT:     fa4.wait %[[O_READY]][%[[C1]]]
// CHECK-NEXT:     fa4.wait %[[O_EMPTY]][%[[C1]]]
// CHECK-NEXT:     %[[X_12:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C1]]] columns(0) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_13:[a-z0-9_]+]] = fa4.normalize %[[X_12]] by %[[ROW_10]] :
// CHECK-NEXT:     %[[P_14:[a-z0-9_]+]] = fa4.convert %[[Y_13]] :
// CHECK-NEXT:     fa4.write_tile %[[P_14]], %[[O_STAGING]][%[[C1]]] columns(0) :
// CHECK-NEXT:     %[[X_15:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C1]]] columns(32) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_16:[a-z0-9_]+]] = fa4.normalize %[[X_15]] by %[[ROW_10]] :
// CHECK-NEXT:     %[[P_17:[a-z0-9_]+]] = fa4.convert %[[Y_16]] :
// CHECK-NEXT:     fa4.write_tile %[[P_17]], %[[O_STAGING]][%[[C1]]] columns(32) :
// CHECK-NEXT:     %[[X_18:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C1]]] columns(64) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_19:[a-z0-9_]+]] = fa4.normalize %[[X_18]] by %[[ROW_10]] :
// CHECK-NEXT:     %[[P_20:[a-z0-9_]+]] = fa4.convert %[[Y_19]] :
// CHECK-NEXT:     fa4.write_tile %[[P_20]], %[[O_STAGING]][%[[C1]]] columns(64) :
// CHECK-NEXT:     %[[X_21:[a-z0-9_]+]] = fa4.read_tile %[[O_TMEM]][%[[C1]]] columns(96) :
// CHECK-NEXT:     fa4.tmem_wait load
// CHECK-NEXT:     %[[Y_22:[a-z0-9_]+]] = fa4.normalize %[[X_21]] by %[[ROW_10]] :
// CHECK-NEXT:     %[[P_23:[a-z0-9_]+]] = fa4.convert %[[Y_22]] :
// CHECK-NEXT:     fa4.write_tile %[[P_23]], %[[O_STAGING]][%[[C1]]] columns(96) :
// CHECK-NEXT:     fa4.fence async_shared
// CHECK-NEXT:     fa4.arrive %[[O_FULL]][%[[C1]]]
// CHECK-NEXT:     fa4.store_lse %[[ROW_11]], %[[ROW_10]] to %[[LSE]][%[[B]], %[[H]], %[[M]], %[[C1]]] :
// CHECK-NEXT:   }
// CHECK-NEXT: }

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
