// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: fa4-opt %s --fa4-verify-protocol --split-input-file --verify-diagnostics

// Loops of other dialects in roles: the text has to show that they end.

// A loop that does not end, with nothing in it.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %true = arith.constant true
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'scf.while' op incomplete: expected control flow that the text shows to end, such as 'scf.if' and loops whose steps are positive constants}}
    scf.while : () -> () {
      scf.condition(%true)
    } do {
      scf.yield
    }
  }
}

// -----

// A loop that stays where it is, under a condition.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %true = arith.constant true
  fa4.role @r warps(0 to 4) regs(48) {
    scf.if %true {
      // expected-error @below {{'scf.for' op incomplete: expected control flow that the text shows to end, such as 'scf.if' and loops whose steps are positive constants}}
      scf.for %i = %c0 to %c8 step %c0 {
      }
    }
  }
}

// -----

// A loop whose step is computed, beside one whose step is known.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      scf.for %i = %c0 to %m step %c8 {
      }
      // expected-error @below {{'scf.for' op incomplete: expected control flow that the text shows to end, such as 'scf.if' and loops whose steps are positive constants}}
      scf.for %i = %c0 to %c8 step %m {
      }
    }
  }
}

// -----

// Branches inside of an op.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'scf.execute_region' op incomplete: expected control flow that the text shows to end, such as 'scf.if' and loops whose steps are positive constants}}
    scf.execute_region {
      cf.br ^again
    ^again:
      cf.br ^again
    }
  }
}
