// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block that may hold hidden keys has a mask, the rows of the task's M block, and all that is
// made of its S is made of what the mask left.

// RUN: split-file %s %t
// RUN: fa4-opt %t/causal.mlir --fa4-schedule-attention -o %t/causal.s.mlir
// RUN: fa4-opt %t/causal.mlir --fa4-schedule-attention="chip=sm_90a look-ahead=off" -o %t/hopper.s.mlir
// RUN: fa4-opt %t/causal.mlir --fa4-schedule-attention="chip=sm_90a look-ahead=on" -o %t/ahead.s.mlir
// RUN: fa4-opt %t/tail.mlir --fa4-schedule-attention -o %t/tail.s.mlir
// RUN: fa4-opt %t/dynamic.mlir --fa4-schedule-attention -o %t/dynamic.s.mlir
// RUN: fa4-opt %t/none.mlir --fa4-schedule-attention -o %t/none.s.mlir
// RUN: fa4-opt %t/whole.mlir --fa4-schedule-attention -o %t/whole.s.mlir
// RUN: fa4-opt %t/known.mlir --fa4-schedule-attention -o %t/known.s.mlir
// RUN: cat %t/*.s.mlir | sed 's/^}$/&\n\/\/ -----/' | fa4-opt --split-input-file --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
// NOTHING-NOT: {{.+}}

// The mask hides what the rows of another M block do not see.
// RUN: %python %S/Inputs/edit.py softmax fa4.mask 2 replace '%%m,' '%%h,' < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=MBLOCK
// RUN: %python %S/Inputs/edit.py consumer_1 fa4.mask 2 replace '%%m,' '%%h,' < %t/hopper.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=MBLOCK
// MBLOCK: error: 'fa4.mask' op incomplete: expected the M block of the task at hand as coordinate 0; the proof does not model another{{$}}

// A fragment of the first block, or of a masked one, without its mask: in the reference, in weights, in exponents.
// RUN: %python %S/Inputs/unmask.py softmax fa4.row_max 1 < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: error: 'fa4.row_max' op expected 'fa4.mask' behind columns 0 to 32 of S, which may hold hidden keys, as the first block that a task visits has in a kernel with a causal mask in task 1, but got S of stage 0 and K/V block 1 of task 1{{$}}
// RUN: %python %S/Inputs/unmask.py softmax fa4.exp2 6 < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=EXP2
// EXP2: error: 'fa4.exp2' op expected 'fa4.mask' behind columns 32 to 64 of S, which may hold hidden keys, as a turn of 'rest_masked' has in task 1, K/V block 2, but got S of stage 0 and K/V block 2 of task 1{{$}}
// RUN: %python %S/Inputs/unmask.py consumer_1 fa4.exp2 2 < %t/hopper.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=HOPPER
// HOPPER: error: 'fa4.exp2' op expected 'fa4.mask' behind columns 0 to {{[0-9]+}} of S, which may hold hidden keys, as a turn of 'rest_masked' has in task 1, K/V block 2, but got S of stage 1 and K/V block 2 of task 1{{$}}
// RUN: %python %S/Inputs/unmask.py consumer_0 fa4.exponents 1 < %t/ahead.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=AHEAD
// AHEAD: error: 'fa4.exponents' op expected 'fa4.mask' behind columns 0 to {{[0-9]+}} of S, which may hold hidden keys, as the first block that a task visits has in a kernel with a causal mask in task 1, but got S of stage 0 and K/V block 1 of task 1{{$}}

// The mask is gone: of the diagonal, and of keys that do not fill a block, or may not.
// RUN: %python %S/Inputs/unmask.py softmax fa4.mask 8 < %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: error: 'fa4.row_max' op expected 'fa4.mask' behind columns 96 to 128 of S, which may hold hidden keys, as a turn of 'rest_masked' has in task 1, K/V block 2, but got S of stage 0 and K/V block 2 of task 1{{$}}
// RUN: %python %S/Inputs/unmask.py softmax fa4.mask 4 < %t/tail.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=TAIL
// TAIL: error: 'fa4.row_max' op expected 'fa4.mask' behind columns 96 to 128 of S, which may hold hidden keys, as the first block that a task visits has in a kernel whose keys are no multiple of the block's in task 1, but got S of stage 0 and K/V block 1 of task 1{{$}}
// RUN: %python %S/Inputs/unmask.py softmax fa4.mask 1 < %t/dynamic.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: error: 'fa4.row_max' op {{.*}}columns 0 to 32 of S{{.*}}as the first block that a task visits has in a kernel with a dynamic number of keys in task 1
// RUN: %python %S/Inputs/unmask.py softmax fa4.mask 1 < %t/none.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'fa4.row_max' op {{.*}}columns 0 to 32 of S{{.*}}as the first block that a task visits has in a kernel without keys in task 1

