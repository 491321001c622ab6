// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A conditional wait or cursor has no phase that follows from the text.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.barrier "x" slots(2) arrives(@other commit)
  %true = arith.constant true
  fa4.role @r warps(0 to 4) regs(48) {
    scf.if %true {
      // expected-error @below {{'fa4.wait' op expected to lie in no region but those of 'fa4.role', 'fa4.for_task' and 'fa4.for_kv', but lies in 'scf.if', under which its phase does not follow from the text}}
      fa4.wait %x[%c0]
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
    scf.for %i = %c0 to %c1 step %c1 {
      // expected-error @below {{'fa4.wait' op expected to lie in no region but those of 'fa4.role', 'fa4.for_task' and 'fa4.for_kv', but lies in 'scf.for', under which its phase does not follow from the text}}
      fa4.wait %x[%c0]
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
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %true = arith.constant true
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      scf.if %true {
        // expected-error @below {{'fa4.next' op expected to lie in no region but those of 'fa4.role', 'fa4.for_task' and 'fa4.for_kv', but lies in 'scf.if', under which its phase does not follow from the text}}
        %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      }
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// A named barrier has no phase.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = fa4.barrier "n" named slots(1) arrives(@r threads 128)
  %true = arith.constant true
  fa4.role @r warps(0 to 4) regs(48) {
    scf.if %true {
      fa4.wait %n[%c0]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
