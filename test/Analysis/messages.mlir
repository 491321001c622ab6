// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What messages say beyond what is wrong: which columns, which part, what it is that
// does not come to an end.

// Two segments of P change places.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax fa4.write_tile 1 replace 'columns.0.' 'columns(32)' \
// RUN:   | %python %S/Inputs/edit.py softmax fa4.write_tile 2 replace 'columns.32.' 'columns(0)' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: error: 'fa4.mma' op expected P of the task at hand in columns 64 to 112 of "s"[0] alone, beside columns 32 to 64 of P of stage 0 and K/V block 1 of task 1 in task 1, but got columns 0 to 32 of P of stage 0 and K/V block 1 of task 1
// SWAPPED: note: what wrote it is here, in task 1

// P is read by an alias that begins elsewhere.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel fa4.alias 1 replace '%%p_tmem( = fa4.alias.*column.)64(.*)$' '\g<0>\n%%other\g<1>48\g<2>' \
// RUN:   | %python %S/Inputs/edit.py mma 'fa4.mma %%p_tmem' 1 replace '%%p_tmem(.*)k.0 to 96.' '%%other\g<1>k(32 to 128)' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=SHIFTED
// SHIFTED: error: 'fa4.mma' op expected P of the task at hand in columns 64 to 112 of "s"[0] at its columns in task 1, K/V block 2, but got columns 0 to 96 of P of stage 0 and K/V block 1 of task 1

// A fragment of S is given twice, and one is left out.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax fa4.row_max 1 replace 'row_max (%%[a-z0-9_]*), %%[a-z0-9_]*,' 'row_max \1, \1,' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'fa4.row_max' op expected each column of S once in task 1, but got columns 0 to 32 twice
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax fa4.row_max 1 replace 'row_max (%%[a-z0-9_]*), %%[a-z0-9_]*,' 'row_max \1,' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: 'fa4.row_max' op expected each column of S once in task 1, but got no columns 32 to 64
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax fa4.row_sum 1 replace ', %%[a-z0-9_]* :' ' :' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=LAST
// LAST: error: 'fa4.row_sum' op expected each column of P once in task 1, but got no columns 96 to 128

// Q times K over a part of the head dimension.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma transpose_b 1 replace transpose_b 'k(0 to 32) transpose_b' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=PART
// PART: error: 'fa4.read_tile' op expected a finished product in columns 0 to 32 of "s"[0] in task 1, but got a part of S of stage 0 and K/V block 1 of task 1

// The first block of a task is used in each turn behind it, so no two states are alike.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py load 'fa4.load %%k.*%%j' 1 replace '^.*%%k.*%%j.*$' '%%jj = arith.select %%true, %%j, %%first : index\n\g<0>' \
// RUN:   | %python %S/Inputs/edit.py load 'fa4.load %%k.*%%j' 1 replace '%%j]' '%%jj]' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=OLDEST
// OLDEST: error: 'fa4.kernel' op incomplete: expected the state of the handoffs to repeat, but found 4097 different ones, and no fault
// OLDEST: :[[#]]:[[#]]: note: a value that @load may yet read still holds K/V block 1 of task {{[0-9]+}} when {{[0-9]+}} more K/V blocks of the task have come

!t = memref<1x1024x8x128xf16>
func.func @f(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t)
  return
}
