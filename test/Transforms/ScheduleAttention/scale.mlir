// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a scale reaches the exponents: c = log2(e) * scale, rounded once to f32.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @default_128_attention(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} scale(0.127517432) threshold(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.exp2 {{.*}} scale(0.127517432) :
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} against {{.*}} scale(0.127517432) threshold(
// CHECK:         fa4.role @mma
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:         fa4.role @load
func.func @default_128(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>,
    %o: memref<1x256x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>)
      outs(%o : memref<1x256x8x128xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @default_64_attention(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} scale(0.180336878) threshold(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.exp2 {{.*}} scale(0.180336878) :
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} against {{.*}} scale(0.180336878) threshold(
// CHECK:         fa4.role @mma
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:         fa4.role @load
func.func @default_64(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @one_attention(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} scale(1.44269502) threshold(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.exp2 {{.*}} scale(1.44269502) :
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} against {{.*}} scale(1.44269502) threshold(
// CHECK:         fa4.role @mma
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:         fa4.role @load
func.func @one(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) scale(1.0)
  return
}

// The maximum is of scaled logits: Q is negated, the factor stays positive.
// CHECK-LABEL: fa4.kernel @negative_attention(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} scale(0.72134751) threshold(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.exp2 {{.*}} scale(0.72134751) :
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} against {{.*}} scale(0.72134751) threshold(
// CHECK:         fa4.role @mma
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK-NOT:       negate_a
// CHECK:         fa4.role @load
func.func @negative(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) scale(-0.5)
  return
}

// Past the largest f32, the largest f32.
// CHECK-LABEL: fa4.kernel @huge_attention(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} scale(3.40282347E+38) threshold(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.exp2 {{.*}} scale(3.40282347E+38) :
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} against {{.*}} scale(3.40282347E+38) threshold(
// CHECK:         fa4.role @mma
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:           fa4.mma {{.*}} transpose_b :
// CHECK:         fa4.role @load
func.func @huge(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) scale(3.0e38)
  return
}

// CHECK-LABEL: fa4.kernel @huge_negative_attention(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} scale(3.40282347E+38) threshold(
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.exp2 {{.*}} scale(3.40282347E+38) :
// CHECK-NOT:     fa4.scale
// CHECK:         fa4.row_max {{.*}} against {{.*}} scale(3.40282347E+38) threshold(
// CHECK:         fa4.role @mma
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK:           fa4.mma {{.*}} transpose_b negate_a :
// CHECK-NOT:       negate_a
// CHECK:         fa4.role @load
func.func @huge_negative(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) scale(-3.4e38)
  return
}

// Before the mask: 0 times a masked -inf would be NaN.
// CHECK-LABEL: fa4.kernel @zero_attention(
// CHECK:         fa4.tmem_wait load
// CHECK-NEXT:    %[[X0:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 0.000000e+00 :
// CHECK-NEXT:    %[[Y0:[a-z0-9_]+]] = fa4.mask %[[X0]][
// CHECK-NEXT:    %[[X1:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 0.000000e+00 :
// CHECK-NEXT:    %[[Y1:[a-z0-9_]+]] = fa4.mask %[[X1]][
// CHECK-NEXT:    %[[X2:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 0.000000e+00 :
// CHECK-NEXT:    %[[Y2:[a-z0-9_]+]] = fa4.mask %[[X2]][
// CHECK-NEXT:    %[[X3:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 0.000000e+00 :
// CHECK-NEXT:    %[[Y3:[a-z0-9_]+]] = fa4.mask %[[X3]][
// CHECK-NEXT:    fa4.row_max %[[Y0]], %[[Y1]], %[[Y2]], %[[Y3]] scale(1.000000e+00) threshold(
// CHECK:         fa4.exp2 {{.*}} scale(1.000000e+00) :
// CHECK:         in rest_masked(
// CHECK-COUNT-4: fa4.scale {{.*}} by 0.000000e+00 :
// CHECK:         in rest_unmasked(
// CHECK-COUNT-4: fa4.scale {{.*}} by 0.000000e+00 :
// CHECK-NEXT:    fa4.row_max {{.*}} scale(1.000000e+00)
// CHECK-NOT:     negate_a
// CHECK:         fa4.role @load
func.func @zero(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) causal scale(0.0)
  return
}

// Either zero.
// CHECK-LABEL: func.func @negative_zero(
// CHECK-NEXT:    fa4.launch @zero_attention(
func.func @negative_zero(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) causal scale(-0.0)
  return
}

// No normal factor expresses it: the logits take it, sign and all.
// CHECK-LABEL: fa4.kernel @subnormal_attention(
// CHECK:         fa4.tmem_wait load
// CHECK-NEXT:    %[[X0:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y0:[a-z0-9_]+]] = fa4.mask %[[X0]][
// CHECK-NEXT:    %[[X1:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y1:[a-z0-9_]+]] = fa4.mask %[[X1]][
// CHECK-NEXT:    %[[X2:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y2:[a-z0-9_]+]] = fa4.mask %[[X2]][
// CHECK-NEXT:    %[[X3:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by 1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y3:[a-z0-9_]+]] = fa4.mask %[[X3]][
// CHECK-NEXT:    fa4.row_max %[[Y0]], %[[Y1]], %[[Y2]], %[[Y3]] scale(1.000000e+00) threshold(
// CHECK:         fa4.exp2 {{.*}} scale(1.000000e+00) :
// CHECK:         in rest_masked(
// CHECK-COUNT-4: fa4.scale {{.*}} by 1.44269{{[0-9]*}}E-39 :
// CHECK:         in rest_unmasked(
// CHECK-COUNT-4: fa4.scale {{.*}} by 1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    fa4.row_max {{.*}} scale(1.000000e+00)
// CHECK-NOT:     negate_a
// CHECK:         fa4.role @load
func.func @subnormal(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) causal scale(1.0e-39)
  return
}

// CHECK-LABEL: fa4.kernel @negative_subnormal_attention(
// CHECK:         fa4.tmem_wait load
// CHECK-NEXT:    %[[X0:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by -1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y0:[a-z0-9_]+]] = fa4.mask %[[X0]][
// CHECK-NEXT:    %[[X1:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by -1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y1:[a-z0-9_]+]] = fa4.mask %[[X1]][
// CHECK-NEXT:    %[[X2:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by -1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y2:[a-z0-9_]+]] = fa4.mask %[[X2]][
// CHECK-NEXT:    %[[X3:[a-z0-9_]+]] = fa4.scale %{{[a-z0-9_]+}} by -1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    %[[Y3:[a-z0-9_]+]] = fa4.mask %[[X3]][
// CHECK-NEXT:    fa4.row_max %[[Y0]], %[[Y1]], %[[Y2]], %[[Y3]] scale(1.000000e+00) threshold(
// CHECK:         fa4.exp2 {{.*}} scale(1.000000e+00) :
// CHECK:         in rest_masked(
// CHECK-COUNT-4: fa4.scale {{.*}} by -1.44269{{[0-9]*}}E-39 :
// CHECK:         in rest_unmasked(
// CHECK-COUNT-4: fa4.scale {{.*}} by -1.44269{{[0-9]*}}E-39 :
// CHECK-NEXT:    fa4.row_max {{.*}} scale(1.000000e+00)
// CHECK-NOT:     negate_a
// CHECK:         fa4.role @load
func.func @negative_subnormal(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) causal scale(-1.0e-39)
  return
}
