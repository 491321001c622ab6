// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MMA role under a causal mask: P in segments of 64 and 64 columns.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK: %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK: %[[FALSE:[a-z0-9_]+]] = arith.constant false
// CHECK: %[[TRUE:[a-z0-9_]+]] = arith.constant true
// CHECK: %[[Q_SMEM:[a-z0-9_]+]] = fa4.alloc "q"
// CHECK: %[[KV:[a-z0-9_]+]] = fa4.alloc "kv"
// CHECK: %[[S:[a-z0-9_]+]] = fa4.alloc "s"
// CHECK: %[[O_TMEM:[a-z0-9_]+]] = fa4.alloc "o"
// CHECK: %[[P_TMEM:[a-z0-9_]+]] = fa4.alias
// CHECK: %[[Q_FULL:[a-z0-9_]+]] = fa4.barrier "q_full"
// CHECK: %[[Q_EMPTY:[a-z0-9_]+]] = fa4.barrier "q_empty"
// CHECK: %[[KV_FULL:[a-z0-9_]+]] = fa4.barrier "kv_full"
// CHECK: %[[KV_EMPTY:[a-z0-9_]+]] = fa4.barrier "kv_empty"
// CHECK: %[[S_READY:[a-z0-9_]+]] = fa4.barrier "s_ready"
// CHECK: %[[P_O_RESCALE:[a-z0-9_]+]] = fa4.barrier "p_o_rescale"
// CHECK: %[[P_READY_2:[a-z0-9_]+]] = fa4.barrier "p_ready_2"
// CHECK: %[[O_READY:[a-z0-9_]+]] = fa4.barrier "o_ready"
// CHECK: fa4.role @mma warps(12 to 13) regs(48) {
// CHECK-NEXT:   fa4.for_task (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[M:[a-z0-9_]+]]) {
// CHECK-NEXT:     %[[SLOT:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:     fa4.wait %[[Q_FULL]][%[[C0]]]
// CHECK-NEXT:     fa4.wait %[[KV_FULL]][%[[SLOT]]]
// CHECK-NEXT:     fa4.mma %[[Q_SMEM]][%[[C0]]] * %[[KV]][%[[SLOT]]] into %[[S]][%[[C0]]] transpose_b :
// CHECK-NEXT:     fa4.arrive %[[S_READY]][%[[C0]]]
// CHECK-NEXT:     fa4.wait %[[Q_FULL]][%[[C1]]]
// CHECK-NEXT:     fa4.mma %[[Q_SMEM]][%[[C1]]] * %[[KV]][%[[SLOT]]] into %[[S]][%[[C1]]] transpose_b :
// CHECK-NEXT:     fa4.arrive %[[S_READY]][%[[C1]]]
// CHECK-NEXT:     fa4.arrive %[[KV_EMPTY]][%[[SLOT]]]
// CHECK-NEXT:     %[[FLAG:[a-z0-9_]+]] = fa4.for_kv %[[J:[a-z0-9_]+]] in rest(%[[M]]) iter_args(%[[FLAG_1:[a-z0-9_]+]] = %[[FALSE]]) -> (i1) {
// CHECK-NEXT:       %[[SLOT_2:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:       fa4.wait %[[KV_FULL]][%[[SLOT_2]]]
// CHECK-NEXT:       fa4.wait %[[P_O_RESCALE]][%[[C0]]]
// CHECK-NEXT:       fa4.mma %[[P_TMEM]][%[[C0]]] * %[[KV]][%[[SLOT_2]]] into %[[O_TMEM]][%[[C0]]] accumulate(%[[FLAG_1]]) k(0 to 64) :
// CHECK-NEXT:       fa4.wait %[[P_READY_2]][%[[C0]]]
// CHECK-NEXT:       fa4.mma %[[P_TMEM]][%[[C0]]] * %[[KV]][%[[SLOT_2]]] into %[[O_TMEM]][%[[C0]]] accumulate(%[[TRUE]]) k(64 to 128) :
// CHECK-NEXT:       %[[SLOT_3:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:       fa4.wait %[[KV_FULL]][%[[SLOT_3]]]
// CHECK-NEXT:       fa4.mma %[[Q_SMEM]][%[[C0]]] * %[[KV]][%[[SLOT_3]]] into %[[S]][%[[C0]]] transpose_b :
// CHECK-NEXT:       fa4.arrive %[[S_READY]][%[[C0]]]
// CHECK-NEXT:       fa4.wait %[[P_O_RESCALE]][%[[C1]]]
// CHECK-NEXT:       fa4.mma %[[P_TMEM]][%[[C1]]] * %[[KV]][%[[SLOT_2]]] into %[[O_TMEM]][%[[C1]]] accumulate(%[[FLAG_1]]) k(0 to 64) :
// CHECK-NEXT:       fa4.wait %[[P_READY_2]][%[[C1]]]
// CHECK-NEXT:       fa4.mma %[[P_TMEM]][%[[C1]]] * %[[KV]][%[[SLOT_2]]] into %[[O_TMEM]][%[[C1]]] accumulate(%[[TRUE]]) k(64 to 128) :
// CHECK-NEXT:       fa4.arrive %[[KV_EMPTY]][%[[SLOT_2]]]
// CHECK-NEXT:       fa4.mma %[[Q_SMEM]][%[[C1]]] * %[[KV]][%[[SLOT_3]]] into %[[S]][%[[C1]]] transpose_b :
// CHECK-NEXT:       fa4.arrive %[[S_READY]][%[[C1]]]
// CHECK-NEXT:       fa4.arrive %[[KV_EMPTY]][%[[SLOT_3]]]
// CHECK-NEXT:       fa4.yield %[[TRUE]] :
// CHECK-NEXT:     }
// CHECK-NEXT:     fa4.arrive %[[Q_EMPTY]][%[[C0]]]
// CHECK-NEXT:     fa4.arrive %[[Q_EMPTY]][%[[C1]]]
// CHECK-NEXT:     %[[SLOT_0:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:     fa4.wait %[[KV_FULL]][%[[SLOT_0]]]
// CHECK-NEXT:     fa4.wait %[[P_O_RESCALE]][%[[C0]]]
// CHECK-NEXT:     fa4.mma %[[P_TMEM]][%[[C0]]] * %[[KV]][%[[SLOT_0]]] into %[[O_TMEM]][%[[C0]]] accumulate(%[[FLAG]]) k(0 to 64) :
// CHECK-NEXT:     fa4.wait %[[P_READY_2]][%[[C0]]]
// CHECK-NEXT:     fa4.mma %[[P_TMEM]][%[[C0]]] * %[[KV]][%[[SLOT_0]]] into %[[O_TMEM]][%[[C0]]] accumulate(%[[TRUE]]) k(64 to 128) :
// CHECK-NEXT:     fa4.arrive %[[O_READY]][%[[C0]]]
// CHECK-NEXT:     fa4.wait %[[P_O_RESCALE]][%[[C1]]]
// CHECK-NEXT:     fa4.mma %[[P_TMEM]][%[[C1]]] * %[[KV]][%[[SLOT_0]]] into %[[O_TMEM]][%[[C1]]] accumulate(%[[FLAG]]) k(0 to 64) :
// CHECK-NEXT:     fa4.wait %[[P_READY_2]][%[[C1]]]
// CHECK-NEXT:     fa4.mma %[[P_TMEM]][%[[C1]]] * %[[KV]][%[[SLOT_0]]] into %[[O_TMEM]][%[[C1]]] accumulate(%[[TRUE]]) k(64 to 128) :
// CHECK-NEXT:     fa4.arrive %[[O_READY]][%[[C1]]]
// CHECK-NEXT:     fa4.arrive %[[KV_EMPTY]][%[[SLOT_0]]]
// CHECK-NEXT:   }
// CHECK-NEXT: }

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>) causal
  return
}
