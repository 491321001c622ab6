// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The share of exponentials by polynomial, and the fragments that take it: those
// over columns 32 to 96, or 0 to 96 under a causal mask, in unmasked blocks that
// are not the first, never the last fragment.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s --check-prefix=DEFAULT
// RUN: fa4-opt --fa4-schedule-attention="poly-pairs=1 poly-of=4" %s | FileCheck %s --check-prefix=QUARTER
// RUN: fa4-opt --fa4-schedule-attention="poly-pairs=0" %s | FileCheck %s --check-prefix=NONE
// RUN: fa4-opt --fa4-schedule-attention="fragment-width=16" %s | FileCheck %s --check-prefix=NARROW
// RUN: fa4-opt --fa4-schedule-attention="fragment-width=64 p-split=64" %s | FileCheck %s --check-prefix=WIDE

// DEFAULT-LABEL: fa4.kernel @f_attention(
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT-LABEL: fa4.kernel @causal_attention(
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// DEFAULT: fa4.exp2 {{.*}} scale(0.180336878) :

// QUARTER-LABEL: fa4.kernel @f_attention(
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) poly(1 of 4) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) poly(1 of 4) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER-LABEL: fa4.kernel @causal_attention(
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) poly(1 of 4) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) poly(1 of 4) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) poly(1 of 4) :
// QUARTER: fa4.exp2 {{.*}} scale(0.180336878) :

// NONE-NOT: poly(

// NARROW-LABEL: fa4.kernel @f_attention(
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW-LABEL: fa4.kernel @causal_attention(
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :
// NARROW: fa4.exp2 {{.*}} scale(0.180336878) :

// WIDE-LABEL: fa4.kernel @f_attention(
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :
// WIDE-LABEL: fa4.kernel @causal_attention(
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) poly(2 of 8) :
// WIDE: fa4.exp2 {{.*}} scale(0.180336878) :

func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
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
