// RUN: fa4-opt %s --fa4-allocate-storage --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Places given by hand may not overlap.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "a" is here}}
  %a = fa4.alloc "a" at(0) : !fa4.ring<2 x 128x64xf16, smem>
  // expected-error @below {{'fa4.alloc' op expected bytes of its own, but 16384 to 32768 of ring "b" overlap 0 to 32768 of ring "a"}}
  %b = fa4.alloc "b" at(16384) : !fa4.ring<1 x 128x64xf16, smem>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected bytes of its own, but 16 to 528 of ring "a" overlap 8 to 24 of barrier "x"}}
  %a = fa4.alloc "a" at(16) : !fa4.ring<1 x 128xf32, smem>
  // expected-note @below {{barrier "x" is here}}
  %x = fa4.barrier "x" slots(2) arrives(@r threads 1) at(8)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "a" is here}}
  %a = fa4.alloc "a" at(0) : !fa4.ring<1 x 128xf32, smem>
  // expected-error @below {{'fa4.tmem_acquire' op expected bytes of its own, but 496 to 512 of the address of the tensor memory overlap 0 to 512 of ring "a"}}
  fa4.tmem_acquire warp(0) at(496)
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{ring "s" is here}}
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.alloc' op expected columns of its own, but 255 to 383 of ring "o" overlap 0 to 256 of ring "s"}}
  %o_ring = fa4.alloc "o" at(255) : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0)
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{barrier "a" is here}}
  %a = fa4.barrier "a" named slots(2) arrives(@r threads 128) at(1)
  // expected-error @below {{'fa4.barrier' op expected ids of its own, but 2 to 3 of barrier "b" overlap 1 to 3 of barrier "a"}}
  %b = fa4.barrier "b" named slots(1) arrives(@r threads 128) at(2)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}
