// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fragments, rescaling and mailboxes.

// read_tile_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    // expected-error @below {{'fa4.read_tile' op expected a ring in 'tmem', but got 'smem'}}
    %x = fa4.read_tile %a[%c0] columns(0) : !fa4.ring<2 x 128x128xf16, smem> to !fa4.fragment<128x32xf16>
  }
}

// -----

// read_tile_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.read_tile' op expected a fragment with the rows and element type of '!fa4.ring<2 x 128x128xf32, tmem>', but got '!fa4.fragment<128x32xf16>'}}
    %x = fa4.read_tile %a[%c0] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf16>
  }
}

// -----

// read_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.read_tile' op expected columns within the tile's 128, but got 97 to 129}}
    %x = fa4.read_tile %a[%c0] columns(97) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
}

// -----

// read_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.read_tile' op expected columns within the tile's 128, but got -1 to 31}}
    %x = fa4.read_tile %a[%c0] columns(-1) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
}

// -----

// read_tile_c2: the end does not wrap round
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.read_tile' op expected columns within the tile's 128, but got 9223372036854775807 to 9223372036854775807}}
    %x = fa4.read_tile %a[%c0] columns(9223372036854775807) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
}

// -----

// read_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.read_tile' op expected a power of two of at most 128 32-bit columns, but got 24 columns of 'f32'}}
    %x = fa4.read_tile %a[%c0] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x24xf32>
  }
}

// -----

// read_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    // expected-error @below {{'fa4.read_tile' op expected a power of two of at most 128 32-bit columns, but got 32 columns of 'f16'}}
    %x = fa4.read_tile %a[%c0] columns(1) : !fa4.ring<2 x 128x128xf16, tmem> to !fa4.fragment<128x32xf16>
  }
}

// -----

// read_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<1 x 128x256xf32, tmem>
    // expected-error @below {{'fa4.read_tile' op expected a power of two of at most 128 32-bit columns, but got 256 columns of 'f32'}}
    %x = fa4.read_tile %a[%c0] columns(0) : !fa4.ring<1 x 128x256xf32, tmem> to !fa4.fragment<128x256xf32>
  }
}

// -----

// write_tile_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    // expected-error @below {{'fa4.write_tile' op expected a fragment with the rows and element type of '!fa4.ring<2 x 128x128xf32, tmem>', but got '!fa4.fragment<128x32xf16>'}}
    fa4.write_tile %f, %a[%c0] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// write_tile_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<1 x 128x128xf16, rmem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    // expected-error @below {{'fa4.write_tile' op expected a ring in 'smem' or 'tmem', but got 'rmem'}}
    fa4.write_tile %f, %a[%c0] columns(0) : !fa4.fragment<128x32xf16>, !fa4.ring<1 x 128x128xf16, rmem>
  }
}

// -----

// write_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.write_tile' op expected columns within the tile's 128, but got 97 to 129}}
    fa4.write_tile %f, %a[%c0] columns(97) : !fa4.fragment<128x32xf32>, !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// write_tile_c2: the end does not wrap round
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
    // expected-error @below {{'fa4.write_tile' op expected columns within the tile's 128, but got 9223372036854775807 to 9223372036854775807}}
    fa4.write_tile %f, %a[%c0] columns(9223372036854775807) : !fa4.fragment<128x32xf32>, !fa4.ring<2 x 128x128xf32, tmem>
  }
}

// -----

// write_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x24xf16>
    // expected-error @below {{'fa4.write_tile' op expected a power of two of at most 128 32-bit columns, but got 24 columns of 'f16' from column 0}}
    fa4.write_tile %f, %a[%c0] columns(0) : !fa4.fragment<128x24xf16>, !fa4.ring<2 x 128x128xf16, tmem>
  }
}

// -----

// write_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x32xf16>
    // expected-error @below {{'fa4.write_tile' op expected a power of two of at most 128 32-bit columns, but got 32 columns of 'f16' from column 1}}
    fa4.write_tile %f, %a[%c0] columns(1) : !fa4.fragment<128x32xf16>, !fa4.ring<2 x 128x128xf16, tmem>
  }
}

// -----

// write_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x8xf16>
    // expected-error @below {{'fa4.write_tile' op expected whole multiples of 16 bytes in shared memory, but got 16 bytes from byte 8}}
    fa4.write_tile %f, %a[%c0] columns(4) : !fa4.fragment<128x8xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// write_tile_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %f = "test.fragment"() : () -> !fa4.fragment<128x4xf16>
    // expected-error @below {{'fa4.write_tile' op expected whole multiples of 16 bytes in shared memory, but got 8 bytes from byte 0}}
    fa4.write_tile %f, %a[%c0] columns(0) : !fa4.fragment<128x4xf16>, !fa4.ring<2 x 128x128xf16, smem>
  }
}

