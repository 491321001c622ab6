// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Under a causal mask the correction role only rescales.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK: %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK: %[[MAIL_FACTOR:[a-z0-9_]+]] = fa4.alloc "mail_factor"
// CHECK: %[[O_TMEM:[a-z0-9_]+]] = fa4.alloc "o"
// CHECK: %[[P_O_RESCALE:[a-z0-9_]+]] = fa4.barrier "p_o_rescale"
// CHECK: %[[STATS:[a-z0-9_]+]] = fa4.barrier "stats"
// CHECK: fa4.role @correction warps(8 to 12) regs(64) {
// CHECK-NEXT:   fa4.for_task (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[M:[a-z0-9_]+]]) {
// CHECK-NEXT:     fa4.for_kv %[[J:[a-z0-9_]+]] in all(%[[M]]) {
// CHECK-NEXT:       fa4.wait %[[STATS]][%[[C0]]]
// CHECK-NEXT:       %[[ROW:[a-z0-9_]+]] = fa4.collect %[[MAIL_FACTOR]][%[[C0]]] :
// CHECK-NEXT:       fa4.rescale %[[O_TMEM]][%[[C0]]] by %[[ROW]] chunk(32) :
// CHECK-NEXT:       fa4.arrive %[[P_O_RESCALE]][%[[C0]]]
// CHECK-NEXT:       fa4.wait %[[STATS]][%[[C1]]]
// CHECK-NEXT:       %[[ROW_0:[a-z0-9_]+]] = fa4.collect %[[MAIL_FACTOR]][%[[C1]]] :
// CHECK-NEXT:       fa4.rescale %[[O_TMEM]][%[[C1]]] by %[[ROW_0]] chunk(32) :
// CHECK-NEXT:       fa4.arrive %[[P_O_RESCALE]][%[[C1]]]
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>) causal
  return
}
