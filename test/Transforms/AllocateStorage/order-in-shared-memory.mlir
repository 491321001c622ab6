// RUN: fa4-opt %s --fa4-allocate-storage --split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles first, then mailboxes, then barriers, whatever the order of declaration.

// CHECK: smem(33312)
// CHECK: fa4.barrier "b" slots(3) {{.*}} at(33280)
// CHECK: fa4.alloc "mail" at(32768) : !fa4.ring<1 x 128xf32, smem>
// CHECK: fa4.alloc "tile" at(0) : !fa4.ring<1 x 128x128xf16, smem>
// CHECK: fa4.barrier "c" slots(1) {{.*}} at(33304)
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %b = fa4.barrier "b" slots(3) arrives(@r threads 1)
  %mail = fa4.alloc "mail" : !fa4.ring<1 x 128xf32, smem>
  %tile = fa4.alloc "tile" : !fa4.ring<1 x 128x128xf16, smem>
  %c = fa4.barrier "c" slots(1) arrives(@r threads 1)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}
