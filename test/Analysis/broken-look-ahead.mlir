// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exponents go to the exponentials of their own block, and a sum begins with the first.

// RUN: fa4-opt %s --fa4-schedule-attention="chip=sm_90a look-ahead=on" -o %t.mlir
// RUN: fa4-opt %t.mlir --fa4-verify-protocol -o %t.proved.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
// NOTHING-NOT: {{.+}}

// RUN: %python %S/Inputs/edit.py consumer_0 fa4.exponents 2 replace 'minus %%[a-z_0-9]*' 'minus %%rows' < %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: error: 'fa4.exponents' op expected the reference that goes with S of stage 0 and K/V block 2 of task 1 in task 1, K/V block 2, but got the reference of stage 0 and K/V block 1 of task 1{{$}}
// RUN: %python %S/Inputs/edit.py consumer_0 fa4.exp2 1 replace 'fa4.exp2 .*' 'fa4.exp2 %%x : !fa4.fragment<64x128xf32, wgmma>' < %t.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=LOGITS
// LOGITS: error: 'fa4.exp2' op expected exponents of the task at hand in task 1, K/V block 2, but got S of stage 0 and K/V block 1 of task 1{{$}}
// RUN: %python %S/Inputs/edit.py consumer_0 fa4.row_sum 1 replace 'plus %%[a-z_0-9]*' 'plus %%zero' < %t.mlir | sed 's/^\( *\)fa4.role @consumer_0.*/&\n%%zero = fa4.fill 0.0 : !fa4.rows<64xf32, partial>/' | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: 'fa4.row_sum' op expected 'plus' the sum of the blocks before, or P of a task's first block

!t = memref<1x1024x4x128xf16>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t)
  return
}