// A kernel whose loop has no masks is made causal; so is one of which every block is whole.
// RUN: sed 's/ smem(/ causal smem(/;s/^\(  fa4.kernel .*scheduler([a-z_]*)\)/\1 causal/' %t/tail.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=CAUSAL
// CAUSAL: error: 'fa4.row_max' op expected 'fa4.mask' behind columns 0 to 32 of S, which may hold hidden keys, as a turn of 'rest' has in a causal kernel in task 1, K/V block 2, but got S of stage 0 and K/V block 2 of task 1{{$}}
// RUN: sed 's/^\(  fa4.kernel .*scheduler([a-z_]*)\)/\1 causal/' %t/whole.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: 'fa4.row_max' op expected 'fa4.mask' behind columns 0 to 32 of S, which may hold hidden keys, as the first block that a task visits has in a kernel with a causal mask in task 1, but

// The loops over masked and unmasked blocks have changed places.
// RUN: sed 's/in rest_masked(/in rest_later(/;s/in rest_unmasked(/in rest_masked(/;s/in rest_later(/in rest_unmasked(/' %t/causal.s.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=LOOPS
// LOOPS: error: 'fa4.for_kv' op incomplete: expected a role to go over the K/V blocks of a task once

// Legal: a causal kernel goes over masked and unmasked blocks in one loop, whose turns all have masks; without the masks it is no better than above.
// RUN: sed '/in rest_unmasked(/,/^        }/d;s/in rest_masked(/in rest(/;s/%%last_[0-9]*#/%%last#/' %t/causal.s.mlir > %t/one.mlir
// RUN: fa4-opt --fa4-verify-protocol %t/one.mlir -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
// RUN: %python %S/Inputs/unmask.py softmax fa4.row_max 2 < %t/one.mlir | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=CAUSAL

// Legal: masks in blocks that need none, for all of their ops or for some; they hide nothing.
// RUN: %python %S/Inputs/edit.py kernel scheduler 1 replace ' causal ' ' ' < %t/causal.s.mlir | fa4-opt --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty
// RUN: %python %S/Inputs/edit.py softmax fa4.row_max 1 replace '^( *)(.*row_max )%%x,(.*: )(.*)' '\1%%y = fa4.mask %%x[%%m, %%stage, %%first] columns(0) : \4\n\1\2%%y,\3\4' < %t/whole.s.mlir > %t/some.mlir
// RUN: fa4-opt --fa4-verify-protocol %t/some.mlir -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING --allow-empty

//--- causal.mlir
!t = memref<1x1000x4x128xf16>
func.func @causal(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t) causal
  return
}

//--- tail.mlir
!t = memref<1x1000x4x128xf16>
func.func @tail(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t)
  return
}

//--- dynamic.mlir
!q = memref<1x1024x4x128xf16>
!kv = memref<1x?x4x128xf16>
func.func @dynamic(%q: !q, %k: !kv, %v: !kv, %o: !q) {
  fa4.attention ins(%q, %k, %v : !q, !kv, !kv) outs(%o : !q)
  return
}

//--- none.mlir
!q = memref<1x1024x4x128xf16>
!kv = memref<1x0x4x128xf16>
func.func @none(%q: !q, %k: !kv, %v: !kv, %o: !q) {
  fa4.attention ins(%q, %k, %v : !q, !kv, !kv) outs(%o : !q)
  return
}

//--- whole.mlir
!t = memref<1x1024x4x128xf16>
func.func @whole(%q: !t, %k: !t, %v: !t, %o: !t) {
  fa4.attention ins(%q, %k, %v : !t, !t, !t) outs(%o : !t)
  return
}

// One tensor says how many keys there are.
//--- known.mlir
!q = memref<1x1024x4x128xf16>
!k = memref<1x?x4x128xf16>
!v = memref<1x1024x4x128xf16>
func.func @known(%q: !q, %k: !k, %v: !v, %o: !q) {
  fa4.attention ins(%q, %k, %v : !q, !k, !v) outs(%o : !q)
  return
}
