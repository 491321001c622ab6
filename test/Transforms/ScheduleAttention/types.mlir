// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types, head dimensions and strides reach the rings and fragments.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @bf16_attention(
// CHECK:         fa4.alias {{.*}} to !fa4.ring<2 x 128x128xbf16, tmem>
// CHECK:         fa4.convert {{.*}} : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xbf16>

func.func @bf16(%q: memref<1x1024x8x128xbf16>, %k: memref<1x1024x8x128xbf16>, %v: memref<1x1024x8x128xbf16>, %o: memref<1x1024x8x128xbf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xbf16>, memref<1x1024x8x128xbf16>, memref<1x1024x8x128xbf16>)
      outs(%o : memref<1x1024x8x128xbf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}

// Head dimension 64: O is 64 columns wide, S and P still 128 keys.
// CHECK-LABEL: fa4.kernel @narrow_attention(
// CHECK:         fa4.alloc "q" : !fa4.ring<2 x 128x64xf16, smem>
// CHECK-NEXT:    fa4.alloc "kv" : !fa4.ring<6 x 128x64xf16, smem>
// CHECK-NEXT:    fa4.alloc "o_staging" : !fa4.ring<2 x 128x64xf16, smem>
// CHECK:         fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
// CHECK-NEXT:    fa4.alloc "o" : !fa4.ring<2 x 128x64xf32, tmem>
// CHECK-NEXT:    fa4.alias {{.*}} column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
// CHECK:         fa4.row_max {{.*}} scale(0.180336878)
// CHECK:         fa4.role @correction
// CHECK:           fa4.read_tile {{.*}} columns(0) : !fa4.ring<2 x 128x64xf32, tmem>
// CHECK:           fa4.read_tile {{.*}} columns(32) : !fa4.ring<2 x 128x64xf32, tmem>
// CHECK-NOT:       fa4.read_tile
// CHECK:           fa4.fence async_shared
// CHECK-LABEL: func.func @narrow(

func.func @narrow(%q: memref<1x1024x8x64xf16>, %k: memref<1x1024x8x64xf16>, %v: memref<1x1024x8x64xf16>, %o: memref<1x1024x8x64xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x64xf16>, memref<1x1024x8x64xf16>, memref<1x1024x8x64xf16>)
      outs(%o : memref<1x1024x8x64xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}

// [B, H, S, D] in memory, seen as [B, S, H, D].
// CHECK-LABEL: fa4.kernel @bhsd_attention(
// CHECK-SAME:    : memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>,
// CHECK:         fa4.load {{.*}} : memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>, !fa4.ring<2 x 128x64xf16, smem>
// CHECK:         fa4.launch @bhsd_attention({{.*}}) : memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>,
func.func @bhsd(%q: memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>,
    %k: memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1]>>,
    %v: memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1], offset: ?>>,
    %o: memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>) {
  fa4.attention ins(%q, %k, %v : memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>,
                    memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1]>>,
                    memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1], offset: ?>>)
      outs(%o : memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>) causal
  return
}

// CHECK-LABEL: fa4.kernel @dynamic_attention(
// CHECK-SAME:    : memref<?x?x?x128xf16>, {{.*}}: memref<?x?x?xf32>) target(#fa4.target<sm_100a>) warps(16) scheduler(linear_persistent) {
// CHECK:         "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @dynamic(%q: memref<?x?x?x128xf16>, %k: memref<?x?x?x128xf16>,
    %v: memref<?x?x?x128xf16>, %o: memref<?x?x?x128xf16>, %lse: memref<?x?x?xf32>) {
  fa4.attention ins(%q, %k, %v : memref<?x?x?x128xf16>, memref<?x?x?x128xf16>,
                    memref<?x?x?x128xf16>)
      outs(%o : memref<?x?x?x128xf16>) lse(%lse : memref<?x?x?xf32>)
  return
}

// One dynamic head count: each query head is a tile of its own.
// CHECK-LABEL: fa4.kernel @dynamic_query_heads_attention(
// CHECK-SAME:    warps(16) scheduler(longest_first) causal {
func.func @dynamic_query_heads(%q: memref<1x64x?x64xbf16>, %k: memref<1x64x2x64xbf16>,
    %v: memref<1x64x2x64xbf16>, %o: memref<1x64x?x64xbf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x64x?x64xbf16>, memref<1x64x2x64xbf16>,
                    memref<1x64x2x64xbf16>)
      outs(%o : memref<1x64x?x64xbf16>) causal
  return
}
