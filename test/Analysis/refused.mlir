// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: fa4-opt %s --fa4-verify-protocol --split-input-file --verify-diagnostics

// A wait under a condition, beside a data path under one that touches nothing shared.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.arrive %b[%c0]
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %first = arith.cmpi eq, %m, %c0 : index
      %x = scf.if %first -> (index) {
        scf.yield %c0 : index
      } else {
        scf.yield %c1 : index
      }
      // expected-note @below {{the condition is here}}
      scf.if %first {
        // expected-error @below {{'fa4.wait' op expected to lie outside of 'scf.if': a wait or arrival that some warps or roles skip unbalances the phases; make the data path conditional and keep it outside}}
        fa4.wait %b[%c0]
      }
    }
  }
}

// -----

// A fence that a path may skip.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  fa4.role @r warps(0 to 4) regs(48) {
    %true = arith.constant true
    // expected-note @below {{the condition is here}}
    scf.if %true {
      // expected-error @below {{'fa4.fence' op incomplete: expected to lie outside of 'scf.if', which the proof does not model}}
      fa4.fence async_shared
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// Each role goes over the blocks of a task once.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      // expected-note @below {{the other loop is here}}
      fa4.for_kv %j in rest(%m) {
      }
      // expected-error @below {{'fa4.for_kv' op incomplete: expected a role to go over the K/V blocks of a task once; the proof does not model another loop}}
      fa4.for_kv %j in rest(%m) {
      }
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%b, %h, %m) {
      fa4.for_kv %j in rest_masked(%m) {
      }
      fa4.for_kv %j in rest_unmasked(%m) {
      }
    }
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
    }
    // expected-error @below {{'fa4.for_task' op incomplete: expected one loop over the tasks in a role; the proof does not model another}}
    fa4.for_task (%b, %h, %m) {
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// Slots that the text does not tell.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = fa4.barrier "b" slots(2) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      // expected-error @below {{'fa4.arrive' op incomplete: expected a slot that follows from the text, as a constant, the role's instance or a 'fa4.next' does, but got a value that the proof cannot tell}}
      fa4.arrive %b[%m]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// A cursor on a ring with more slots than the barrier has.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %b = fa4.barrier "b" slots(2) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      // expected-error @below {{'fa4.arrive' op expected a slot that exists, but got 2 for @r}}
      fa4.arrive %b[%s]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %b[%s]
    }
  }
}

// -----

// Roles in two groups.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  fa4.role @r warps(0 to 4) regs(48) {
  }
  // expected-note @below {{it is here}}
  fa4.cta_sync
  // expected-error @below {{'fa4.role' op incomplete: expected all roles together, but a 'fa4.cta_sync' lies between them, which the proof does not model}}
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// An op that one thread issues, in a role of four warps.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'fa4.store_wait' op expected a role of one warp to issue it}}
    fa4.store_wait pending(0)
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// Arrivals that are left over: the phase lacks the other role's.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{a phase of the barrier takes 128 threads of @r and 128 threads of @other}}
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128, @other threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'fa4.arrive' op expected phase 1 of barrier "b"[0], for which @r arrives, to complete, but it lacks 128 threads of @other}}
    fa4.arrive %b[%c0]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// Two roles that arrive without waiting for each other: the second arrival of one
// may complete the first phase.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{a phase of the barrier takes 128 threads of @other and 128 threads of @r}}
  %b = fa4.barrier "b" slots(1) arrives(@other threads 128, @r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      // expected-error @below {{'fa4.arrive' op expected the arrival of @r for phase 2 of barrier "b"[0] in task 2 after phase 1, but it may be counted there: nothing orders it after 128 threads of @other}}
      fa4.arrive %b[%c0]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      // expected-note @below {{that arrival is here, in task 1}}
      fa4.arrive %b[%c0]
    }
  }
}

// -----

// The same with a wait for each other's phase.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128, @other threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      fa4.arrive %b[%c0]
      fa4.wait %b[%c0]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      fa4.arrive %b[%c0]
      fa4.wait %b[%c0]
    }
  }
}

// -----

// A circle: each waits for the other to begin.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = fa4.barrier "a" slots(1) arrives(@r threads 128)
  // expected-note @below {{a phase of the barrier takes 128 threads of @other}}
  %b = fa4.barrier "b" slots(1) arrives(@other threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-error @below {{'fa4.wait' op deadlock: @r waits for phase 1 of barrier "b"[0], which lacks 128 threads of @other}}
    fa4.wait %b[%c0]
    fa4.arrive %a[%c0]
  }
  fa4.role @other warps(4 to 8) regs(48) {
    // expected-note @below {{@other waits for phase 1 of barrier "a"[0], which lacks 128 threads of @r}}
    fa4.wait %a[%c0]
    fa4.arrive %b[%c0]
  }
}

// -----

// Barriers that nobody initialises.

// expected-error @below {{'fa4.kernel' op expected a 'fa4.init_barriers' before the roles, since barrier "b" lies in memory}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{the barrier is here}}
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.arrive %b[%c0]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// Slots that roles name cost time: there is a bound. Those of a barrier that nobody names cost nothing.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %idle = fa4.barrier "idle" slots(1024) arrives(@r threads 128)
  %a = fa4.barrier "a" slots(1000) arrives(@r threads 128)
  // expected-error @below {{'fa4.barrier' op incomplete: expected at most 1024 slots on all barriers that roles name, but got 1025 up to this one}}
  %b = fa4.barrier "b" slots(25) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.arrive %a[%c0]
    fa4.wait %a[%c0]
    fa4.arrive %b[%c0]
    fa4.wait %b[%c0]
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %z0 = fa4.barrier "z0" slots(1024) arrives(@r threads 128)
  %z1 = fa4.barrier "z1" slots(1024) arrives(@r threads 128)
  %z2 = fa4.barrier "z2" slots(1024) arrives(@r threads 128)
  %z3 = fa4.barrier "z3" slots(1024) arrives(@r threads 128)
  %a = fa4.barrier "a" slots(1) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.arrive %a[%c0]
    fa4.wait %a[%c0]
  }
}
