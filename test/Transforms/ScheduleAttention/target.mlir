// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The target: the innermost module that names one wins over the option.

// RUN: fa4-opt --fa4-schedule-attention=chip=sm_100a %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @by_option_attention(
// CHECK-SAME: target(#fa4.target<sm_100a>)
// CHECK-LABEL: fa4.kernel @by_module_attention(
// CHECK-SAME: target(#fa4.target<sm_100a, sms = 132>)
// CHECK-LABEL: fa4.kernel @by_inner_module_attention(
// CHECK-SAME: target(#fa4.target<sm_100a, sms = 20>)
func.func @by_option(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
module attributes {fa4.target = #fa4.target<sm_100a, sms = 132>} {
func.func @by_module(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
module attributes {fa4.target = #fa4.target<sm_100a, sms = 20>} {
func.func @by_inner_module(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
}
}
