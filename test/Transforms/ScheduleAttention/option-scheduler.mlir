// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order of the tasks, whatever the mask.

// RUN: fa4-opt --fa4-schedule-attention="scheduler=linear" %s | FileCheck %s --check-prefix=LINEAR
// RUN: fa4-opt --fa4-schedule-attention="scheduler=longest-first" %s | FileCheck %s --check-prefix=LONGEST

// LINEAR-LABEL: fa4.kernel @full_attention({{.*}} scheduler(linear_persistent) {
// LINEAR-LABEL: fa4.kernel @causal_attention({{.*}} scheduler(linear_persistent) causal {
// LONGEST-LABEL: fa4.kernel @full_attention({{.*}} scheduler(longest_first) {
// LONGEST-LABEL: fa4.kernel @causal_attention({{.*}} scheduler(longest_first) causal {
func.func @full(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
func.func @causal(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) causal
  return
}
