// RUN: fa4-opt %s --fa4-schedule-attention="chip=sm_90a turns=true" | FileCheck %s
// RUN: fa4-opt %s --fa4-schedule-attention=chip=sm_90a | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: fa4.kernel
// DEFAULT-NOT: "turn_

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two consumers of 64 rows, in turns; Q * K^T of a block is started before P * V of the
// block before it, and P is made only when the tensor core has read the old one.
// CHECK: fa4.kernel @f_attention(
// CHECK-SAME: warps(12) tile_rows(64) pack(4) scheduler(longest_first) causal {
// CHECK: fa4.alloc "q" : !fa4.ring<2 x 64x128xf16, smem>
// CHECK: fa4.alloc "k" : !fa4.ring<2 x 128x128xf16, smem>
// CHECK: fa4.alloc "v" : !fa4.ring<2 x 128x128xf16, smem>
// CHECK: fa4.barrier "q_full" slots(2) arrives(@load bytes 16384)
// CHECK: fa4.barrier "k_full" slots(2) arrives(@load bytes 32768)
// CHECK: fa4.barrier "k_empty" slots(2) arrives(@consumer_0 threads 4, @consumer_1 threads 4) initially_free
// CHECK: fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free
// CHECK: fa4.barrier "turn_0" slots(1) arrives(@consumer_1 threads 4) initially_free
// CHECK: fa4.barrier "turn_1" slots(1) arrives(@consumer_0 threads 4)
// CHECK: fa4.role @load warps(0 to 1) regs(24)
// CHECK: fa4.role @store warps(1 to 2) regs(24)
// CHECK: fa4.role @consumer_0 warps(4 to 8) regs(240)
// CHECK: fa4.wait %turn_0
// CHECK-NEXT: %[[S0:.*]] = fa4.warpgroup_mma {{.*}} transpose_b
// CHECK-NEXT: fa4.arrive %turn_1
// CHECK-NEXT: fa4.warpgroup_wait pending(0) %[[S0]]
// CHECK: fa4.mask
// CHECK: fa4.for_kv %{{.*}} in rest_masked
// CHECK: fa4.mask
// CHECK: fa4.for_kv %{{.*}} in rest_unmasked
// CHECK: fa4.wait %turn_0
// CHECK-NEXT: %[[S:.*]] = fa4.warpgroup_mma {{.*}} transpose_b
// CHECK: fa4.wait %v_full
// CHECK-NEXT: %[[O:.*]] = fa4.warpgroup_mma {{.*}} plus
// CHECK-NEXT: fa4.arrive %turn_1
// CHECK-NEXT: %[[X:.*]] = fa4.warpgroup_wait pending(1) %[[S]]
// CHECK-NEXT: fa4.arrive %k_empty
// CHECK-NEXT: %[[REF:.*]], %[[FACTOR:.*]] = fa4.row_max %[[X]] against
// CHECK-NEXT: %[[E:.*]] = fa4.exp2 %[[X]] minus %[[REF]]
// CHECK-NEXT: fa4.row_sum %[[E]] plus
// CHECK-NEXT: %[[Y:.*]] = fa4.warpgroup_wait pending(0) %[[O]]
// CHECK-NEXT: fa4.arrive %v_empty
// CHECK-NEXT: %[[P:.*]] = fa4.convert %[[E]]
// CHECK-NEXT: %[[Z:.*]] = fa4.scale_rows %[[Y]] by %[[FACTOR]]
// CHECK-NEXT: fa4.yield %[[Z]], %[[P]], %[[REF]]
// CHECK: fa4.arrive %q_empty_0
// CHECK: fa4.row_total
// CHECK: fa4.normalize
// CHECK: fa4.fence async_shared
// CHECK-NEXT: fa4.arrive %o_full_0
// CHECK: fa4.store_lse
// CHECK: fa4.role @consumer_1 warps(8 to 12) regs(240)
func.func @f(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x2x128xf16>, %v: memref<1x1024x2x128xf16>,
    %o: memref<1x1024x8x128xf16>, %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x2x128xf16>, memref<1x1024x2x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>) causal
  return
}
