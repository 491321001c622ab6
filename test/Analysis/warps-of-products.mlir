// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each warp of a warpgroup reads the whole tile in a product: that one of them has seen
// its product end says nothing of the others. O is staged where Q was.

// RUN: fa4-opt %s --fa4-schedule-attention=chip=sm_90a -o %t.mlir
// RUN: %python %S/Inputs/stage_over_q.py < %t.mlir | not fa4-opt --fa4-verify-protocol -o %t.out.mlir 2>&1 | FileCheck %s
// CHECK: error: 'fa4.write_tile' op race: @consumer_0 writes "q"[0] in task 1, but nothing orders it after the read by other warps of @consumer_0: expected a barrier between that joins all its warps
// RUN: %python %S/Inputs/stage_over_q.py join < %t.mlir | fa4-opt --fa4-verify-protocol -o %t.out.mlir

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>) causal
  return
}
