// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// role_c3: what acts on slots, barriers, fragments or rows lies in a role, not
// beside the roles.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %a = fa4.alloc "a" : !fa4.ring<2 x 128x128xf16, smem>
  // expected-error @below {{'fa4.next' op expected to lie in a 'fa4.role'}}
  %n = fa4.next %a : !fa4.ring<2 x 128x128xf16, smem>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  // expected-error @below {{'fa4.wait' op expected to lie in a 'fa4.role'}}
  fa4.wait %b[%c0]
  fa4.role @r warps(0 to 4) regs(128) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  // expected-error @below {{'fa4.arrive' op expected to lie in a 'fa4.role'}}
  fa4.arrive %b[%c0]
  fa4.role @r warps(0 to 4) regs(128) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.fence' op expected to lie in a 'fa4.role'}}
  fa4.fence async_shared
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_wait' op expected to lie in a 'fa4.role'}}
  fa4.tmem_wait load
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %a = fa4.alloc "a" : !fa4.ring<2 x 128x128xf16, smem>
  %b = fa4.barrier "b" slots(1) arrives(@r bytes 32768)
  // expected-error @below {{'fa4.load' op expected to lie in a 'fa4.role'}}
  fa4.load %k[%c0, %c0, %c0] to %a[%c0] signals %b[%c0] : memref<1x256x8x128xf16>, !fa4.ring<2 x 128x128xf16, smem>
  fa4.role @r warps(0 to 4) regs(128) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %a = fa4.alloc "a" : !fa4.ring<2 x 128x128xf16, smem>
  // expected-error @below {{'fa4.store' op expected to lie in a 'fa4.role'}}
  fa4.store %a[%c0] to %o[%c0, %c0, %c0, %c0] : !fa4.ring<2 x 128x128xf16, smem>, memref<1x256x8x128xf16>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.store_wait' op expected to lie in a 'fa4.role'}}
  fa4.store_wait pending(0)
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %a = fa4.alloc "a" : !fa4.ring<2 x 128x128xf16, smem>
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.mma' op expected to lie in a 'fa4.role'}}
  fa4.mma %a[%c0] * %a[%c0] into %s[%c0] transpose_b : !fa4.ring<2 x 128x128xf16, smem> * !fa4.ring<2 x 128x128xf16, smem> into !fa4.ring<2 x 128x128xf32, tmem>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.read_tile' op expected to lie in a 'fa4.role'}}
  %f = fa4.read_tile %s[%c0] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.write_tile' op expected to lie in a 'fa4.role'}}
  fa4.write_tile %x, %s[%c0] columns(0) : !fa4.fragment<128x32xf32>, !fa4.ring<2 x 128x128xf32, tmem>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %r = "test.rows"() : () -> !fa4.rows<128xf32>
  %s = fa4.alloc "s" : !fa4.ring<2 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.rescale' op expected to lie in a 'fa4.role'}}
  fa4.rescale %s[%c0] by %r chunk(32) : !fa4.ring<2 x 128x128xf32, tmem>, !fa4.rows<128xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %r = "test.rows"() : () -> !fa4.rows<128xf32>
  %m = fa4.alloc "m" : !fa4.ring<2 x 128xf32, smem>
  // expected-error @below {{'fa4.publish' op expected to lie in a 'fa4.role'}}
  fa4.publish %r to %m[%c0] : !fa4.rows<128xf32>, !fa4.ring<2 x 128xf32, smem>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %m = fa4.alloc "m" : !fa4.ring<2 x 128xf32, smem>
  // expected-error @below {{'fa4.collect' op expected to lie in a 'fa4.role'}}
  %y = fa4.collect %m[%c0] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %r = "test.rows"() : () -> !fa4.rows<128xf32>
  // expected-error @below {{'fa4.store_lse' op expected to lie in a 'fa4.role'}}
  fa4.store_lse %r, %r to %lse[%c0, %c0, %c0, %c0] : !fa4.rows<128xf32>, memref<1x8x256xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  // expected-error @below {{'fa4.mask' op expected to lie in a 'fa4.role'}}
  %y = fa4.mask %x[%c0, %c0, %c0] columns(0) : !fa4.fragment<128x32xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  // expected-error @below {{'fa4.scale' op expected to lie in a 'fa4.role'}}
  %y = fa4.scale %x by 2.000000e+00 : !fa4.fragment<128x32xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  // expected-error @below {{'fa4.row_max' op expected to lie in a 'fa4.role'}}
  %ref, %factor = fa4.row_max %x scale(1.000000e+00) threshold(0.000000e+00) : !fa4.fragment<128x32xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  %r = "test.rows"() : () -> !fa4.rows<128xf32>
  // expected-error @below {{'fa4.exponents' op expected to lie in a 'fa4.role'}}
  %y = fa4.exponents %x minus %r scale(1.000000e+00) : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  // expected-error @below {{'fa4.exp2' op expected to lie in a 'fa4.role'}}
  %y = fa4.exp2 %x : !fa4.fragment<128x32xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  // expected-error @below {{'fa4.row_sum' op expected to lie in a 'fa4.role'}}
  %y = fa4.row_sum %x : !fa4.fragment<128x32xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  // expected-error @below {{'fa4.convert' op expected to lie in a 'fa4.role'}}
  %y = fa4.convert %x : !fa4.fragment<128x32xf32> to !fa4.fragment<128x32xf16>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<128x32xf32>
  %r = "test.rows"() : () -> !fa4.rows<128xf32>
  // expected-error @below {{'fa4.normalize' op expected to lie in a 'fa4.role'}}
  %y = fa4.normalize %x by %r : !fa4.fragment<128x32xf32>, !fa4.rows<128xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %a = fa4.alloc "a" : !fa4.ring<1 x 64x64xf16, smem>
  %b = fa4.alloc "b" : !fa4.ring<2 x 128x64xf16, smem>
  // expected-error @below {{'fa4.warpgroup_mma' op expected to lie in a 'fa4.role'}}
  %d = fa4.warpgroup_mma %a[%c0] * %b[%c0] transpose_b : !fa4.ring<1 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %d = "test.product"() : () -> !fa4.pending<64x128xf32>
  // expected-error @below {{'fa4.warpgroup_wait' op expected to lie in a 'fa4.role'}}
  %x = fa4.warpgroup_wait pending(0) %d : !fa4.pending<64x128xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.fill' op expected to lie in a 'fa4.role'}}
  %x = fa4.fill 0.0 : !fa4.fragment<64x64xf32, wgmma>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.fragment"() : () -> !fa4.fragment<64x64xf32, wgmma>
  %r = "test.rows"() : () -> !fa4.rows<64xf32>
  // expected-error @below {{'fa4.scale_rows' op expected to lie in a 'fa4.role'}}
  %y = fa4.scale_rows %x by %r : !fa4.fragment<64x64xf32, wgmma>, !fa4.rows<64xf32>
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf32>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %x = "test.rows"() : () -> !fa4.rows<64xf32, partial>
  // expected-error @below {{'fa4.row_total' op expected to lie in a 'fa4.role'}}
  %y = fa4.row_total %x : !fa4.rows<64xf32, partial>
}
