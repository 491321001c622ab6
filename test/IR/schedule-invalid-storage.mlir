// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rings, aliases and cursors.

// alloc_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected a ring in 'smem' or 'tmem', but got 'rmem'}}
  %x = fa4.alloc "x" : !fa4.ring<1 x 128x128xf16, rmem>
}

// -----

// alloc_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected a tile of 128 rows and rank 2 in tensor memory}}
  %x = fa4.alloc "x" : !fa4.ring<1 x 128xf32, tmem>
}

// -----

// alloc_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected a tile of 128 rows and rank 2 in tensor memory}}
  %x = fa4.alloc "x" : !fa4.ring<1 x 64x128xf32, tmem>
}

// -----

// alloc_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected a tile of at most 512 columns of 32 bits in tensor memory, but got 513}}
  %x = fa4.alloc "x" : !fa4.ring<1 x 128x1025xf16, tmem>
}

// -----

// alloc_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected 'at' to be a multiple of 1024, but got 1000}}
  %x = fa4.alloc "x" at(1000) : !fa4.ring<1 x 128x128xf16, smem>
}

// -----

// alloc_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected 'at' to be a multiple of 16, but got 8}}
  %x = fa4.alloc "x" at(8) : !fa4.ring<1 x 128xf32, smem>
}

// -----

// alloc_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected 'at' to be a multiple of 1, but got -1}}
  %x = fa4.alloc "x" at(-1) : !fa4.ring<1 x 128x128xf32, tmem>
}

// -----

// alloc_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.alloc' op expected 'at' to be a multiple of 1024, but got -1024}}
  %x = fa4.alloc "x" at(-1024) : !fa4.ring<1 x 128x128xf16, smem>
}

// -----

// alias_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = fa4.alloc "x" : !fa4.ring<1 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.alias' op expected base and result in 'tmem'}}
  %z = fa4.alias %x column(0) : !fa4.ring<1 x 128x128xf32, tmem> to !fa4.ring<1 x 128x128xf16, smem>
}

// -----

// alias_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = fa4.alloc "x" : !fa4.ring<1 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.alias' op expected tiles of rank 2}}
  %z = fa4.alias %x column(0) : !fa4.ring<1 x 128x128xf32, tmem> to !fa4.ring<1 x 128xf32, tmem>
}

// -----

// alias_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.alias' op expected as many slots and rows as the base has (2 and 128), but got 1 and 128}}
  %z = fa4.alias %x column(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<1 x 128x128xf16, tmem>
}

// -----

// alias_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.alias' op expected columns within the base's 128, but got 65 to 129}}
  %z = fa4.alias %x column(65) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
}

// -----

// alias_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.alias' op expected columns within the base's 128, but got -1 to 63}}
  %z = fa4.alias %x column(-1) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
}

// -----

// alias_c2: the end does not wrap round
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.alias' op expected columns within the base's 128, but got 9223372036854775807 to 9223372036854775807}}
  %z = fa4.alias %x column(9223372036854775807) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
}

// -----

// next_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = fa4.alloc "x" : !fa4.ring<1 x 128x128xf16, smem>
  // expected-error @below {{'fa4.next' op expected to lie in a 'fa4.role'}}
  %s = fa4.next %x : !fa4.ring<1 x 128x128xf16, smem>
}
