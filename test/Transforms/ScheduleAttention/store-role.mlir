// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The store role: a stage is free again when its store has read it.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK-SAME: %{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%{{[a-z0-9_]+}}: memref<{{.*}}%[[O:[a-z0-9_]+]]: memref<{{.*}}%{{[a-z0-9_]+}}: memref<
// CHECK: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK: %[[C1:[a-z0-9_]+]] = arith.constant 1 : index
// CHECK: %[[O_STAGING:[a-z0-9_]+]] = fa4.alloc "o_staging"
// CHECK: %[[O_FULL:[a-z0-9_]+]] = fa4.barrier "o_full"
// CHECK: %[[O_EMPTY:[a-z0-9_]+]] = fa4.barrier "o_empty"
// CHECK: fa4.role @store warps(14 to 15) regs(48) {
// CHECK-NEXT:   fa4.for_task (%[[B:[a-z0-9_]+]], %[[H:[a-z0-9_]+]], %[[M:[a-z0-9_]+]]) {
// CHECK-NEXT:     fa4.wait %[[O_FULL]][%[[C0]]]
// CHECK-NEXT:     fa4.store %[[O_STAGING]][%[[C0]]] to %[[O]][%[[B]], %[[H]], %[[M]], %[[C0]]] :
// CHECK-NEXT:     fa4.wait %[[O_FULL]][%[[C1]]]
// CHECK-NEXT:     fa4.store %[[O_STAGING]][%[[C1]]] to %[[O]][%[[B]], %[[H]], %[[M]], %[[C1]]] :
// CHECK-NEXT:     fa4.store_wait pending(1)
// CHECK-NEXT:     fa4.arrive %[[O_EMPTY]][%[[C0]]]
// CHECK-NEXT:     fa4.store_wait pending(0)
// CHECK-NEXT:     fa4.arrive %[[O_EMPTY]][%[[C1]]]
// CHECK-NEXT:   }
// CHECK-NEXT: }

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
