// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who meets at the statistics barrier.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s --check-prefix=AUTO
// RUN: fa4-opt --fa4-schedule-attention="stats-granularity=warp" %s | FileCheck %s --check-prefix=WARP
// RUN: fa4-opt --fa4-schedule-attention="stats-granularity=warpgroup" %s | FileCheck %s --check-prefix=GROUP

// AUTO-LABEL: fa4.kernel @single_attention(
// AUTO: fa4.barrier "stats" named slots(2) per_warp arrives(@softmax threads 32, @correction threads 32)
// AUTO-LABEL: fa4.kernel @grouped_attention(
// AUTO: fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
// WARP-COUNT-2: fa4.barrier "stats" named slots(2) per_warp arrives(@softmax threads 32, @correction threads 32)
// GROUP-COUNT-2: fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
func.func @single(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
func.func @grouped(%q: memref<1x256x8x64xf16>, %k: memref<1x256x2x64xf16>, %v: memref<1x256x2x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x2x64xf16>, memref<1x256x2x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
