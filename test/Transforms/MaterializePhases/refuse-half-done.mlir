// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A role has parities on all its waits and no cursor, or none.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  %p = arith.constant 0 : i32
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-note @below {{a wait with a parity is here}}
    fa4.wait %x[%c0] parity(%p)
    // expected-error @below {{'fa4.wait' op expected every wait of role @r to have a parity and no cursor to be left, or no parity at all}}
    fa4.wait %x[%c1]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  %p = arith.constant 0 : i32
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'fa4.next' op expected every wait of role @r to have a parity and no cursor to be left, or no parity at all}}
    %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    // expected-note @below {{a wait with a parity is here}}
    fa4.wait %x[%c0] parity(%p)
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
