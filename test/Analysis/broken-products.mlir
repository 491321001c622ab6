// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slips around the products of a warpgroup, each one that a person makes.

// RUN: fa4-opt %s --fa4-schedule-attention="chip=sm_90a tile-keys=64" -o %t.mlir
// RUN: fa4-opt %t.mlir --fa4-verify-protocol -o %t.proved.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
// NOTHING-NOT: {{.+}}

// K is given back while the product that reads it may run.
// RUN: %python %S/Inputs/edit.py consumer_0 'fa4.arrive .k_empty' 2 up 1 < %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: 'fa4.load' op race: @load writes "k"[{{.}}] in task 1{{.*}}, but nothing orders it after the read by @consumer_0: expected a 'fa4.warpgroup_wait' that ends it, an arrival of @consumer_0 behind that, and a wait for the arrival{{$}}
// EARLY: note: the read is here, in task 1

// V behind the wait that leaves its product running.
// RUN: %python %S/Inputs/edit.py consumer_0 'fa4.arrive .v_empty' 1 up 4 < %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=RUNNING
// RUNNING: error: 'fa4.load' op race: @load writes "v"[{{.}}] in task 1{{.*}}, but nothing orders it after the read by @consumer_0: expected a 'fa4.warpgroup_wait' that ends it

// A product that has no wait of its own, though the wait for the next covers it; each with one.
// DEFINE: %{product} = fa4.warpgroup_mma %%q_smem[%%c0] * %%k_smem[%%slot] transpose_b : !fa4.ring<3 x 64x64xf16, smem> * !fa4.ring<4 x 64x64xf16, smem> to !fa4.pending<64x64xf32>
// DEFINE: %{wait} = fa4.warpgroup_wait pending(0) %%late : !fa4.pending<64x64xf32>
// RUN: sed '0,/fa4.warpgroup_wait/s/^\( *\)\(.*fa4.warpgroup_wait.*\)/\1%%early = %{product}\n\1%%late = %{product}\n\1%%done = %{wait}\n&/' %t.mlir \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'fa4.warpgroup_mma' op expected one 'fa4.warpgroup_wait' for the product, but got none{{$}}
// RUN: sed '0,/fa4.warpgroup_wait/s/^\( *\)\(.*fa4.warpgroup_wait.*\)/\1%%late = %{product}\n\1%%done = %{wait}\n&/' %t.mlir \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.proved.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty

// One block has the sign of another scale.
// RUN: %python %S/Inputs/edit.py consumer_0 'fa4.warpgroup_mma .*transpose_b' 1 replace 'transpose_b' 'transpose_b negate_a' < %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=SIGN
// SIGN: error: 'fa4.warpgroup_mma' op expected 'negate_a', as the other products of Q have it{{$}}
// SIGN: note: one of them is here

// RUN: %python %S/Inputs/edit.py consumer_2 'fa4.warpgroup_mma .*transpose_b' 2 replace 'transpose_b' 'transpose_b negate_a' < %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=ONE-SIGN
// ONE-SIGN: error: 'fa4.warpgroup_mma' op expected no 'negate_a', as the other products of Q have none{{$}}

// All of them have it where the scale is negative.
// RUN: sed 's/transpose_b/transpose_b negate_a/' %t.mlir | fa4-opt --fa4-verify-protocol -o %t.proved.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty

// On the tensor core of sm_100a too.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.mma .*transpose_b' 2 replace 'transpose_b' 'transpose_b negate_a' | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=MMA
// MMA: error: 'fa4.mma' op expected no 'negate_a', as the other products of Q have none{{$}}

// O is scaled twice, and once too few.
// RUN: sed '0,/fa4.scale_rows/s/\(%%y[_0-9]*\) = fa4.scale_rows \(%%x[_0-9]*\) by \(.*\)/%%twice = fa4.scale_rows \2 by \3\n          \1 = fa4.scale_rows %%twice by \3/' %t.mlir \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'fa4.scale_rows' op expected O that lacks the factor of stage 0 and K/V block 2 of task 1 in task 1, K/V block 2, but got O of stage 0 of task 1 over K/V blocks 1 to 1 against the reference of block 2
// RUN: sed '0,/fa4.yield %%y/s/fa4.yield %%y[_0-9]*/fa4.yield %%x_18/' %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=UNSCALED
// UNSCALED: error: 'fa4.warpgroup_mma' op expected O of stage 0 of task 1 over K/V blocks 1 to 1 against the reference of block 2 as what is added to

// The result is written where the copy does not see it.
// RUN: %python %S/Inputs/edit.py consumer_1 'fa4.fence' 1 up 1 < %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FENCE
// FENCE: error: 'fa4.store' op race: @store reads "o_staging"[1] in task 1, but nothing orders it after the write by @consumer_1: expected a 'fa4.fence async_shared' behind it

func.func @f(%q: memref<1x200x3x64xf16>, %k: memref<1x300x1x64xf16>,
             %v: memref<1x300x1x64xf16>, %o: memref<1x200x3x64xf16>, %lse: memref<1x3x200xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x200x3x64xf16>, memref<1x300x1x64xf16>, memref<1x300x1x64xf16>)
                outs(%o : memref<1x200x3x64xf16>) lse(%lse : memref<1x3x200xf32>)
  return
}
