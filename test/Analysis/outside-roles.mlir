// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: fa4-opt %s --fa4-verify-protocol --allow-unregistered-dialect --split-input-file --verify-diagnostics

// The proof runs roles alone, so that around them only fa4's own ops may act.

// An instruction behind the roles.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(48) {
  }
  // expected-error @below {{'llvm.inline_asm' op incomplete: expected no effects on memory outside of roles, but for those of set-up and teardown by fa4's own ops}}
  llvm.inline_asm has_side_effects "trap;", "" : () -> ()
}

// -----

// A barrier that not all threads come to.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(48) {
  }
  %c1 = arith.constant 1 : index
  %x = gpu.thread_id x
  %few = arith.cmpi ult, %x, %c1 : index
  // expected-note @below {{it lies in this 'scf.if'}}
  scf.if %few {
    // expected-error @below {{'gpu.barrier' op incomplete: expected no effects on memory outside of roles, but for those of set-up and teardown by fa4's own ops}}
    gpu.barrier
  }
}

// -----

// A write before the roles.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0 : f16
  // expected-error @below {{'memref.store' op incomplete: expected no effects on memory outside of roles, but for those of set-up and teardown by fa4's own ops}}
  memref.store %x, %o[%c0, %c0, %c0, %c0] : memref<1x256x8x128xf16>
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// A read.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'memref.load' op incomplete: expected no effects on memory outside of roles, but for those of set-up and teardown by fa4's own ops}}
  %x = memref.load %o[%c0, %c0, %c0, %c0] : memref<1x256x8x128xf16>
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// An op of which nothing is known.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'test.unknown' op incomplete: expected no effects on memory outside of roles, but for those of set-up and teardown by fa4's own ops}}
  "test.unknown"() ({
  }) : () -> ()
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// A loop that does not end.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(48) {
  }
  %true = arith.constant true
  // expected-error @below {{'scf.while' op incomplete: expected control flow that the text shows to end, such as 'scf.if' and loops whose steps are positive constants}}
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
}

// -----

// What computes and does nothing else may stand there.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = gpu.thread_id x
  %few = arith.cmpi ult, %x, %c1 : index
  %y = scf.if %few -> (index) {
    scf.yield %c0 : index
  } else {
    scf.yield %c1 : index
  }
  %z = scf.for %i = %c0 to %x step %c1 iter_args(%sum = %y) -> (index) {
    %next = arith.addi %sum, %i : index
    scf.yield %next : index
  }
  fa4.role @r warps(0 to 4) regs(48) {
  }
}
