// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a row's maximum may outgrow its reference.

// RUN: fa4-opt --fa4-schedule-attention="rescale-threshold=0" %s | FileCheck %s --check-prefix=ZERO
// RUN: fa4-opt --fa4-schedule-attention="rescale-threshold=3.5" %s | FileCheck %s --check-prefix=SOME

// ZERO-COUNT-2: fa4.row_max {{.*}} threshold(0.000000e+00)
// SOME-COUNT-2: fa4.row_max {{.*}} threshold(3.500000e+00)
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
