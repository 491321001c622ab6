// RUN: fa4-opt %s --fa4-allocate-storage --split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What has a place stays there, and the rest fills the gaps around it.

// CHECK: smem(99352)
// CHECK: fa4.alloc "a" at(49152) : !fa4.ring<1 x 128x128xf16, smem>
// CHECK: fa4.alloc "pinned" at(16384) : !fa4.ring<1 x 128x128xf16, smem>
// CHECK: fa4.alloc "b" at(0) : !fa4.ring<1 x 128x64xf16, smem>
// CHECK: fa4.barrier "x" slots(1) {{.*}} at(81920)
// CHECK: fa4.barrier "pinned" slots(2) {{.*}} at(99336)
// CHECK: fa4.barrier "n" named slots(2) {{.*}} at(1)
// CHECK: fa4.barrier "pinned_ids" named slots(2) {{.*}} at(3)
// CHECK: fa4.barrier "last" named slots(1) {{.*}} at(5)
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %a = fa4.alloc "a" : !fa4.ring<1 x 128x128xf16, smem>
  %p = fa4.alloc "pinned" at(16384) : !fa4.ring<1 x 128x128xf16, smem>
  %b = fa4.alloc "b" : !fa4.ring<1 x 128x64xf16, smem>
  %x = fa4.barrier "x" slots(1) arrives(@r threads 1)
  %y = fa4.barrier "pinned" slots(2) arrives(@r threads 1) at(99336)
  %n = fa4.barrier "n" named slots(2) arrives(@r threads 128)
  %m = fa4.barrier "pinned_ids" named slots(2) arrives(@r threads 128) at(3)
  %l = fa4.barrier "last" named slots(1) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}
