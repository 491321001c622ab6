// RUN: fa4-opt %s --fa4-schedule-attention=chip=sm_90a -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: fa4-opt %t.mlir --fa4-verify-protocol -o %t.proved.mlir 2>&1 | FileCheck %s --check-prefix=PROVED --allow-empty
// PROVED-NOT: {{.+}}

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Q * K^T of a block is started before the exponentials of the block before, and P * V of
// that before the maximum of the block.
// CHECK: fa4.role @consumer_0
// CHECK: %[[FIRST:.*]] = fa4.warpgroup_mma {{.*}} transpose_b
// CHECK-NEXT: fa4.warpgroup_wait pending(0) %[[FIRST]]
// CHECK: fa4.row_max %{{.*}} scale({{[0-9.e-]*}}) threshold(8.000000e+00) :
// CHECK: %[[NOTHING:.*]] = fa4.fill 0.000000e+00 : !fa4.rows<64xf32, partial>
// CHECK-NEXT: fa4.exponents
// CHECK-NOT: fa4.exp2
// CHECK: fa4.for_kv %{{.*}} in rest(%{{.*}}) iter_args(%[[OLD:.*]] = %{{.*}}, %[[OLD_X:.*]] = %{{.*}}, %[[OLD_REF:.*]] = %{{.*}}, %[[OLD_SUM:.*]] = %[[NOTHING]], %[[OLD_FACTOR:.*]] = %{{.*}})
// CHECK: fa4.wait %k_full
// CHECK-NEXT: %[[S:.*]] = fa4.warpgroup_mma {{.*}} transpose_b
// CHECK-NEXT: %[[E:.*]] = fa4.exp2 %[[OLD_X]] : !fa4.fragment<64x128xf32, wgmma>
// CHECK-NEXT: %[[SUM:.*]] = fa4.row_sum %[[E]] plus %[[OLD_SUM]] times %[[OLD_FACTOR]]
// CHECK-NEXT: %[[P:.*]] = fa4.convert %[[E]]
// CHECK: fa4.wait %v_full
// CHECK-NEXT: %[[O:.*]] = fa4.warpgroup_mma %[[P]] * {{.*}} plus %[[OLD]]
// CHECK-NEXT: %[[LOGITS:.*]] = fa4.warpgroup_wait pending(1) %[[S]]
// CHECK-NEXT: fa4.arrive %k_empty
// CHECK-NEXT: %[[REF:.*]], %[[FACTOR:.*]] = fa4.row_max %[[LOGITS]] against %[[OLD_REF]] scale({{.*}}) threshold({{.*}}) vote
// CHECK-NEXT: %[[X:.*]] = fa4.exponents %[[LOGITS]] minus %[[REF]]
// CHECK-NEXT: %[[Y:.*]] = fa4.warpgroup_wait pending(0) %[[O]]
// CHECK-NEXT: fa4.arrive %v_empty
// CHECK-NEXT: %[[Z:.*]] = fa4.scale_rows %[[Y]] by %[[FACTOR]]
// CHECK-NEXT: fa4.yield %[[Z]], %[[X]], %[[REF]], %[[SUM]], %[[FACTOR]]
// CHECK: fa4.exp2
// CHECK: fa4.row_total
func.func @f(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x2x128xf16>, %v: memref<1x1024x2x128xf16>,
    %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x2x128xf16>, memref<1x1024x2x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>)
  return
}
