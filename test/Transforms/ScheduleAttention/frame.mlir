// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel around the roles: signature, storage, set-up, tear-down, and the
// launch that is left of the attention.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @attention_attention(
// CHECK-SAME:    %{{[a-z0-9_]+}}: memref<1x1024x8x128xf16>, %{{[a-z0-9_]+}}: memref<1x1024x8x128xf16>, %{{[a-z0-9_]+}}: memref<1x1024x8x128xf16>, %{{[a-z0-9_]+}}: memref<1x1024x8x128xf16>, %{{[a-z0-9_]+}}: memref<1x8x1024xf32>)
// CHECK-SAME:    target(#fa4.target<sm_100a>) warps(16) scheduler(linear_persistent) {
// CHECK-NEXT:    arith.constant 0 : index
// CHECK-NEXT:    arith.constant 1 : index
// CHECK-NEXT:    arith.constant false
// CHECK-NEXT:    arith.constant true
// CHECK-NEXT:    fa4.alloc "q" : !fa4.ring<2 x 128x128xf16, smem>
// CHECK-NEXT:    fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
// CHECK-NEXT:    fa4.alloc "o_staging" : !fa4.ring<2 x 128x128xf16, smem>
// CHECK-NEXT:    fa4.alloc "mail_factor" : !fa4.ring<2 x 128xf32, smem>
// CHECK-NEXT:    fa4.alloc "mail_reference" : !fa4.ring<2 x 128xf32, smem>
// CHECK-NEXT:    %[[S:[a-z0-9_]+]] = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
// CHECK-NEXT:    fa4.alloc "o" : !fa4.ring<2 x 128x128xf32, tmem>
// CHECK-NEXT:    fa4.alias %[[S]] column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
// CHECK:         fa4.init_barriers warp(0)
// CHECK-NEXT:    fa4.tmem_acquire warp(12)
// CHECK-NEXT:    fa4.cta_sync
// CHECK-NEXT:    fa4.role @softmax(%{{[a-z0-9_]+}}) warps(0 to 8) regs(200) {
// CHECK:         fa4.role @correction warps(8 to 12) regs(64) {
// CHECK:         fa4.role @mma warps(12 to 13) regs(48) {
// CHECK:         fa4.role @load warps(13 to 14) regs(48) {
// CHECK:         fa4.role @store warps(14 to 15) regs(48) {
// CHECK:         fa4.role @idle warps(15 to 16) regs(48) {
// CHECK-NEXT:    }
// CHECK-NEXT:    fa4.cta_sync
// CHECK-NEXT:    fa4.tmem_release warp(0)
// CHECK-NEXT:  }

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<1x1024x8x128xf16>, %[[K:[a-z0-9]+]]: memref<1x1024x8x128xf16>, %[[V:[a-z0-9]+]]: memref<1x1024x8x128xf16>, %[[O:[a-z0-9]+]]: memref<1x1024x8x128xf16>, %[[LSE:[a-z0-9]+]]: memref<1x8x1024xf32>) {
// CHECK-NEXT:    fa4.launch @attention_attention(%[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]]) :
// CHECK-NEXT:    return

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}

// Without LSE no reference travels, and nothing is written of it.
// CHECK-LABEL: fa4.kernel @no_lse_attention(
// CHECK-NOT:     "mail_reference"
// CHECK-NOT:     fa4.store_lse
// CHECK:         fa4.tmem_release
// CHECK:         fa4.launch @no_lse_attention(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}) :

func.func @no_lse(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>)
  return
}

// The causal epilogue has the reference at hand.
// CHECK-LABEL: fa4.kernel @causal_attention(
// CHECK-SAME:    target(#fa4.target<sm_100a>) warps(16) scheduler(longest_first) causal {
// CHECK-NOT:     "mail_reference"
// CHECK:         fa4.store_lse
// CHECK-NOT:     fa4.store_lse
// CHECK:         fa4.role @correction

func.func @causal(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>) causal
  return
}
