// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Slots that the text tells are not there.

// read_tile_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.read_tile' op expected a slot below 2 of ring "x", but got 2}}
    %y = fa4.read_tile %x[%c2] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
}

// -----

// read_tile_c3: negative
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.read_tile' op expected a slot below 2 of ring "x", but got -1}}
    %y = fa4.read_tile %x[%neg] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
}

// -----

// write_tile_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.role @r warps(0 to 4) regs(128) {
    %f = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.write_tile' op expected a slot below 2 of ring "x", but got 2}}
    fa4.write_tile %f, %x[%c2] columns(0) : !fa4.fragment<128x32xf32>, !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// rescale_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.role @r warps(0 to 4) regs(128) {
    %f = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected a slot below 2 of ring "x", but got 2}}
    fa4.rescale %x[%c2] by %f chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// publish_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128xf32, smem>
  fa4.role @r warps(0 to 4) regs(128) {
    %f = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.publish' op expected a slot below 2 of ring "x", but got 2}}
    fa4.publish %f to %x[%c2] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
  }
}

// -----

// collect_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128xf32, smem>
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.collect' op expected a slot below 2 of ring "x", but got 2}}
    %f = fa4.collect %x[%c2] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
  }
}

// -----

// store_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf16, smem>
  fa4.role @r warps(0 to 1) regs(48) {
    // expected-error @below {{'fa4.store' op expected a slot below 2 of ring "x", but got 2}}
    fa4.store %x[%c2] to %o[%c0, %c0, %c0, %c0] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x256x8x128xf16>
  }
  fa4.role @rest warps(1 to 4) regs(48) {
  }
}

// -----

// load_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf16, smem>
  %b = fa4.barrier "b" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 1) regs(48) {
    // expected-error @below {{'fa4.load' op expected a slot below 2 of ring "x", but got 2}}
    fa4.load %k[%c0, %c0, %c0] to %x[%c2] signals %b[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
  fa4.role @rest warps(1 to 4) regs(48) {
  }
}

// -----

// load_c4: the slot that is signalled
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf16, smem>
  // expected-note @below {{the barrier is here}}
  %b = fa4.barrier "b" slots(2) arrives(@r bytes 32768)
  fa4.role @r warps(0 to 1) regs(48) {
    // expected-error @below {{'fa4.load' op expected a slot below 2 of barrier "b", but got 2}}
    fa4.load %k[%c0, %c0, %c0] to %x[%c0] signals %b[%c2] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
  fa4.role @rest warps(1 to 4) regs(48) {
  }
}

// -----

// mma_c6
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %a = fa4.alloc "a" : !fa4.ring<2 x 128x128xf16, smem>
  %b = fa4.alloc "b" : !fa4.ring<2 x 128x128xf16, smem>
  %d = fa4.alloc "d" : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.role @r warps(0 to 1) regs(48) {
    // expected-error @below {{'fa4.mma' op expected a slot below 2 of ring "a", but got 2}}
    fa4.mma %a[%c2] * %b[%c0] into %d[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
  fa4.role @rest warps(1 to 4) regs(48) {
  }
}

// -----

// mma_c6
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  %a = fa4.alloc "a" : !fa4.ring<2 x 128x128xf16, smem>
  // expected-note @below {{the ring is here}}
  %b = fa4.alloc "b" : !fa4.ring<2 x 128x128xf16, smem>
  %d = fa4.alloc "d" : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.role @r warps(0 to 1) regs(48) {
    // expected-error @below {{'fa4.mma' op expected a slot below 2 of ring "b", but got 2}}
    fa4.mma %a[%c0] * %b[%c2] into %d[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
  fa4.role @rest warps(1 to 4) regs(48) {
  }
}

// -----

// mma_c6
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  %a = fa4.alloc "a" : !fa4.ring<2 x 128x128xf16, smem>
  %b = fa4.alloc "b" : !fa4.ring<2 x 128x128xf16, smem>
  // expected-note @below {{the ring is here}}
  %d = fa4.alloc "d" : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.role @r warps(0 to 1) regs(48) {
    // expected-error @below {{'fa4.mma' op expected a slot below 2 of ring "d", but got 2}}
    fa4.mma %a[%c0] * %b[%c0] into %d[%c2] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
  }
  fa4.role @rest warps(1 to 4) regs(48) {
  }
}

// -----

// read_tile_c3: through an alias, the ring below it is named
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<2 x 128x128xf32, tmem>
  %p = fa4.alias %x column(64) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.ring<2 x 128x128xf16, tmem>
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.read_tile' op expected a slot below 2 of ring "x", but got 2}}
    %y = fa4.read_tile %p[%c2] columns(0) : !fa4.ring<2 x 128x128xf16, tmem> to !fa4.fragment<128x32xf16>
  }
}

// -----

// read_tile_c3: two instances, one slot
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the ring is here}}
  %x = fa4.alloc "x" : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.role @r(%i) warps(0 to 8) regs(128) {
    // expected-error @below {{'fa4.read_tile' op expected a slot below 1 of ring "x", but got 1}}
    %y = fa4.read_tile %x[%i] columns(0) : !fa4.ring<1 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
}

// -----

// arrive_c2: two instances, one slot
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %neg = arith.constant -1 : index
  // expected-note @below {{the barrier is here}}
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  fa4.role @r(%i) warps(0 to 8) regs(128) {
    // expected-error @below {{'fa4.arrive' op expected a slot below 1 of barrier "b", but got 1}}
    fa4.arrive %b[%i]
  }
}
