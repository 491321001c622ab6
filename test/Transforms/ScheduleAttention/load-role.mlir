// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The load role: tiles in the order in which the MMA role takes them, and at the end
// a wait for every commit that is still to come.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK-SAME: %[[Q:[a-z0-9_]+]]: memref<{{.*}}%[[K:[a-z0-9_]+]]: memref<{{.*}}%[[V:[a-z0-9_]+]]: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<
// CHECK: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK: %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK: %[[Q_SMEM:[a-z0-9_]+]] = fa4.alloc "q"
// CHECK: %[[KV:[a-z0-9_]+]] = fa4.alloc "kv"
// CHECK: %[[Q_FULL:[a-z0-9_]+]] = fa4.barrier "q_full"
// CHECK: %[[Q_EMPTY:[a-z0-9_]+]] = fa4.barrier "q_empty"
// CHECK: %[[KV_FULL:[a-z0-9_]+]] = fa4.barrier "kv_full"
// CHECK: %[[KV_EMPTY:[a-z0-9_]+]] = fa4.barrier "kv_empty"
// CHECK: fa4.role @load warps(13 to 14) regs(48) {
// CHECK-NEXT:   fa4.for_task (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[M:[a-z0-9_]+]]) {
// CHECK-NEXT:     fa4.wait %[[Q_EMPTY]][%[[C0]]]
// CHECK-NEXT:     fa4.load %[[Q]][%[[B]], %[[H]], %[[M]], %[[C0]]] to %[[Q_SMEM]][%[[C0]]] signals %[[Q_FULL]][%[[C0]]] :
// CHECK-NEXT:     %[[FIRST:[a-z0-9_]+]] = fa4.first_kv %[[M]]
// CHECK-NEXT:     %[[SLOT_2:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:     fa4.wait %[[KV_EMPTY]][%[[SLOT_2]]]
// CHECK-NEXT:     fa4.load %[[K]][%[[B]], %[[H]], %[[FIRST]]] to %[[KV]][%[[SLOT_2]]] signals %[[KV_FULL]][%[[SLOT_2]]] :
// CHECK-NEXT:     fa4.wait %[[Q_EMPTY]][%[[C1]]]
// CHECK-NEXT:     fa4.load %[[Q]][%[[B]], %[[H]], %[[M]], %[[C1]]] to %[[Q_SMEM]][%[[C1]]] signals %[[Q_FULL]][%[[C1]]] :
// CHECK-NEXT:     %[[SLOT_3:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:     fa4.wait %[[KV_EMPTY]][%[[SLOT_3]]]
// CHECK-NEXT:     fa4.load %[[V]][%[[B]], %[[H]], %[[FIRST]]] to %[[KV]][%[[SLOT_3]]] signals %[[KV_FULL]][%[[SLOT_3]]] :
// CHECK-NEXT:     fa4.for_kv %[[J:[a-z0-9_]+]] in rest(%[[M]]) {
// CHECK-NEXT:       %[[SLOT_4:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:       fa4.wait %[[KV_EMPTY]][%[[SLOT_4]]]
// CHECK-NEXT:       fa4.load %[[K]][%[[B]], %[[H]], %[[J]]] to %[[KV]][%[[SLOT_4]]] signals %[[KV_FULL]][%[[SLOT_4]]] :
// CHECK-NEXT:       %[[SLOT_5:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:       fa4.wait %[[KV_EMPTY]][%[[SLOT_5]]]
// CHECK-NEXT:       fa4.load %[[V]][%[[B]], %[[H]], %[[J]]] to %[[KV]][%[[SLOT_5]]] signals %[[KV_FULL]][%[[SLOT_5]]] :
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   fa4.wait %[[Q_EMPTY]][%[[C0]]]
// CHECK-NEXT:   fa4.wait %[[Q_EMPTY]][%[[C1]]]
// CHECK-NEXT:   %[[SLOT:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:   fa4.wait %[[KV_EMPTY]][%[[SLOT]]]
// CHECK-NEXT:   %[[SLOT_0:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:   fa4.wait %[[KV_EMPTY]][%[[SLOT_0]]]
// CHECK-NEXT:   %[[SLOT_1:[a-z0-9_]+]] = fa4.next %[[KV]] :
// CHECK-NEXT:   fa4.wait %[[KV_EMPTY]][%[[SLOT_1]]]
// CHECK-NEXT: }

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
