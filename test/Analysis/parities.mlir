// RUN: fa4-opt %s --fa4-verify-protocol --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The parity of a wait is that of the phase that its role's waits count to.

// Bits that change, in whatever form: by xori, by subi, by select; and one wait in logical time.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.subi %one, %p : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %zero) -> (i32) {
      fa4.wait %full[%c0] parity(%p)
      fa4.arrive %empty[%c0]
      %odd = arith.cmpi eq, %p, %one : i32
      %next = arith.select %odd, %zero, %one : i32
      fa4.yield %next : i32
    }
  }
}

// -----

// The other role has no parities: its waits are in logical time.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      fa4.wait %full[%c0]
      fa4.arrive %empty[%c0]
    }
  }
}

// -----

// A cursor and its phase as numbers, the phase in a bit beside the slot; and a count that nobody needs.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last:2 = fa4.for_task (%n, %h, %m) iter_args(%i = %zero, %count = %zero) -> (i32, i32) {
      %low = arith.andi %i, %one : i32
      %slot = arith.index_castui %low : i32 to index
      %high = arith.shrui %i, %one : i32
      %p = arith.xori %high, %one : i32
      fa4.wait %empty[%slot] parity(%p)
      fa4.arrive %full[%slot]
      %four = arith.constant 4 : i32
      %more = arith.addi %i, %one : i32
      %next = arith.remui %more, %four : i32
      %all = arith.addi %count, %one : i32
      fa4.yield %next, %all : i32, i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    %last:2 = fa4.for_task (%n, %h, %m) iter_args(%slot = %c0, %p = %zero) -> (index, i32) {
      fa4.wait %full[%slot] parity(%p)
      fa4.arrive %empty[%slot]
      %more = arith.addi %slot, %c1 : index
      %wraps = arith.cmpi eq, %more, %c2 : index
      %to = arith.select %wraps, %c0, %more : index
      %flip = arith.extui %wraps : i1 to i32
      %next = arith.xori %p, %flip : i32
      fa4.yield %to, %next : index, i32
    }
  }
}

// -----

// A slot that is free at first has the parity of a phase that is over.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %zero) -> (i32) {
      // expected-error @below {{'fa4.wait' op expected parity 1 in task 1, since @r has to find barrier "empty"[0] free, but got 0}}
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %zero) -> (i32) {
      fa4.wait %full[%c0] parity(%p)
      fa4.arrive %empty[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
}

// -----

// The first phase has parity 0.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      // expected-error @below {{'fa4.wait' op expected parity 0 in task 1, since @other waits for phase 1 of barrier "full"[0], but got 1}}
      fa4.wait %full[%c0] parity(%p)
      fa4.arrive %empty[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
}

// -----

// A bit that does not change.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      // expected-error @below {{'fa4.wait' op expected parity 1 in task 2, since @other waits for phase 2 of barrier "full"[0], but got 0}}
      fa4.wait %full[%c0] parity(%zero)
      fa4.arrive %empty[%c0]
    }
  }
}

// -----

// A bit that changes once too often: in the third task it is the second's.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    %last:2 = fa4.for_task (%n, %h, %m) iter_args(%p = %zero, %then = %one) -> (i32, i32) {
      // expected-error @below {{'fa4.wait' op expected parity 0 in task 3, since @other waits for phase 3 of barrier "full"[0], but got 1}}
      fa4.wait %full[%c0] parity(%p)
      fa4.arrive %empty[%c0]
      fa4.yield %then, %then : i32, i32
    }
  }
}

// -----

// No parity at all.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      // expected-error @below {{'fa4.wait' op expected parity 0 in task 1, since @other waits for phase 1 of barrier "full"[0], but got 2}}
      fa4.wait %full[%c0] parity(%two)
      fa4.arrive %empty[%c0]
    }
  }
}

// -----

// A parity that the text does not tell.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %full = fa4.barrier "full" slots(2) arrives(@r threads 128)
  %empty = fa4.barrier "empty" slots(2) arrives(@other threads 128) initially_free
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %last = fa4.for_task (%n, %h, %m) iter_args(%p = %one) -> (i32) {
      fa4.wait %empty[%c0] parity(%p)
      fa4.arrive %full[%c0]
      %next = arith.xori %p, %one : i32
      fa4.yield %next : i32
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %p = arith.index_cast %m : index to i32
      // expected-error @below {{'fa4.wait' op incomplete: expected a parity that follows from the text, but got a value that the proof cannot tell}}
      fa4.wait %full[%c0] parity(%p)
      fa4.arrive %empty[%c0]
    }
  }
}
