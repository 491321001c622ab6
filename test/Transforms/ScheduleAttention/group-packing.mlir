// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Group packing: heads of a group share a tile where the group size divides 128.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: fa4-opt --fa4-schedule-attention=group-packing=off %s | FileCheck %s --check-prefixes=CHECK,OFF

// CHECK-LABEL: fa4.kernel @group_1_attention(
// CHECK-SAME:    warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) per_warp arrives(@softmax threads 32, @correction threads 32)
func.func @group_1(%q: memref<1x256x4x64xf16>, %k: memref<1x256x4x64xf16>, %v: memref<1x256x4x64xf16>,
    %o: memref<1x256x4x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x4x64xf16>, memref<1x256x4x64xf16>, memref<1x256x4x64xf16>)
      outs(%o : memref<1x256x4x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_2_attention(
// AUTO-SAME:     warps(16) pack(2) scheduler(
// OFF-SAME:      warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_2(%q: memref<1x256x8x64xf16>, %k: memref<1x256x4x64xf16>, %v: memref<1x256x4x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x4x64xf16>, memref<1x256x4x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_4_attention(
// AUTO-SAME:     warps(16) pack(4) scheduler(
// OFF-SAME:      warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_4(%q: memref<1x256x8x64xf16>, %k: memref<1x256x2x64xf16>, %v: memref<1x256x2x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x2x64xf16>, memref<1x256x2x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_8_attention(
// AUTO-SAME:     warps(16) pack(8) scheduler(
// OFF-SAME:      warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_8(%q: memref<1x256x8x64xf16>, %k: memref<1x256x1x64xf16>, %v: memref<1x256x1x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x1x64xf16>, memref<1x256x1x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_16_attention(
// AUTO-SAME:     warps(16) pack(16) scheduler(
// OFF-SAME:      warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_16(%q: memref<1x256x32x64xf16>, %k: memref<1x256x2x64xf16>, %v: memref<1x256x2x64xf16>,
    %o: memref<1x256x32x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x32x64xf16>, memref<1x256x2x64xf16>, memref<1x256x2x64xf16>)
      outs(%o : memref<1x256x32x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_32_attention(
// AUTO-SAME:     warps(16) pack(32) scheduler(
// OFF-SAME:      warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_32(%q: memref<1x256x32x64xf16>, %k: memref<1x256x1x64xf16>, %v: memref<1x256x1x64xf16>,
    %o: memref<1x256x32x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x32x64xf16>, memref<1x256x1x64xf16>, memref<1x256x1x64xf16>)
      outs(%o : memref<1x256x32x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_64_attention(
// AUTO-SAME:     warps(16) pack(64) scheduler(
// OFF-SAME:      warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_64(%q: memref<1x256x64x64xf16>, %k: memref<1x256x1x64xf16>, %v: memref<1x256x1x64xf16>,
    %o: memref<1x256x64x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x64x64xf16>, memref<1x256x1x64xf16>, memref<1x256x1x64xf16>)
      outs(%o : memref<1x256x64x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_128_attention(
// AUTO-SAME:     warps(16) pack(128) scheduler(
// OFF-SAME:      warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_128(%q: memref<1x256x128x64xf16>, %k: memref<1x256x1x64xf16>, %v: memref<1x256x1x64xf16>,
    %o: memref<1x256x128x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x128x64xf16>, memref<1x256x1x64xf16>, memref<1x256x1x64xf16>)
      outs(%o : memref<1x256x128x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_3_attention(
// CHECK-SAME:    warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_3(%q: memref<1x256x6x64xf16>, %k: memref<1x256x2x64xf16>, %v: memref<1x256x2x64xf16>,
    %o: memref<1x256x6x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x6x64xf16>, memref<1x256x2x64xf16>, memref<1x256x2x64xf16>)
      outs(%o : memref<1x256x6x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_6_attention(
// CHECK-SAME:    warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_6(%q: memref<1x256x6x64xf16>, %k: memref<1x256x1x64xf16>, %v: memref<1x256x1x64xf16>,
    %o: memref<1x256x6x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x6x64xf16>, memref<1x256x1x64xf16>, memref<1x256x1x64xf16>)
      outs(%o : memref<1x256x6x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_71_attention(
// CHECK-SAME:    warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_71(%q: memref<1x256x71x64xf16>, %k: memref<1x256x1x64xf16>, %v: memref<1x256x1x64xf16>,
    %o: memref<1x256x71x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x71x64xf16>, memref<1x256x1x64xf16>, memref<1x256x1x64xf16>)
      outs(%o : memref<1x256x71x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @group_256_attention(
// CHECK-SAME:    warps(16) scheduler(
// CHECK:         fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @group_256(%q: memref<1x256x256x64xf16>, %k: memref<1x256x1x64xf16>, %v: memref<1x256x1x64xf16>,
    %o: memref<1x256x256x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x256x64xf16>, memref<1x256x1x64xf16>, memref<1x256x1x64xf16>)
      outs(%o : memref<1x256x256x64xf16>)
  return
}
