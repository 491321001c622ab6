// RUN: fa4-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// warpgroup_mma_c1
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    // expected-error @below {{'fa4.warpgroup_mma' op expected a slot of a ring in 'smem' as A, but got no slot of '!fa4.ring<2 x 64x64xf16, smem>'}}
    %s = fa4.warpgroup_mma %qs * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c1
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    // expected-error @below {{'fa4.warpgroup_mma' op expected B in 'smem', but got 'tmem'}}
    %s = fa4.warpgroup_mma %qs[%c0] * %t[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf32, tmem> to !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c1
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %a = "test.a"() : () -> !fa4.fragment<128x64xf16>
    // expected-error @below {{'fa4.warpgroup_mma' op expected a fragment in 'wgmma' layout, without a slot, as A, but got '!fa4.fragment<128x64xf16>'}}
    %s = fa4.warpgroup_mma %a * %kv[%c0] transpose_b : !fa4.fragment<128x64xf16> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c2
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %a = "test.a"() : () -> !fa4.fragment<64x64xbf16, wgmma>
    // expected-error @below {{'fa4.warpgroup_mma' op expected A and B of one 16-bit type, but got 'bf16' and 'f16'}}
    %s = fa4.warpgroup_mma %a * %kv[%c0] transpose_b : !fa4.fragment<64x64xbf16, wgmma> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c3
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    // expected-error @below {{'fa4.warpgroup_mma' op expected A, B and D of 64x64, 64x64 and 64x64, but got 64x64, 64x128 and 64x64}}
    %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x64xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c3
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %a = fa4.fill 0.0 : !fa4.fragment<64x64xf32, wgmma>
    // expected-error @below {{'fa4.warpgroup_mma' op expected C of '!fa4.fragment<64x128xf32, wgmma>', but got '!fa4.fragment<64x64xf32, wgmma>'}}
    %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] plus %a transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> plus !fa4.fragment<64x64xf32, wgmma> to !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c4
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  // expected-note @below {{the ring is here}}
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %c7 = arith.constant 7 : index
    // expected-error @below {{'fa4.warpgroup_mma' op expected a slot below 2 of ring "kv", but got 7}}
    %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c7] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c5
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(0 to 1) regs(240) {
    // expected-error @below {{'fa4.warpgroup_mma' op expected a role of 128 threads, but @r has 32}}
    %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(1 to 8) regs(240) {
  }
}

// -----

// warpgroup_mma_c6: a later wait that covers it hands out another's result.
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  fa4.role @r warps(4 to 8) regs(240) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.warpgroup_mma' op expected one 'fa4.warpgroup_wait' for the product, but got none}}
      %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
      %t = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
      %y = fa4.warpgroup_wait pending(0) %t : !fa4.pending<64x128xf32>
    }
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_mma_c6
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  fa4.role @r warps(4 to 8) regs(240) {
    // expected-error @below {{'fa4.warpgroup_mma' op expected a 'fa4.warpgroup_wait' as the only use of the product}}
    %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
    %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x128xf32>
    // expected-note @below {{another is here}}
    "test.use"(%s) : (!fa4.pending<64x128xf32>) -> ()
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_wait_c2
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    // expected-note @below {{the product is here}}
    %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
    // expected-error @below {{'fa4.warpgroup_wait' op expected at least 1 products behind the one waited for, since as many may still run, but got 0}}
    %x = fa4.warpgroup_wait pending(1) %s : !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_wait_c2
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %s = fa4.warpgroup_mma %qs[%c0] * %kv[%c0] transpose_b : !fa4.ring<2 x 64x64xf16, smem> * !fa4.ring<2 x 128x64xf16, smem> to !fa4.pending<64x128xf32>
    // expected-error @below {{'fa4.warpgroup_wait' op expected one wait for each product}}
    %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x128xf32>
    // expected-note @below {{another is here}}
    %y = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// warpgroup_wait_c2
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %s = "test.a"() : () -> !fa4.pending<64x128xf32>
    // expected-error @below {{'fa4.warpgroup_wait' op expected a product that was started in the same block}}
    %x = fa4.warpgroup_wait pending(0) %s : !fa4.pending<64x128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// fill_c1
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    // expected-error @below {{'fa4.fill' op expected an f32 fragment in 'wgmma' layout, but got '!fa4.fragment<128x32xf32>'}}
    %x = fa4.fill 0.0 : !fa4.fragment<128x32xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// scale_rows_c1
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %x = fa4.fill 0.0 : !fa4.fragment<64x64xf32, wgmma>
    %f = "test.f"() : () -> !fa4.rows<64xf32, partial>
    // expected-error @below {{'fa4.scale_rows' op expected a factor for each of the 64 rows, but got '!fa4.rows<64xf32, partial>'}}
    %y = fa4.scale_rows %x by %f : !fa4.fragment<64x64xf32, wgmma>, !fa4.rows<64xf32, partial>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// row_total_c1
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %f = "test.f"() : () -> !fa4.rows<64xf32>
    // expected-error @below {{'fa4.row_total' op expected partial row values and as many whole ones, but got '!fa4.rows<64xf32>' and '!fa4.rows<64xf32>'}}
    %y = fa4.row_total %f : !fa4.rows<64xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// row_max_c1
fa4.kernel @k(%q: memref<1x128x1x64xf16>, %k: memref<1x128x1x64xf16>,
              %v: memref<1x128x1x64xf16>, %o: memref<1x128x1x64xf16>)
    target(#fa4.target<sm_90a>) warps(8) tile_rows(64) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %qs = fa4.alloc "q" at(0) : !fa4.ring<2 x 64x64xf16, smem>
  %kv = fa4.alloc "kv" at(16384) : !fa4.ring<2 x 128x64xf16, smem>
  %t = fa4.alloc "t" : !fa4.ring<2 x 128x64xf32, tmem>
  fa4.role @r warps(4 to 8) regs(240) {
    %x = fa4.fill 0.0 : !fa4.fragment<64x64xf32, wgmma>
    %f = "test.f"() : () -> !fa4.rows<128xf32>
    // expected-error @below {{'fa4.exp2' op expected row values of '!fa4.rows<64xf32>' with '!fa4.fragment<64x64xf32, wgmma>', but got '!fa4.rows<128xf32>'}}
    %y = fa4.exp2 %x minus %f scale(1.0) : !fa4.fragment<64x64xf32, wgmma>, !fa4.rows<128xf32>
  }
  fa4.role @idle warps(0 to 4) regs(240) {
  }
}

// -----

// pending_c1
// expected-error @below {{expected an accumulator of f32, but got 'f16'}}
func.func private @f(!fa4.pending<64x128xf16>)

// -----

// fragment_c1
// expected-error @below {{expected 64 rows and a multiple of 8 columns of 'f32' in 'wgmma' layout, but got 64x12}}
func.func private @f(!fa4.fragment<64x12xf32, wgmma>)

// -----

// rows_c1
// expected-error @below {{expected 64 row values where they are partial, but got 128}}
func.func private @f(!fa4.rows<128xf32, partial>)
