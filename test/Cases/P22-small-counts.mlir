// RUN: fa4-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(fa4.kernel(fa4-allocate-storage,fa4-materialize-phases),fa4-lower-to-nvvm)' | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// P22: no division makes the count of a barrier 0. A role of one warp arrives with
// its 32 threads or once, and the count is what the contract says.
// CHECK-LABEL: llvm.func @one_warp
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %{{.*}}
// CHECK: nvvm.mbarrier.init %{{.*}}, %{{.*}}
fa4.kernel @one_warp(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %a = fa4.barrier "threads" slots(1) arrives(@one threads 32)
  %b = fa4.barrier "warps" slots(1) arrives(@one threads 1)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @one warps(0 to 1) regs(48) {
    fa4.arrive %a[%c0]
    fa4.arrive %b[%c0]
  }
  fa4.role @rest warps(1 to 4) regs(48) { }
}

// -----

fa4.kernel @zero(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 threads of @one, but got 0}}
  %a = fa4.barrier "a" slots(1) arrives(@one threads 0)
  fa4.role @one warps(0 to 1) regs(48) { }
  fa4.role @rest warps(1 to 4) regs(48) { }
}

// -----

// A part of a warp is neither.
fa4.kernel @part(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %a = fa4.barrier "a" slots(1) arrives(@one threads 16)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @one warps(0 to 1) regs(48) {
    // expected-error @below {{'fa4.arrive' op expected 32 arrivals, one a thread, or 1, one a warp, of @one on barrier "a", but got 16}}
    fa4.arrive %a[%c0]
  }
  fa4.role @rest warps(1 to 4) regs(48) { }
}
