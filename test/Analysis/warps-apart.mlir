// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warps of a role run on their own until a barrier joins them: two of them that
// arrive twice fill a phase as well as four that arrive once.

// RUN: fa4-opt %s --fa4-verify-protocol -split-input-file -verify-diagnostics

fa4.kernel @one_role(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{a phase of the barrier takes 128 threads of @a}}
  %z = fa4.barrier "z" slots(1) arrives(@a threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @a warps(0 to 4) regs(48) {
    // expected-note @below {{that arrival is here}}
    fa4.arrive %z[%c0]
    // expected-error @below {{expected the arrival of @a for phase 2 of barrier "z"[0] after phase 1, but it may be counted there: nothing orders it after all of 128 threads of @a, but after those of the same warp}}
    fa4.arrive %z[%c0]
  }
  fa4.role @w warps(4 to 8) regs(48) {
    fa4.wait %z[%c0]
    fa4.wait %z[%c0]
  }
}

// -----

// @a knows of @b's arrivals, and each warp of its own.

fa4.kernel @own(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(12) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{a phase of the barrier takes 128 threads of @a and 128 threads of @b}}
  %z = fa4.barrier "z" slots(1) arrives(@a threads 128, @b threads 128)
  %x = fa4.barrier "x" slots(1) arrives(@b threads 128)
  %y = fa4.barrier "y" slots(1) arrives(@w threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @a warps(0 to 4) regs(48) {
    // expected-note @below {{that arrival is here}}
    fa4.arrive %z[%c0]
    fa4.wait %x[%c0]
    // expected-error @below {{nothing orders it after all of 128 threads of @a, but after those of the same warp}}
    fa4.arrive %z[%c0]
  }
  fa4.role @b warps(4 to 8) regs(48) {
    fa4.arrive %z[%c0]
    fa4.arrive %x[%c0]
    fa4.wait %y[%c0]
    fa4.arrive %z[%c0]
  }
  fa4.role @w warps(8 to 12) regs(48) {
    fa4.wait %z[%c0]
    fa4.arrive %y[%c0]
    fa4.wait %z[%c0]
  }
}

// -----

// Warps that meet in pairs know of their partners alone.

fa4.kernel @pairs(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(12) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{a phase of the barrier takes 128 threads of @a and 128 threads of @b}}
  %z = fa4.barrier "z" slots(1) arrives(@a threads 128, @b threads 128)
  %pairs = fa4.barrier "pairs" named slots(1) per_warp arrives(@a threads 32, @b threads 32)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @a warps(0 to 4) regs(48) {
    // expected-note @below {{that arrival is here}}
    fa4.arrive %z[%c0]
    fa4.wait %pairs[%c0]
    fa4.wait %z[%c0]
    fa4.arrive %z[%c0]
  }
  fa4.role @b warps(4 to 8) regs(48) {
    fa4.arrive %z[%c0]
    fa4.wait %pairs[%c0]
    // expected-error @below {{nothing orders it after all of 128 threads of @a, but after those of the same warp}}
    fa4.arrive %z[%c0]
  }
  fa4.role @w warps(8 to 12) regs(48) {
    fa4.wait %z[%c0]
    fa4.wait %z[%c0]
  }
}

// -----

// What is legal: a wait for the phase; a barrier of all warps; a role of one warp; pairs that meet
// for a barrier of pairs.

fa4.kernel @legal(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(12) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %z = fa4.barrier "z" slots(1) arrives(@a threads 128, @b threads 128)
  %all = fa4.barrier "all" named slots(1) arrives(@a threads 128, @b threads 128)
  %pairs = fa4.barrier "pairs" named slots(1) per_warp arrives(@a threads 32, @b threads 32)
  %one = fa4.barrier "one" slots(1) arrives(@w threads 32)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @a warps(0 to 4) regs(48) {
    fa4.wait %pairs[%c0]
    fa4.wait %pairs[%c0]
    fa4.arrive %z[%c0]
    fa4.wait %all[%c0]
    fa4.arrive %z[%c0]
    fa4.wait %pairs[%c0]
    fa4.wait %all[%c0]
    fa4.arrive %z[%c0]
  }
  fa4.role @b warps(4 to 8) regs(48) {
    fa4.wait %pairs[%c0]
    fa4.wait %pairs[%c0]
    fa4.arrive %z[%c0]
    fa4.wait %all[%c0]
    fa4.arrive %z[%c0]
    fa4.wait %pairs[%c0]
    fa4.wait %all[%c0]
    fa4.arrive %z[%c0]
  }
  fa4.role @w warps(8 to 9) regs(48) {
    fa4.arrive %one[%c0]
    fa4.arrive %one[%c0]
  }
  fa4.role @idle warps(9 to 12) regs(48) {
  }
}
