// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever --fa4-schedule-attention builds is proved without an error or a warning,
// and is left as it was.

// RUN: fa4-opt %s --fa4-schedule-attention -o %t.mlir
// RUN: fa4-opt %t.mlir --fa4-verify-protocol 2> %t.txt | diff %t.mlir -
// RUN: FileCheck %s --allow-empty < %t.txt
// RUN: fa4-opt %s --fa4-schedule-attention="epilogue=softmax stats-granularity=warp" --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty
// RUN: fa4-opt %s --fa4-schedule-attention="epilogue=correction stats-granularity=warpgroup" --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty
// RUN: fa4-opt %s --fa4-schedule-attention="kv-stages=2 p-split=128" --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty
// RUN: fa4-opt %s --fa4-schedule-attention="p-split=32 fragment-width=16 group-packing=off" --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty
// RUN: fa4-opt %s --fa4-schedule-attention="fragment-width=64 p-split=64 epilogue-chunk=16 rescale-chunk=16" --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty
// RUN: fa4-opt %s --fa4-schedule-attention="scheduler=linear poly-pairs=0 rescale-threshold=0" --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// CHECK-NOT: {{.+}}

func.func @causal(%q: memref<?x?x32x128xf16>, %k: memref<?x?x8x128xf16>,
                  %v: memref<?x?x8x128xf16>, %o: memref<?x?x32x128xf16>, %lse: memref<?x32x?xf32>) {
  fa4.attention ins(%q, %k, %v : memref<?x?x32x128xf16>, memref<?x?x8x128xf16>, memref<?x?x8x128xf16>)
                outs(%o : memref<?x?x32x128xf16>) lse(%lse : memref<?x32x?xf32>) causal
  return
}

func.func @full(%q: memref<1x1024x8x128xbf16>, %k: memref<1x1024x8x128xbf16>,
                %v: memref<1x1024x8x128xbf16>, %o: memref<1x1024x8x128xbf16>, %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xbf16>, memref<1x1024x8x128xbf16>, memref<1x1024x8x128xbf16>)
                outs(%o : memref<1x1024x8x128xbf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}

func.func @narrow(%q: memref<1x1024x8x64xf16>, %k: memref<1x1024x8x64xf16>,
                  %v: memref<1x1024x8x64xf16>, %o: memref<1x1024x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x64xf16>, memref<1x1024x8x64xf16>, memref<1x1024x8x64xf16>)
                outs(%o : memref<1x1024x8x64xf16>)
  return
}

func.func @narrow_causal(%q: memref<1x1000x8x64xf16>, %k: memref<1x1000x2x64xf16>,
                         %v: memref<1x1000x2x64xf16>, %o: memref<1x1000x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1000x8x64xf16>, memref<1x1000x2x64xf16>, memref<1x1000x2x64xf16>)
                outs(%o : memref<1x1000x8x64xf16>) causal
  return
}
