// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Contracts, waits and arrivals.

// barrier_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 slots, but got 0}}
  %x = fa4.barrier "x" slots(0) arrives(@r threads 1)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 slots, but got 1025}}
  %x = fa4.barrier "x" slots(1025) arrives(@r threads 1)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 slots, but got -1}}
  %x = fa4.barrier "x" slots(-1) arrives(@r threads 1)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected at least one arrival a phase}}
  %x = "fa4.barrier"() <{name = "x", slots = 1 : i64, arrivals = []}> : () -> !fa4.barrier
}

// -----

// barrier_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 threads of @r, but got 0}}
  %x = fa4.barrier "x" slots(1) arrives(@r threads 0)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 threads of @r, but got -5}}
  %x = fa4.barrier "x" slots(1) arrives(@r threads -5)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected each role once among the arrivals, but got @r again}}
  %x = fa4.barrier "x" slots(1) arrives(@r threads 1, @r commit)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected arrivals of the kernel's roles, but there is no role @s}}
  %x = fa4.barrier "x" slots(1) arrives(@s threads 1)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1024 threads of @r, but got 1025}}
  %x = fa4.barrier "x" slots(1) arrives(@r threads 1025)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected from 1 to 1048575 bytes of @r, but got 1048576}}
  %x = fa4.barrier "x" slots(1) arrives(@r bytes 1048576)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected at most 128 threads of @r, but got 160}}
  %x = fa4.barrier "x" slots(1) arrives(@r threads 160)
  // expected-note @below {{the role is here}}
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c6
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected 32 threads of @r on a named barrier, those of one warp, but got 64}}
  %x = fa4.barrier "x" named slots(1) per_warp arrives(@r threads 64)
  // expected-note @below {{the role is here}}
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected arrivals of threads on a named barrier, but got commit of @r}}
  %x = fa4.barrier "x" named slots(1) arrives(@r commit)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected a multiple of 32 threads on a named barrier, but got 48 of @r}}
  %x = fa4.barrier "x" named slots(1) arrives(@r threads 48)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected a named barrier not to be 'initially_free'}}
  %x = fa4.barrier "x" named slots(1) arrives(@r threads 32) initially_free
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected 'per_warp' on a named barrier only}}
  %x = fa4.barrier "x" slots(1) per_warp arrives(@r threads 32)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c5
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got 0 to 1}}
  %x = fa4.barrier "x" named slots(2) arrives(@r threads 32) at(0)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c5
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got 9 to 16}}
  %x = fa4.barrier "x" named slots(2) per_warp arrives(@r threads 32) at(9)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c5: the last id does not wrap round
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected ids of a named barrier from 1 to 15, but got 9223372036854775807 to 9223372036854775807}}
  %x = fa4.barrier "x" named slots(2) arrives(@r threads 32) at(9223372036854775807)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c5
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected 'at' to be a multiple of 8, but got 4}}
  %x = fa4.barrier "x" slots(2) arrives(@r threads 32) at(4)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// barrier_c5
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.barrier' op expected 'at' to be a multiple of 8, but got -8}}
  %x = fa4.barrier "x" slots(2) arrives(@r threads 32) at(-8)
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// wait_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  // expected-error @below {{'fa4.wait' op expected to lie in a 'fa4.role'}}
  fa4.wait %x[%c0]
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// wait_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %y = "test.barrier"() : () -> !fa4.barrier
    // expected-error @below {{'fa4.wait' op expected a barrier that 'fa4.barrier' declares}}
    fa4.wait %y[%c0]
  }
}

// -----

// wait_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(128) {
    %c = arith.constant 2 : index
    // expected-error @below {{'fa4.wait' op expected a slot below 2 of barrier "x", but got 2}}
    fa4.wait %x[%c]
  }
}

// -----

// wait_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(128) {
    %c = arith.constant -1 : index
    // expected-error @below {{'fa4.wait' op expected a slot below 2 of barrier "x", but got -1}}
    fa4.wait %x[%c]
  }
}

// -----

// arrive_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  // expected-error @below {{'fa4.arrive' op expected to lie in a 'fa4.role'}}
  fa4.arrive %x[%c0]
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

// -----

// arrive_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    %y = "test.barrier"() : () -> !fa4.barrier
    // expected-error @below {{'fa4.arrive' op expected a barrier that 'fa4.barrier' declares}}
    fa4.arrive %y[%c0]
  }
}

// -----

// arrive_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(128) {
    %c = arith.constant 2 : index
    // expected-error @below {{'fa4.arrive' op expected a slot below 2 of barrier "x", but got 2}}
    fa4.arrive %x[%c]
  }
}

// -----

// arrive_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" slots(2) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(128) {
    %c = arith.constant -1 : index
    // expected-error @below {{'fa4.arrive' op expected a slot below 2 of barrier "x", but got -1}}
    fa4.arrive %x[%c]
  }
}

// -----

// wait_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %x = fa4.barrier "x" named slots(1) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(48) {
    %p = arith.constant 0 : i32
    // expected-error @below {{'fa4.wait' op expected no parity on a named barrier}}
    fa4.wait %x[%c0] parity(%p)
  }
  fa4.role @s warps(4 to 8) regs(48) {
  }
}

// -----

// wait_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" named slots(1) arrives(@s threads 128)
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'fa4.wait' op expected a role that named barrier "x" counts, but got @r}}
    fa4.wait %x[%c0]
  }
  fa4.role @s warps(4 to 8) regs(48) {
  }
}

// -----

// arrive_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" slots(1) arrives(@s threads 128)
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'fa4.arrive' op expected a role whose arrival barrier "x" declares, but got @r}}
    fa4.arrive %x[%c0]
  }
  fa4.role @s warps(4 to 8) regs(48) {
  }
}

// -----

// arrive_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the barrier is here}}
  %x = fa4.barrier "x" slots(1) arrives(@r bytes 1024)
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'fa4.arrive' op expected bytes on barrier "x" to arrive by 'fa4.load'}}
    fa4.arrive %x[%c0]
  }
  fa4.role @s warps(4 to 8) regs(48) {
  }
}
