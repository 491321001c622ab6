// RUN: fa4-opt %s --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// P13: ids of named barriers are 1..15. Id 0 is the block's own barrier, and an id
// past 15 would wrap; the hardware counts whole warps of threads.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got 16 to 16}}
  %b = fa4.barrier "b" named slots(1) arrives(@r threads 128) at(16)
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got 17 to 17}}
  %b = fa4.barrier "b" named slots(1) arrives(@r threads 128) at(17)
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got -1 to -1}}
  %b = fa4.barrier "b" named slots(1) arrives(@r threads 128) at(-1)
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got 0 to 0}}
  %b = fa4.barrier "b" named slots(1) arrives(@r threads 128) at(0)
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

// Two slots, of which the second lies past the end.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got 15 to 16}}
  %b = fa4.barrier "b" named slots(2) arrives(@r threads 128) at(15)
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected a multiple of 32 threads on a named barrier, but got 100 of @r}}
  %b = fa4.barrier "b" named slots(1) arrives(@r threads 100)
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

// barrier_c6: a whole number of warps, but not those of the role.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected 128 threads of @r on a named barrier, all of an instance, but got 96}}
  %b = fa4.barrier "b" named slots(1) arrives(@r threads 96)
  // expected-note @below {{the role is here}}
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected 32 threads of @r on a named barrier, those of one warp, but got 64}}
  %b = fa4.barrier "b" named slots(1) per_warp arrives(@r threads 64)
  // expected-note @below {{the role is here}}
  fa4.role @r warps(0 to 4) regs(128) { }
}

// -----

// None at all.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 slots, but got 0}}
  %b = fa4.barrier "b" named slots(0) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(128) { }
}
