// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Slots whose phase does not follow from the text.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.wait' op expected a slot that is a constant, the role's instance or the result of 'fa4.next', so that its phase follows from the text}}
      fa4.wait %x[%m]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    %l = fa4.for_task (%b, %h, %m) iter_args(%i = %c0) -> (index) {
      // expected-error @below {{'fa4.wait' op expected a slot that is a constant, the role's instance or the result of 'fa4.next', so that its phase follows from the text}}
      fa4.wait %x[%i]
      fa4.yield %i : index
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// The instance may be any of the constants.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  fa4.role @r(%stage) warps(0 to 8) regs(48) {
    // expected-note @below {{another wait is here}}
    fa4.wait %x[%c0]
    // expected-error @below {{'fa4.wait' op expected role @r to name the slots of barrier "x" in one way, by constants, but got by the role's instance}}
    fa4.wait %x[%stage]
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    // expected-note @below {{another wait is here}}
    fa4.wait %full[%s]
    // expected-error @below {{'fa4.wait' op expected role @r to name the slots of barrier "full" in one way, by 'fa4.next' on ring "kv", but got by constants}}
    fa4.wait %full[%c0]
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
  %k2 = fa4.alloc "k2" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    // expected-note @below {{another wait is here}}
    fa4.wait %full[%s]
    %t = fa4.next %k2 : !fa4.ring<3 x 128x128xf16, smem>
    // expected-error @below {{'fa4.wait' op expected role @r to name the slots of barrier "full" in one way, by 'fa4.next' on ring "kv", but got by 'fa4.next' on ring "k2"}}
    fa4.wait %full[%t]
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
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    // expected-error @below {{'fa4.wait' op expected barrier "x" to have 3 slots, as ring "kv" has, but got 2}}
    fa4.wait %x[%s]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
