// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Either role does the epilogue, whatever the mask: who publishes, who arrives on
// o_full, and whether a reference travels follow.

// RUN: fa4-opt --fa4-schedule-attention="epilogue=softmax" %s | FileCheck %s --check-prefix=SOFTMAX
// RUN: fa4-opt --fa4-schedule-attention="epilogue=correction" %s | FileCheck %s --check-prefix=CORRECTION

// SOFTMAX-NOT: "mail_reference"
// SOFTMAX: fa4.barrier "o_full" slots(2) arrives(@softmax threads 128)
// SOFTMAX: fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// SOFTMAX: %[[LAST:[a-z0-9_]+]]:2 = fa4.for_kv {{.*}} in rest(
// SOFTMAX: fa4.yield
// SOFTMAX-NOT: fa4.publish
// SOFTMAX: fa4.normalize {{.*}} by %[[LAST]]#1
// SOFTMAX: fa4.store_lse %[[LAST]]#0, %[[LAST]]#1 to {{.*}}, %[[STAGE]]] :
// SOFTMAX: fa4.role @correction
// SOFTMAX-NOT: fa4.normalize
// SOFTMAX: fa4.role @mma

// CORRECTION-LABEL: fa4.kernel @causal_attention(
// CORRECTION: %[[REFERENCE:[a-z0-9_]+]] = fa4.alloc "mail_reference"
// CORRECTION: fa4.barrier "o_full" slots(2) arrives(@correction threads 128)
// CORRECTION: fa4.role @softmax
// CORRECTION-NOT: fa4.normalize
// CORRECTION: in rest_masked(
// CORRECTION: %[[LAST:[a-z0-9_]+]]:2 = fa4.for_kv {{.*}} in rest_unmasked(
// CORRECTION: fa4.yield
// CORRECTION: fa4.publish %[[LAST]]#1 to
// CORRECTION-NEXT: fa4.publish %[[LAST]]#0 to %[[REFERENCE]][
// CORRECTION: fa4.role @correction
// CORRECTION-COUNT-8: fa4.normalize
// CORRECTION: fa4.role @mma
func.func @full(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
func.func @causal(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>) causal
  return
}
