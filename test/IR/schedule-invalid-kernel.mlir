// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// fa4.kernel and fa4.role.

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected arguments 'q', 'k', 'v', 'o' and possibly 'lse', but got 1}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected a body whose arguments have the types of 'function_type'}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %extra: index):
}) : () -> ()

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'k' to be a memref of rank 4, but got 'memref<256x8x128xf16>'}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'lse' to be a memref of rank 3, but got 'memref<1x256x8x128xf16>'}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'q' to hold f16 or bf16, but got 'f32'}}
fa4.kernel @f(%q: memref<1x256x8x128xf32>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'lse' to hold f32, but got 'f16'}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>, %lse: memref<1x8x256xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected 'v' to hold 'f16' as 'q' does, but got 'bf16'}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xbf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c1
// expected-error @below {{'fa4.kernel' op expected a static head dimension of 'q'}}
fa4.kernel @f(%q: memref<1x256x8x?xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'warps' to be a multiple of 4 up to 32, but got 6}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(6) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'warps' to be a multiple of 4 up to 32, but got 36}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(36) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op attribute 'warps' failed to satisfy constraint: 64-bit integer whose value is positive}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(-4) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'stages' from 1 to 65536, but got 0}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) stages(0) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'tile_rows' from 1 to 65536, but got 70000}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) tile_rows(70000) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'tile_keys' from 1 to 65536, but got -1}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) tile_keys(-1) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'pack' from 1 to 65536, but got 0}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) pack(0) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'pack' to divide the 128 rows of a tile, but got 3}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) pack(3) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected static head counts of 'q' and 'k' to pack 2 heads in a tile}}
fa4.kernel @f(%q: memref<1x256x?x128xf16>, %k: memref<1x256x?x128xf16>, %v: memref<1x256x?x128xf16>, %o: memref<1x256x?x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) pack(2) scheduler(linear_persistent) {
}

// -----

// kernel_c2
// expected-error @below {{'fa4.kernel' op expected 'pack' to divide the group size 1, but got 2}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) pack(2) scheduler(linear_persistent) {
}

// -----

// kernel_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected warps below 4, the kernel's, but got 4 to 8}}
  fa4.role @r warps(4 to 8) regs(48) {
  }
}

// -----

// kernel_c3
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{the other role is here}}
  fa4.role @a warps(0 to 3) regs(48) {
  }
  // expected-error @below {{'fa4.role' op expected warps of its own, but warp 2 also runs 'a'}}
  fa4.role @b warps(2 to 4) regs(48) {
  }
}

// -----

// kernel_c3
// expected-error @below {{'fa4.kernel' op expected the roles to share out all 4 warps, but warp 3 has none: give it to a role, an empty one if it idles}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @a warps(0 to 3) regs(48) {
  }
}

// -----

// kernel_c4
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-note @below {{the other role is here}}
  fa4.role @a warps(0 to 3) regs(48) {
  }
  // expected-error @below {{'fa4.role' op expected 48 registers, the budget of 'a' in the same warpgroup, but got 56}}
  fa4.role @b warps(3 to 4) regs(56) {
  }
}

// -----

// kernel_c5
// expected-error @below {{'fa4.kernel' op expected register budgets of at most 65536 registers in all, but got 69632, 4096 too many}}
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(16) scheduler(linear_persistent) {
  fa4.role @a(%stage) warps(0 to 16) regs(136) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    // expected-error @below {{expected scheduler 'linear_persistent' or 'longest_first', but got 'random'}}
    target(#fa4.target<sm_100a>) warps(4) scheduler(random) {
}

// -----

// role_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a non-empty range of warps, but got 2 to 2}}
  fa4.role @r warps(2 to 2) regs(48) {
  }
}

// -----

// role_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a non-empty range of warps, but got -4 to 4}}
  fa4.role @r warps(-4 to 4) regs(48) {
  }
}

// -----

// role_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a non-empty range of warps, but got 0 to 68}}
  fa4.role @r warps(0 to 68) regs(48) {
  }
}

// -----

// role_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected at most one argument of type index, the instance}}
  "fa4.role"() <{sym_name = "r", first_warp = 0 : i64, end_warp = 4 : i64, registers = 48 : i64}> ({
  ^bb0(%a: i32):
  }) : () -> ()
}

// -----

// role_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected whole warpgroups for a role with instances, but got warps 0 to 3}}
  fa4.role @r(%stage) warps(0 to 3) regs(48) {
  }
}

// -----

// role_c1
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected warps of one warpgroup for a role without instances, but got warps 3 to 5}}
  fa4.role @r warps(3 to 5) regs(48) {
  }
}

// -----

// role_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a register budget that is a multiple of 8 from 24 to 256, but got 50}}
  fa4.role @r warps(0 to 4) regs(50) {
  }
}

// -----

// role_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a register budget that is a multiple of 8 from 24 to 256, but got 16}}
  fa4.role @r warps(0 to 4) regs(16) {
  }
}

// -----

// role_c2
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  // expected-error @below {{'fa4.role' op expected a register budget that is a multiple of 8 from 24 to 256, but got 264}}
  fa4.role @r warps(0 to 4) regs(264) {
  }
}
