// RUN: fa4-opt %s --fa4-allocate-storage --split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Columns in order of declaration; what is acquired is a power of two, at least
// 32; an alias takes none. What is acquired by hand is kept.

// CHECK-LABEL: @power_of_two(
// CHECK-SAME: smem(16)
// CHECK: fa4.alloc "s" at(0) : !fa4.ring<2 x 128x64xf32, tmem>
// CHECK: fa4.alloc "o" at(128) : !fa4.ring<1 x 128x32xf32, tmem>
// CHECK: fa4.tmem_acquire warp(0) columns(256) at(0)
fa4.kernel @power_of_two(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x64xf32, tmem>
  %p = fa4.alias %s column(0) : !fa4.ring<2 x 128x64xf32, tmem> to !fa4.ring<2 x 128x64xf16, tmem>
  %o_ring = fa4.alloc "o" : !fa4.ring<1 x 128x32xf32, tmem>
  fa4.tmem_acquire warp(0)
}

// -----

// CHECK-LABEL: @at_least_32(
// CHECK: fa4.tmem_acquire warp(0) columns(32) at(0)
fa4.kernel @at_least_32(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" : !fa4.ring<1 x 128x8xf32, tmem>
  fa4.tmem_acquire warp(0)
}

// -----

// CHECK-LABEL: @first_fit(
// CHECK: fa4.alloc "a" at(64)
// CHECK: fa4.alloc "pinned" at(32)
// CHECK: fa4.alloc "b" at(0)
// CHECK: fa4.tmem_acquire warp(0) columns(512) at(0)
fa4.kernel @first_fit(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %a = fa4.alloc "a" : !fa4.ring<1 x 128x64xf32, tmem>
  %p = fa4.alloc "pinned" at(32) : !fa4.ring<1 x 128x32xf32, tmem>
  %b = fa4.alloc "b" : !fa4.ring<1 x 128x32xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
}
