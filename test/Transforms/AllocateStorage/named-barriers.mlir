// RUN: fa4-opt %s --fa4-allocate-storage --split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ids from 1 up, four for each slot that every warp has of its own.

// CHECK: fa4.barrier "a" named slots(1) {{.*}} at(1)
// CHECK: fa4.barrier "b" named slots(2) per_warp {{.*}} at(2)
// CHECK: fa4.barrier "c" named slots(6) {{.*}} at(10)
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %a = fa4.barrier "a" named slots(1) arrives(@r threads 128)
  %b = fa4.barrier "b" named slots(2) per_warp arrives(@r threads 32)
  %c = fa4.barrier "c" named slots(6) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}
