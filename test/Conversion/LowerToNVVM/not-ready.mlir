// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the passes before have to have decided, and what a thread can do: each refusal.

!q = memref<1x256x2x64xf16>

fa4.kernel @barrier_without_a_place(%q: !q, %k: !q, %v: !q, %o: !q)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'fa4.barrier' op expected a place for the barrier: run --fa4-allocate-storage first}}
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.arrive %b[%c0]
  }
}

// -----

!q = memref<1x256x2x64xf16>

fa4.kernel @no_number_of_columns(%q: !q, %k: !q, %v: !q, %o: !q)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  // expected-error @below {{'fa4.tmem_acquire' op expected a number of columns: run --fa4-allocate-storage first}}
  fa4.tmem_acquire warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

!q = memref<1x256x2x64xf16>

fa4.kernel @cursor(%q: !q, %k: !q, %v: !q, %o: !q)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(65536) {
  %kv = fa4.alloc "kv" at(0) : !fa4.ring<2 x 128x64xf16, smem>
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.next' op expected slots as values: run --fa4-materialize-phases first}}
    %slot = fa4.next %kv : !fa4.ring<2 x 128x64xf16, smem>
  }
}

// -----

!q = memref<1x256x2x64xf16>

fa4.kernel @wait_without_a_parity(%q: !q, %k: !q, %v: !q, %o: !q)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) smem(1024) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128) at(0)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.arrive %b[%c0]
    // expected-error @below {{'fa4.wait' op expected a parity: run --fa4-materialize-phases first}}
    fa4.wait %b[%c0]
  }
}

// -----

// A row of the tile is a thread's: one warp has too few.
!q = memref<1x256x2x64xf16>

fa4.kernel @one_warp(%q: !q, %k: !q, %v: !q, %o: !q)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %s = fa4.alloc "s" at(0) : !fa4.ring<1 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(128)
  fa4.cta_sync
  fa4.role @r warps(0 to 1) regs(128) {
    // expected-error @below {{'fa4.read_tile' op expected a role of whole warpgroups}}
    %x = fa4.read_tile %s[%c0] columns(0) : !fa4.ring<1 x 128x128xf32, tmem> to !fa4.fragment<128x32xf32>
  }
  fa4.role @rest warps(1 to 4) regs(128) {
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
