// RUN: fa4-opt %s --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// N7: a launch of three warpgroups gives each thread 168 registers, 64512 in all.
// 24 + 240 + 240 fits; 40 + 240 + 240 would hang at the last increase.
fa4.kernel @fits(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(12) scheduler(linear_persistent) {
  fa4.role @a warps(0 to 4) regs(24) { }
  fa4.role @b warps(4 to 8) regs(240) { }
  fa4.role @c warps(8 to 12) regs(240) { }
}

// -----

// expected-error @below {{'fa4.kernel' op expected register budgets of at most 64512 registers in all, but got 66560, 2048 too many}}
fa4.kernel @does_not(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(12) scheduler(linear_persistent) {
  fa4.role @a warps(0 to 4) regs(40) { }
  fa4.role @b warps(4 to 8) regs(240) { }
  fa4.role @c warps(8 to 12) regs(240) { }
}

// -----

// Half of the file, as where two blocks share it.
// expected-error @below {{'fa4.kernel' op expected register budgets of at most 30720 registers in all, but got 32768, 2048 too many}}
fa4.kernel @two_blocks(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a, registers = 32768>) warps(12) scheduler(linear_persistent) {
  fa4.role @a warps(0 to 4) regs(24) { }
  fa4.role @b warps(4 to 8) regs(112) { }
  fa4.role @c warps(8 to 12) regs(120) { }
}

// -----

fa4.kernel @multiple(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a register budget that is a multiple of 8 from 24 to 256, but got 100}}
  fa4.role @a warps(0 to 4) regs(100) { }
}

// -----

fa4.kernel @low(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a register budget that is a multiple of 8 from 24 to 256, but got 16}}
  fa4.role @a warps(0 to 4) regs(16) { }
}

// -----

fa4.kernel @high(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a register budget that is a multiple of 8 from 24 to 256, but got 264}}
  fa4.role @a warps(0 to 4) regs(264) { }
}
