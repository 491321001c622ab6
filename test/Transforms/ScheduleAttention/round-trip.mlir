// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule verifies, survives text and generic form, and means the same after
// passes that clean up: no barrier, copy or MMA goes.

// RUN: fa4-opt --fa4-schedule-attention %s -o %t.mlir
// RUN: fa4-opt %t.mlir | diff %t.mlir -
// RUN: fa4-opt -mlir-print-op-generic %t.mlir | fa4-opt | diff %t.mlir -
// RUN: fa4-opt -emit-bytecode %t.mlir | fa4-opt | diff %t.mlir -
// RUN: fa4-opt --fa4-schedule-attention %t.mlir | diff %t.mlir -
// RUN: fa4-opt --canonicalize --cse --loop-invariant-code-motion --symbol-dce %t.mlir | FileCheck %s

// CHECK-LABEL: fa4.kernel @full_attention(
// CHECK:         fa4.role @softmax
// CHECK-COUNT-12: fa4.{{wait|arrive}}
// CHECK-NOT:     fa4.{{wait|arrive}}
// CHECK:         fa4.role @correction
// CHECK-COUNT-16: fa4.{{wait|arrive}}
// CHECK-NOT:     fa4.{{wait|arrive}}
// CHECK:         fa4.role @mma
// CHECK-COUNT-12: fa4.mma
// CHECK-NOT:     fa4.mma
// CHECK:         fa4.role @load
// CHECK-COUNT-6: fa4.load
// CHECK-NOT:     fa4.load
// CHECK-COUNT-5: fa4.wait
// CHECK:         fa4.role @store
// CHECK-COUNT-2: fa4.store %
// CHECK-COUNT-2: fa4.store_wait
// CHECK:         fa4.role @idle
// CHECK:         fa4.tmem_release

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
func.func @grouped(%q: memref<1x256x16x64xf16>, %k: memref<1x100x4x64xf16>, %v: memref<1x100x4x64xf16>,
    %o: memref<1x256x16x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x16x64xf16>, memref<1x100x4x64xf16>, memref<1x100x4x64xf16>)
      outs(%o : memref<1x256x16x64xf16>) causal
  return
}
func.func @zero_scale(%q: memref<1x256x8x64xf16>, %k: memref<1x?x8x64xf16>, %v: memref<1x?x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x?x8x64xf16>, memref<1x?x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) scale(0.0)
  return
}
