// RUN: fa4-opt %s --fa4-schedule-attention=chip=sm_90a | FileCheck %s
// RUN: fa4-opt %s --fa4-schedule-attention="chip=sm_90a tile-keys=96" | FileCheck %s --check-prefix=CHOSEN

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles by shape, where the types tell it; one choice leaves the others at what goes
// with it on any shape.

// CHECK: fa4.kernel @long_causal_attention(
// CHECK-SAME: warps(12) tile_rows(64) tile_keys(160) pack(4)
// CHOSEN: fa4.kernel @long_causal_attention(
// CHOSEN-SAME: warps(12) tile_rows(64) tile_keys(96) pack(4)
func.func @long_causal(%q: memref<1x8192x32x128xf16>, %k: memref<1x8192x8x128xf16>, %o: memref<1x8192x32x128xf16>) {
  fa4.attention ins(%q, %k, %k : memref<1x8192x32x128xf16>, memref<1x8192x8x128xf16>, memref<1x8192x8x128xf16>)
      outs(%o : memref<1x8192x32x128xf16>) causal
  return
}

// CHECK-NOT: fa4.exponents
// CHECK: fa4.kernel @dynamic_attention(
// CHECK-SAME: warps(12) tile_rows(64) scheduler(longest_first)
// CHECK: fa4.exponents
// CHOSEN: fa4.kernel @dynamic_attention(
// CHOSEN: fa4.exponents
func.func @dynamic(%q: memref<?x?x?x128xf16>, %k: memref<?x?x?x128xf16>, %o: memref<?x?x?x128xf16>) {
  fa4.attention ins(%q, %k, %k : memref<?x?x?x128xf16>, memref<?x?x?x128xf16>, memref<?x?x?x128xf16>)
      outs(%o : memref<?x?x?x128xf16>) causal
  return
}

// CHECK: fa4.kernel @few_tasks_attention(
// CHECK-SAME: warps(12) tile_rows(64) scheduler(linear_persistent)
// CHECK: fa4.alloc "k" : !fa4.ring<4 x 128x64xf16, smem>
// CHECK: fa4.exponents
// CHOSEN: fa4.kernel @few_tasks_attention(
// CHOSEN-SAME: warps(16) stages(3) tile_rows(64) tile_keys(96)
func.func @few_tasks(%q: memref<1x1024x32x64xf16>, %k: memref<1x1024x32x64xf16>, %o: memref<1x1024x32x64xf16>) {
  fa4.attention ins(%q, %k, %k : memref<1x1024x32x64xf16>, memref<1x1024x32x64xf16>, memref<1x1024x32x64xf16>)
      outs(%o : memref<1x1024x32x64xf16>)
  return
}

// CHECK: fa4.kernel @many_tasks_attention(
// CHECK-SAME: warps(16) stages(3) tile_rows(64) scheduler(linear_persistent)
// CHECK-NOT: fa4.exponents
func.func @many_tasks(%q: memref<1x8192x32x64xf16>, %k: memref<1x8192x32x64xf16>, %o: memref<1x8192x32x64xf16>) {
  fa4.attention ins(%q, %k, %k : memref<1x8192x32x64xf16>, memref<1x8192x32x64xf16>, memref<1x8192x32x64xf16>)
      outs(%o : memref<1x8192x32x64xf16>)
  return
}
