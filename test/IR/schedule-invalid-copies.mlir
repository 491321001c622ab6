// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Copies between global and shared memory.

// load_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
  %full = "test.barrier"() : () -> !fa4.barrier
  // expected-error @below {{'fa4.load' op expected to lie in a 'fa4.role'}}
  fa4.load %q[%c0, %c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
}

// -----

// load_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.load' op expected the kernel's Q, K or V as the source}}
    fa4.load %o[%c0, %c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// load_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.load' op expected coordinates (batch, tile head, M block, stage), but got 3}}
    fa4.load %q[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// load_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.load' op expected coordinates (batch, tile head, K/V block), but got 4}}
    fa4.load %v[%c0, %c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// load_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    // expected-error @below {{'fa4.load' op expected a ring in 'smem', but got 'tmem'}}
    fa4.load %k[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, tmem>
  }
}

// -----

// load_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x64xf16, smem>
    // expected-error @below {{'fa4.load' op expected a ring of 128x128x'f16' tiles, but got '!fa4.ring<2 x 128x64xf16, smem>'}}
    fa4.load %k[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x64xf16, smem>
  }
}

// -----

// load_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xbf16, smem>
    // expected-error @below {{'fa4.load' op expected a ring of 128x128x'f16' tiles, but got '!fa4.ring<2 x 128x128xbf16, smem>'}}
    fa4.load %k[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xbf16, smem>
  }
}

// -----

// load_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128xf16, smem>
    // expected-error @below {{'fa4.load' op expected a ring of 128x128x'f16' tiles, but got '!fa4.ring<2 x 128xf16, smem>'}}
    fa4.load %k[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128xf16, smem>
  }
}

// -----

// load_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %full = "test.barrier"() : () -> !fa4.barrier
    // expected-error @below {{'fa4.load' op expected a barrier that 'fa4.barrier' declares}}
    fa4.load %k[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// load_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %full = fa4.barrier "full" slots(2) arrives(@r bytes 1024)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.load' op expected barrier "full" to declare @r bytes 32768, the size of the tile}}
    fa4.load %k[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// load_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.load' op expected barrier "full" to declare @r bytes 32768, the size of the tile}}
    fa4.load %k[%c0, %c0, %c0] to %s[%c0] signals %full[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// store_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
  // expected-error @below {{'fa4.store' op expected to lie in a 'fa4.role'}}
  fa4.store %s[%c0] to %o[%c0, %c0, %c0, %c0] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x256x8x128xf16>
}

// -----

// store_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.store' op expected the kernel's O as the target}}
    fa4.store %s[%c0] to %q[%c0, %c0, %c0, %c0] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x256x8x128xf16>
  }
}

// -----

// store_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.store' op expected coordinates (batch, tile head, M block, stage), but got 3}}
    fa4.store %s[%c0] to %o[%c0, %c0, %c0] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x256x8x128xf16>
  }
}

// -----

// store_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    // expected-error @below {{'fa4.store' op expected a ring in 'smem', but got 'tmem'}}
    fa4.store %s[%c0] to %o[%c0, %c0, %c0, %c0] : !fa4.ring<2 x 128x128xf16, tmem>, memref<1x256x8x128xf16>
  }
}

// -----

// store_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %s = "test.ring"() : () -> !fa4.ring<2 x 64x128xf16, smem>
    // expected-error @below {{'fa4.store' op expected a ring of 128x128x'f16' tiles, but got '!fa4.ring<2 x 64x128xf16, smem>'}}
    fa4.store %s[%c0] to %o[%c0, %c0, %c0, %c0] : !fa4.ring<2 x 64x128xf16, smem>, memref<1x256x8x128xf16>
  }
}

// -----

// store_wait_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.store_wait' op attribute 'pending' failed to satisfy constraint: 64-bit integer whose value is non-negative}}
    fa4.store_wait pending(-1)
  }
}