// -----

// rescale_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, smem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected an f32 tile of 128 rows in 'tmem', but got '!fa4.ring<2 x 128x128xf16, smem>'}}
    fa4.rescale %a[%c0] by %rows chunk(32) : !fa4.ring<2 x 128x128xf16, smem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf16, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected an f32 tile of 128 rows in 'tmem', but got '!fa4.ring<2 x 128x128xf16, tmem>'}}
    fa4.rescale %a[%c0] by %rows chunk(32) : !fa4.ring<2 x 128x128xf16, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<1 x 128xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected an f32 tile of 128 rows in 'tmem', but got '!fa4.ring<1 x 128xf32, tmem>'}}
    fa4.rescale %a[%c0] by %rows chunk(32) : !fa4.ring<1 x 128xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<1 x 64x128xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected an f32 tile of 128 rows in 'tmem', but got '!fa4.ring<1 x 64x128xf32, tmem>'}}
    fa4.rescale %a[%c0] by %rows chunk(32) : !fa4.ring<1 x 64x128xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected a chunk that is a power of two from 2 to 128 and divides the tile's 128 columns, but got 1}}
    fa4.rescale %a[%c0] by %rows chunk(1) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected a chunk that is a power of two from 2 to 128 and divides the tile's 128 columns, but got 24}}
    fa4.rescale %a[%c0] by %rows chunk(24) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected a chunk that is a power of two from 2 to 128 and divides the tile's 128 columns, but got 256}}
    fa4.rescale %a[%c0] by %rows chunk(256) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x128xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected a chunk that is a power of two from 2 to 128 and divides the tile's 128 columns, but got -2}}
    fa4.rescale %a[%c0] by %rows chunk(-2) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// rescale_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<1 x 128x80xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.rescale' op expected a chunk that is a power of two from 2 to 128 and divides the tile's 80 columns, but got 32}}
    fa4.rescale %a[%c0] by %rows chunk(32) : !fa4.ring<1 x 128x80xf32, tmem>, !fa4.rows<128xf32>
  }
}

// -----

// publish_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128xf32, tmem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.publish' op expected a ring of 128x'f32' in 'smem', but got '!fa4.ring<2 x 128xf32, tmem>'}}
    fa4.publish %rows to %a[%c0] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, tmem>
  }
}

// -----

// publish_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 64xf32, smem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.publish' op expected a ring of 128x'f32' in 'smem', but got '!fa4.ring<2 x 64xf32, smem>'}}
    fa4.publish %rows to %a[%c0] : !fa4.rows<128xf32>, !fa4.ring<2 x 64xf32, smem>
  }
}

// -----

// publish_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128xf16, smem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.publish' op expected a ring of 128x'f32' in 'smem', but got '!fa4.ring<2 x 128xf16, smem>'}}
    fa4.publish %rows to %a[%c0] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf16, smem>
  }
}

// -----

// publish_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128x1xf32, smem>
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.publish' op expected a ring of 128x'f32' in 'smem', but got '!fa4.ring<2 x 128x1xf32, smem>'}}
    fa4.publish %rows to %a[%c0] : !fa4.rows<128xf32>, !fa4.ring<2 x 128x1xf32, smem>
  }
}

// -----

// collect_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %a = "test.ring"() : () -> !fa4.ring<2 x 128xf16, smem>
    // expected-error @below {{'fa4.collect' op expected a ring of 128x'f32' in 'smem', but got '!fa4.ring<2 x 128xf16, smem>'}}
    %x = fa4.collect %a[%c0] : !fa4.ring<2 x 128xf16, smem> to !fa4.rows<128xf32>
  }
}

// -----

// store_lse_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %rows = "test.rows"() : () -> !fa4.rows<128xf32>
    %lse = "test.memref"() : () -> memref<1x8x256xf32>
    // expected-error @below {{'fa4.store_lse' op expected the kernel's LSE as the target}}
    fa4.store_lse %rows, %rows to %lse[%c0, %c0, %c0, %c0] : !fa4.rows<128xf32>, memref<1x8x256xf32>
  }
}

// -----

// store_lse_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %rows = "test.rows"() : () -> !fa4.rows<128xf32>
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.store_lse' op expected coordinates (batch, tile head, M block, stage), but got 3}}
    fa4.store_lse %rows, %rows to %lse[%c0, %c0, %c0] : !fa4.rows<128xf32>, memref<1x8x256xf32>
  }
}
