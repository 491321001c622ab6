// RUN: fa4-opt %s --pass-pipeline='builtin.module(fa4.kernel(fa4-allocate-storage))' --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A2: the tiles of a head dimension of 256 do not fit shared memory. The error has
// the bytes, the limit and the tiles that take most; attention itself refuses the
// head dimension (attention_c5).
// expected-error @below {{'fa4.kernel' op expected at most 232448 bytes of shared memory, what target 'sm_100a' has, but got 458752, 226304 too many}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "q" takes 131072 bytes}}
  %qs = fa4.alloc "q" : !fa4.ring<2 x 128x256xf16, smem>
  // expected-note @below {{ring "kv" takes 196608 bytes}}
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x256xf16, smem>
  // expected-note @below {{ring "o" takes 131072 bytes}}
  %os = fa4.alloc "o" : !fa4.ring<2 x 128x256xf16, smem>
  fa4.role @r warps(0 to 4) regs(128) { }
}
