// RUN: fa4-opt %s --fa4-allocate-storage --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Too much shared memory: the largest consumers are named.
// expected-error @below {{'fa4.kernel' op expected at most 232448 bytes of shared memory, what target 'sm_100a' has, but got 263168, 30720 too many}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "q" takes 65536 bytes}}
  %q_ring = fa4.alloc "q" : !fa4.ring<2 x 128x128xf16, smem>
  // expected-note @below {{ring "kv" takes 131072 bytes}}
  %kv = fa4.alloc "kv" : !fa4.ring<4 x 128x128xf16, smem>
  // expected-note @below {{ring "o" takes 65536 bytes}}
  %o_ring = fa4.alloc "o" : !fa4.ring<2 x 128x128xf16, smem>
  %mail = fa4.alloc "mail" : !fa4.ring<2 x 128xf32, smem>
}

// -----

// The limit is the target's.
// expected-error @below {{'fa4.kernel' op expected at most 32767 bytes of shared memory, what target 'sm_100a' has, but got 32768, 1 too many}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a, smem = 32767>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "q" takes 32768 bytes}}
  %q_ring = fa4.alloc "q" : !fa4.ring<1 x 128x128xf16, smem>
}

// -----

// Sizes that no memory holds do not wrap round.
// expected-error @below {{'fa4.kernel' op expected at most 232448 bytes of shared memory, what target 'sm_100a' has, but got 4611686018427387904, 4611686018427155456 too many}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "a" takes 4611686018427387904 bytes}}
  %a = fa4.alloc "a" : !fa4.ring<1048576 x 1048576x1048576xf32, smem>
  // expected-note @below {{ring "b" takes 4611686018427387904 bytes}}
  %b = fa4.alloc "b" : !fa4.ring<1048576 x 1048576x1048576xf32, smem>
}

// -----

// Too much tensor memory.
// expected-error @below {{'fa4.kernel' op expected at most 512 columns of tensor memory, what target 'sm_100a' has, but got 640, 128 too many}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "s" takes 256 columns}}
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-note @below {{ring "o" takes 384 columns}}
  %o_ring = fa4.alloc "o" : !fa4.ring<3 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0)
}

// -----

// What is acquired is rounded up to a power of two, which has to fit too.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a, tmem = 384>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" : !fa4.ring<1 x 128x300xf32, tmem>
  // expected-error @below {{'fa4.tmem_acquire' op expected at most 384 columns of tensor memory, what target 'sm_100a' has, but got 512, the power of two that holds the 300 in use}}
  fa4.tmem_acquire warp(0)
}

// -----

// Too little acquired by hand.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" : !fa4.ring<1 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.tmem_acquire' op expected at least 128 columns, which the rings take, but got 64}}
  fa4.tmem_acquire warp(0) columns(64)
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_90a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected a ring in 'smem', since target 'sm_90a' has no tensor memory}}
  %s = fa4.alloc "s" : !fa4.ring<1 x 128x128xf32, tmem>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_90a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_acquire' op expected no tensor memory to be acquired, since target 'sm_90a' has none}}
  fa4.tmem_acquire warp(0)
}

// -----

// expected-error @below {{'fa4.kernel' op expected a 'fa4.tmem_acquire', since ring "s" lives in tensor memory}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{the ring is here}}
  %s = fa4.alloc "s" : !fa4.ring<1 x 128x128xf32, tmem>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{it is acquired here}}
  fa4.tmem_acquire warp(0)
  // expected-error @below {{'fa4.tmem_acquire' op expected to acquire tensor memory once in a kernel}}
  fa4.tmem_acquire warp(1)
}

// -----

// Too many named barriers: the first that does not fit.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{barrier "a" takes 8 ids}}
  %a = fa4.barrier "a" named slots(2) per_warp arrives(@r threads 32)
  // expected-error @below {{'fa4.barrier' op expected at most 15 named-barrier ids in a kernel, what target 'sm_100a' has, but got 16, 1 too many}}
  // expected-note @below {{barrier "b" takes 8 ids}}
  %b = fa4.barrier "b" named slots(8) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// Each slot of a ring of tiles begins at a multiple of 1024.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected tiles of a multiple of 1024 bytes, so that each slot is aligned, but got 1536}}
  %a = fa4.alloc "a" : !fa4.ring<2 x 8x96xf16, smem>
}
