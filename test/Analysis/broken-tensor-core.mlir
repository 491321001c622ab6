// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slips in the role that issues MMAs.
// Each edit is one that a person makes; the message says who, where and when, and what is
// missing.

// The first segment of P ends further right than what was announced.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma '0 to 96' 1 replace 'to 96' 'to 112' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=SEGMENT
// SEGMENT: error: 'fa4.mma' op race: @mma reads columns 64 to 120 of "s"[0] in task 1, K/V block 2, but nothing orders it after the write by @softmax (instance 0): expected a barrier on which @softmax (instance 0) arrives behind it and for which @mma waits before this
// SEGMENT: note: the write is here, in task 1

// S is overwritten by the next block before P, which lies over it, was multiplied.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma fa4.next 3 up 4 | %python %S/Inputs/edit.py mma 'fa4.wait .kv_full' 3 up 4 | %python %S/Inputs/edit.py mma 'into .s.*c0' 2 up 4 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=OVERWRITTEN
// OVERWRITTEN: error: 'fa4.mma' op race: @mma writes "s"[0] in task 1, K/V block 2, but nothing orders it after the read by @softmax (instance 0): expected a barrier on which @softmax (instance 0) arrives behind it and for which @mma waits before this
// OVERWRITTEN: note: the read is here, in task 1

// K is waited for behind the product that reads it.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.wait .kv_full' 3 down 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=KFULL
// KFULL: error: 'fa4.mma' op expected "kv"[2] to be written before @mma reads it in task 1, K/V block 2, but nothing has written it

// K is given back before the second query tile was multiplied by it.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.arrive .kv_empty' 1 up 4 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: 'fa4.load' op race: @load writes "kv"[0] in task 1, K/V block 2, but nothing orders it after the read by @mma: expected an arrival by commit of @mma behind it, and a wait for that
// EARLY: note: the read is here, in task 1

// Q is given back before the last block.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.arrive .q_empty' 1 up 22 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=QEMPTY
// QEMPTY: error: 'fa4.load' op race: @load writes "q"[0] in task 2, but nothing orders it after the read by @mma: expected an arrival by commit of @mma behind it, and a wait for that
// QEMPTY: note: the read is here, in task 1, K/V block 2

// Only one of the two tiles of O is announced.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.arrive .o_ready' 2 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=READY
// READY: error: 'fa4.wait' op deadlock: @correction waits in task 1 for phase 1 of barrier "o_ready"[1], which lacks the commit of @mma
// READY: note: @mma ends without it
// READY: note: @store waits in task 1 for phase 1 of barrier "o_full"[1], which lacks 128 threads of @correction
// READY: note: a phase of the barrier takes the commit of @mma

// The commit stands before the product.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.arrive .s_ready' 1 up 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=COMMIT
// COMMIT: error: 'fa4.read_tile' op race: @softmax (instance 0) reads columns 0 to 32 of "s"[0] in task 1, but nothing orders it after the write by @mma: expected an arrival by commit of @mma behind it, and a wait for that
// COMMIT: note: the write is here, in task 1

// S is announced twice.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.arrive .s_ready' 1 duplicate \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=DOUBLE
// DOUBLE: error: 'fa4.wait' op @softmax (instance 0) waits for phase 1 of barrier "s_ready"[0] in task 1, but phase 2 may complete before: the wait would miss its phase and block
// DOUBLE: note: the arrival that completes phase 2 is here, in task 1

// The first product adds to an O that nothing has written.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma fa4.for_kv 1 replace false true \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: error: 'fa4.mma' op expected "o"[0] to be written before @mma reads it in task 1, but nothing has written it

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>, %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
