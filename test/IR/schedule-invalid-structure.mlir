// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops, set-up and launch.

// for_task_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.for_task' op expected to lie at the top level of a 'fa4.role'}}
  fa4.for_task (%b, %h, %m) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{expected three arguments (batch, tile head, M block), but got 2}}
    fa4.for_task (%b, %h) {
    }
  }
}

// -----

// for_task_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.for_task' op expected three region arguments of type index: batch, tile head, M block}}
    "fa4.for_task"() ({
    ^bb0(%b: index, %h: index, %m: i32):
      "fa4.yield"() : () -> ()
    }) : () -> ()
  }
}

// -----

// for_task_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.for_task' op expected a body that ends with 'fa4.yield'}}
    "fa4.for_task"() ({
    ^bb0(%b: index, %h: index, %m: index):
      "test.other"() : () -> ()
    }) : () -> ()
  }
}

// -----

// for_task_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.for_task' op expected initial values of types ('i32') as the results have, but got ('index')}}
    %x = "fa4.for_task"(%c0) ({
    ^bb0(%b: index, %h: index, %m: index, %i: i32):
      fa4.yield %i : i32
    }) : (index) -> i32
  }
}

// -----

// for_task_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.for_task' op expected region arguments of types ('index') as the results have, but got ()}}
    %x = "fa4.for_task"(%c0) ({
    ^bb0(%b: index, %h: index, %m: index):
      fa4.yield %b : index
    }) : (index) -> index
  }
}

// -----

// for_task_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.for_task' op expected yielded values of types ('index') as the results have, but got ('index', 'index')}}
    %x = fa4.for_task (%b, %h, %m) iter_args(%i = %c0) -> (index) {
      fa4.yield %i, %i : index, index
    }
  }
}

// -----

// for_task_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{expected 1 types of carried values, but got 2}}
    %x = fa4.for_task (%b, %h, %m) iter_args(%i = %c0) -> (index, index) {
      fa4.yield %i : index
    }
  }
}

// -----

// for_kv_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.for_kv' op expected a first region argument of type index: the K/V block}}
      "fa4.for_kv"(%m) <{range = #fa4<kv_range all>}> ({
      ^bb0:
        "fa4.yield"() : () -> ()
      }) : (index) -> ()
    }
  }
}

// -----

// for_kv_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.for_kv' op expected yielded values of types ('index') as the results have, but got ()}}
      %x = fa4.for_kv %j in rest(%m) iter_args(%i = %c0) -> (index) {
        fa4.yield
      }
    }
  }
}

// -----

// for_kv_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.for_kv' op expected to lie in a 'fa4.for_task'}}
    fa4.for_kv %j in all(%c0) {
    }
  }
}

// -----

// for_kv_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.for_kv' op expected 'm_block' to be the M block of the enclosing 'fa4.for_task'}}
      fa4.for_kv %j in all(%h) {
      }
    }
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{expected range 'all', 'rest', 'rest_masked' or 'rest_unmasked', but got 'most'}}
      fa4.for_kv %j in most(%m) {
      }
    }
  }
}

// -----

// first_kv_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    // expected-error @below {{'fa4.first_kv' op expected to lie in a 'fa4.for_task'}}
    %j = fa4.first_kv %c0
  }
}

// -----

// first_kv_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  fa4.role @r warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.first_kv' op expected 'm_block' to be the M block of the enclosing 'fa4.for_task'}}
      %j = fa4.first_kv %b
    }
  }
}

// -----

// init_barriers_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.init_barriers' op expected a warp below 4, the kernel's, but got 4}}
  fa4.init_barriers warp(4)
}

// -----

// tmem_acquire_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_acquire' op expected a warp below 4, the kernel's, but got -1}}
  fa4.tmem_acquire warp(-1)
}

// -----

// tmem_release_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_release' op expected a warp below 4, the kernel's, but got 4}}
  fa4.tmem_release warp(4)
}

// -----

// tmem_acquire_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_acquire' op expected 'columns' to be a power of two from 32 to 512, but got 48}}
  fa4.tmem_acquire warp(0) columns(48)
}

// -----

// tmem_acquire_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_acquire' op expected 'columns' to be a power of two from 32 to 512, but got 16}}
  fa4.tmem_acquire warp(0) columns(16)
}

// -----

// tmem_acquire_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_acquire' op expected 'columns' to be a power of two from 32 to 512, but got 1024}}
  fa4.tmem_acquire warp(0) columns(1024)
}

// -----

// tmem_acquire_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_acquire' op expected 'at' to be a multiple of 16, but got 8}}
  fa4.tmem_acquire warp(0) at(8)
}

// -----

// tmem_acquire_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.tmem_acquire' op expected 'at' to be a multiple of 16, but got -16}}
  fa4.tmem_acquire warp(0) at(-16)
}

// -----

// launch_c1
func.func @host(%q: memref<1x256x8x128xf16>) {
  // expected-error @below {{'fa4.launch' op expected @nothing to name a 'fa4.kernel'}}
  fa4.launch @nothing(%q) : memref<1x256x8x128xf16>
  return
}

// -----

// launch_c1
// expected-note @below {{the kernel is here}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}
func.func @host(%q: memref<1x256x8x128xf16>) {
  // expected-error @below {{'fa4.launch' op expected operands of the kernel's types}}
  fa4.launch @f(%q) : memref<1x256x8x128xf16>
  return
}
