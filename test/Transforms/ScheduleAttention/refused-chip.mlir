// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chip that is not known, and a choice that is not one.

// RUN: not fa4-opt --fa4-schedule-attention=chip=sm_80 %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not fa4-opt --fa4-schedule-attention=scheduler=fastest %s 2>&1 | FileCheck %s --check-prefix=CHOICE

// UNKNOWN: error: unknown chip 'sm_80', expected one of sm_100a, sm_90a{{$}}
// CHOICE: Cannot find option named 'fastest'

func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
