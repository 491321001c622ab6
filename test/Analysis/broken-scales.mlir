// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One scale holds for all of S, in every op that multiplies it, and the mask hides what it says.

// RUN: split-file %s %t
// RUN: fa4-opt %t/scaled.mlir --fa4-schedule-attention -o %t/scaled.s.mlir
// RUN: fa4-opt %t/zero.mlir --fa4-schedule-attention -o %t/zero.s.mlir
// RUN: fa4-opt %t/scaled.mlir --fa4-schedule-attention="chip=sm_90a look-ahead=off" -o %t/hopper.s.mlir
// RUN: fa4-opt %t/scaled.mlir --fa4-schedule-attention="chip=sm_90a look-ahead=on" -o %t/ahead.s.mlir
// RUN: cat %t/zero.s.mlir | fa4-opt --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
// NOTHING-NOT: {{.+}}

// The weights of one fragment, or the reference of one block, with another scale.
// RUN: %python %S/Inputs/edit.py softmax fa4.exp2 7 replace 'scale.[0-9.e+-]*.' 'scale(0.25)' < %t/scaled.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=EXP2
// EXP2: error: 'fa4.exp2' op expected one scale for all of S, 1.275174e-01 as 'fa4.row_max' has, but got 2.500000e-01{{$}}
// EXP2: note: the other op is here
// RUN: %python %S/Inputs/edit.py softmax fa4.row_max 2 replace 'scale.[0-9.e+-]*.' 'scale(0.25)' < %t/scaled.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=ROWMAX
// ROWMAX: error: 'fa4.row_max' op expected one scale for all of S, 1.275174e-01 as 'fa4.row_max' has, but got 2.500000e-01{{$}}

// In one of the roles of a warpgroup on Hopper.
// RUN: %python %S/Inputs/edit.py consumer_1 fa4.exp2 1 replace 'scale.[0-9.e+-]*.' 'scale(0.25)' < %t/hopper.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=EXP2
// RUN: %python %S/Inputs/edit.py consumer_1 fa4.exponents 1 replace 'scale.[0-9.e+-]*.' 'scale(0.25)' < %t/ahead.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=EXPONENTS
// EXPONENTS: error: 'fa4.exponents' op expected one scale for all of S, 1.275174e-01 as 'fa4.row_max' has, but got 2.500000e-01{{$}}

// Legal: another threshold. How old a reference may grow is a matter of rounding.
// RUN: %python %S/Inputs/edit.py softmax fa4.row_max 2 replace 'threshold.[0-9.e+-]*.' 'threshold(0.0)' < %t/scaled.s.mlir | fa4-opt --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
// Legal: all of them have another scale.
// RUN: sed 's/scale([0-9.e+-]*)/scale(0.25)/' %t/scaled.s.mlir | fa4-opt --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty

// The factor in front of the mask: another, twice, and not at all.
// RUN: %python %S/Inputs/edit.py softmax fa4.scale 9 replace 'by 0.0*e.00' 'by 1.0' < %t/zero.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FACTOR
// FACTOR: error: 'fa4.scale' op expected one factor for all of S, 0.000000e+00 as 'fa4.scale' has, but got 1.000000e+00{{$}}
// FACTOR: note: the other op is here
// RUN: %python %S/Inputs/edit.py softmax fa4.mask 6 replace 'fa4.mask %%[a-z0-9_]*.*columns.32. ' 'fa4.scale %%x_36 by 0.0 ' < %t/zero.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: 'fa4.scale' op expected S that nothing has multiplied yet in task 1, K/V block 2, but got scaled S of stage 0 and K/V block 2 of task 1{{$}}
// RUN: %python %S/Inputs/edit.py softmax fa4.mask 6 replace '%%x_36' '%%x_31' < %t/zero.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: 'fa4.row_max' op expected fragments of one tile, beside masked scaled S of stage 0 and K/V block 2 of task 1 in task 1, K/V block 2, but got masked S of stage 0 and K/V block 2 of task 1{{$}}
// RUN: sed '/fa4.mask .*%%j. columns/{s/%%x_34/%%x_30/;s/%%x_36/%%x_31/;s/%%x_38/%%x_32/;s/%%x_40/%%x_33/}' %t/zero.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: error: 'fa4.row_max' op expected S that 'fa4.scale' has multiplied, as elsewhere in task 1, K/V block 2, but got masked S of stage 0 and K/V block 2 of task 1{{$}}

// Behind the mask a factor of zero makes NaN of what is hidden; a positive one does no harm.
// RUN: fa4-opt %t/causal.mlir --fa4-schedule-attention | sed 's/^\( *\)\(%%x[_0-9]*\) = \(fa4.mask .*\) : \(.*\)/\1\2m = \3 : \4\n\1\2 = fa4.scale \2m by 0.0 : \4/' > %t/behind.mlir
// RUN: not fa4-opt %t/behind.mlir --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: error: 'fa4.scale' op expected a positive factor behind 'fa4.mask', or to lie in front of it, but got 0.000000e+00{{$}}
// BEHIND: note: the mask is here

// What the mask names is what it is given: stage, block and columns.
// RUN: fa4-opt %t/causal.mlir --fa4-schedule-attention -o %t/causal.s.mlir
// RUN: %python %S/Inputs/edit.py softmax fa4.mask 2 replace '%%stage' '%%c1' < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: 'fa4.mask' op expected the mask to name stage 0, as the S that it is given has in task 1, but got stage 1{{$}}
// RUN: %python %S/Inputs/edit.py softmax fa4.mask 6 replace '%%j' '%%first' < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=KVBLOCK
// KVBLOCK: error: 'fa4.mask' op expected the mask to name K/V block 2 of task 1, as the S that it is given has in task 1, K/V block 2, but got K/V block 1 of task 1{{$}}
// RUN: %python %S/Inputs/edit.py softmax fa4.mask 2 replace 'columns.32.' 'columns(64)' < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: error: 'fa4.mask' op expected the mask to name columns from 32, as the S that it is given has in task 1, but got columns from 64{{$}}
// RUN: %python %S/Inputs/edit.py softmax fa4.mask 6 replace '%%j. columns.32.' '%%first] columns(64)' < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: 'fa4.mask' op expected the mask to name K/V block 2 of task 1 and columns from 32, as the S that it is given has in task 1, K/V block 2, but got K/V block 1 of task 1 and columns from 64{{$}}

//--- scaled.mlir
!t = memref<1x1000x4x128xf16>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t)
  return
}
//--- causal.mlir
!t = memref<1x1000x4x128xf16>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) causal
  return
}
//--- zero.mlir
!t = memref<1x1000x4x128xf16>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) causal scale(0.0)
  return
}
