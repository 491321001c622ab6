// RUN: fa4-opt %s --fa4-lower-to-nvvm --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels edited by hand: what is not set up, not torn down, or not known where it
// lies would hang or crash, and is refused.

// No one initialises the barrier.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'fa4.barrier' op expected a 'fa4.init_barriers' in the kernel}}
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128) at(0)
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.arrive %b[%c0]
  }
}

// -----

// Initialised twice.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128) at(0)
  // expected-note @below {{the first is here}}
  fa4.init_barriers warp(0)
  // expected-error @below {{'fa4.init_barriers' op expected once in a kernel}}
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.arrive %b[%c0]
  }
}

// -----

// Initialised, but other warps may come first.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128) at(0)
  // expected-error @below {{'fa4.init_barriers' op expected a 'fa4.cta_sync' between it and the roles}}
  fa4.init_barriers warp(0)
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.arrive %b[%c0]
  }
}

// -----

// Too late.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128) at(0)
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.arrive %b[%c0]
  }
  // expected-error @below {{'fa4.init_barriers' op expected before the roles}}
  fa4.init_barriers warp(0)
  fa4.cta_sync
}

// -----

// The address of tensor memory has not reached the roles.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %x = fa4.alloc "x" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.cta_sync
  // expected-error @below {{'fa4.tmem_acquire' op expected a 'fa4.cta_sync' between it and the roles}}
  fa4.tmem_acquire warp(0) columns(128)
  fa4.role @r warps(0 to 4) regs(128) {
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

// Never given back.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %x = fa4.alloc "x" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.tmem_acquire' op expected a 'fa4.tmem_release' behind the roles}}
  fa4.tmem_acquire warp(0) columns(128)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
  }
}

// -----

// Given back while roles still use it.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %x = fa4.alloc "x" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(128)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
  }
  // expected-error @below {{'fa4.tmem_release' op expected a 'fa4.cta_sync' between the roles and it}}
  fa4.tmem_release warp(0)
}

// -----

// Given back twice.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %x = fa4.alloc "x" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(128)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
  }
  fa4.cta_sync
  // expected-note @below {{the first is here}}
  fa4.tmem_release warp(0)
  // expected-error @below {{'fa4.tmem_release' op expected once in a kernel}}
  fa4.tmem_release warp(0)
}

// -----

// Nothing to give back.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
  }
  fa4.cta_sync
  // expected-error @below {{'fa4.tmem_release' op expected a 'fa4.tmem_acquire' before it}}
  fa4.tmem_release warp(0)
}

// -----

// A ring that is chosen at run time has no place.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %x = fa4.alloc "x" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(128)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
    %flag = arith.cmpi eq, %c0, %c0 : index
    %y = arith.select %flag, %x, %x : !fa4.ring<1 x 128x128xf32, tmem>
    // expected-error @below {{'fa4.read_tile' op expected a ring that 'fa4.alloc' or 'fa4.alias' declares, not a value chosen or carried at run time}}
    %f = fa4.read_tile %y[%c0] columns(0) : !fa4.ring<1 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

// Nor has one that a loop carries.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %x = fa4.alloc "x" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(128)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.for_task (%t, %h, %m) iter_args(%y = %x) -> (!fa4.ring<1 x 128x128xf32, tmem>) {
      // expected-error @below {{'fa4.read_tile' op expected a ring that 'fa4.alloc' or 'fa4.alias' declares, not a value chosen or carried at run time}}
      %f = fa4.read_tile %y[%c0] columns(0) : !fa4.ring<1 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
          fa4.yield %y : !fa4.ring<1 x 128x128xf32, tmem>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

// Fragments have no registers in ops that know nothing of them.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %x = fa4.alloc "x" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  %mail = fa4.alloc "mail" at(0) : !fa4.ring<1 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(128)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
    %f = fa4.read_tile %x[%c0] columns(0) : !fa4.ring<1 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
    %n = gpu.thread_id x
    %flag = arith.cmpi eq, %n, %c0 : index
    %s = fa4.scale %f by 2.0 : !fa4.fragment<128x32xf32>
    // expected-error @below {{'arith.select' op expected fragments and row values in ops of fa4, scf.for, scf.if, scf.while and scf.index_switch only}}
    %g = arith.select %flag, %f, %s : !fa4.fragment<128x32xf32>
    %max, %factor = fa4.row_max %g scale(1.0) threshold(8.0) : !fa4.fragment<128x32xf32>
    fa4.publish %max to %mail[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
