// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MMAs.

// mma_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
  %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.mma' op expected to lie in a 'fa4.role'}}
  fa4.mma %a[%c0] * %a[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
}

// -----

// mma_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<1 x 128x128xf16, rmem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected A in 'smem' or 'tmem', B in 'smem' and D in 'tmem', but got 'rmem', 'smem' and 'tmem'}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<1 x 128x128xf16, rmem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected A in 'smem' or 'tmem', B in 'smem' and D in 'tmem', but got 'smem', 'tmem' and 'tmem'}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, tmem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.mma' op expected A in 'smem' or 'tmem', B in 'smem' and D in 'tmem', but got 'smem', 'smem' and 'smem'}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// mma_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<1 x 128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected tiles of rank 2}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<1 x 128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xbf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected A and B of one 16-bit type, but got 'f16' and 'bf16'}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xbf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected A and B of one 16-bit type, but got 'f32' and 'f32'}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf32, smem> * !fa4.ring<2 x 128x128xf32, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    // expected-error @below {{'fa4.mma' op expected D of f32, but got 'f16'}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf16, tmem>
  }
}

// -----

// mma_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 64x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected A, B and D of 128x64, 64x128 and 128x128, but got 128x128, 64x128 and 128x128}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 64x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 64x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected A, B and D of 128x128, 128x128 and 128x128, but got 128x128, 128x64 and 128x128}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 64x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected a K segment within 0 to 128 at multiples of 16, but got 0 to 144}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] k(0 to 144) : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected a K segment within 0 to 128 at multiples of 16, but got -16 to 16}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] k(-16 to 16) : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected a K segment within 0 to 128 at multiples of 16, but got 64 to 64}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] k(64 to 64) : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected a K segment within 0 to 128 at multiples of 16, but got 8 to 64}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] k(8 to 64) : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected a K segment within 0 to 128 at multiples of 16, but got 0 to 100}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] k(0 to 100) : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// mma_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected 'k_begin' and 'k_end' together}}
    "fa4.mma"(%a, %c0, %a, %c0, %d, %c0) <{k_begin = 0 : i64}> : (!fa4.ring<2 x 128x128xf16, smem>, index, !fa4.ring<2 x 128x128xf16, smem>, index, !fa4.ring<2 x 128x128xf32, tmem>, index) -> ()
  }
}

// -----

// mma_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected 'k_begin' and 'k_end' together}}
    "fa4.mma"(%a, %c0, %a, %c0, %d, %c0) <{k_end = 64 : i64}> : (!fa4.ring<2 x 128x128xf16, smem>, index, !fa4.ring<2 x 128x128xf16, smem>, index, !fa4.ring<2 x 128x128xf32, tmem>, index) -> ()
  }
}

// -----

// mma_c5
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<1 x 64x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<1 x 64x128xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected 128 rows of A and a multiple of 16 up to 256 columns of D, but got 64 and 128}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<1 x 64x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<1 x 64x128xf32, tmem>
  }
}

// -----

// mma_c5
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<1 x 128x264xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<1 x 128x264xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected 128 rows of A and a multiple of 16 up to 256 columns of D, but got 128 and 264}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<1 x 128x264xf16, smem> into !fa4.ring<1 x 128x264xf32, tmem>
  }
}

// -----

// mma_c5
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %b = "test.ring"() : () -> !fa4.ring<1 x 128x24xf16, smem>
    %d = "test.ring"() : () -> !fa4.ring<1 x 128x24xf32, tmem>
    // expected-error @below {{'fa4.mma' op expected 128 rows of A and a multiple of 16 up to 256 columns of D, but got 128 and 24}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c0] : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<1 x 128x24xf16, smem> into !fa4.ring<1 x 128x24xf32, tmem>
  }
}
