// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Counts, conditions and waits in the wrong place.

// P11: one arrival is counted where 128 threads come.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel '"o_full"' 1 replace 'threads 128' 'threads 1' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P11ONE
// FAULT_P11ONE: error: 'fa4.arrive' op expected 128 arrivals, one a thread, or 4, one a warp, of @correction on barrier "o_full", but got 1
// FAULT_P11ONE: note: the barrier is here

// P11: a named barrier of 256 threads that 128 come to.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py softmax 'fa4.arrive .stats.' 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P11HALF
// FAULT_P11HALF: error: 'fa4.wait' op deadlock: 
// FAULT_P11HALF: @correction waits in task 1, K/V block 1 for phase 1 of barrier "stats"[0], which lacks 128 threads of @softmax

// Legal: one arrival a warp, and a count that says so.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel '"o_full"' 1 replace 'threads 128' 'threads 4' \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P13: part of a role on a named barrier; ids are checked where they are given.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel '"stats"' 1 replace '@softmax threads 128' '@softmax threads 96' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P13
// FAULT_P13: error: 'fa4.barrier' op expected 128 threads of @softmax on a named barrier, all of an instance, but got 96

// P14: an arrival and a wait on a named barrier under a condition.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py softmax 'fa4.arrive .stats.' 2 wrap \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P14A
// FAULT_P14A: error: 'fa4.arrive' op expected to lie outside of 'scf.if': a wait or arrival that some warps or roles skip unbalances the phases
// FAULT_P14A: note: the condition is here

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction 'fa4.wait .stats.' 1 wrap \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P14B
// FAULT_P14B: error: 'fa4.wait' op expected to lie outside of 'scf.if': a wait or arrival that some warps or roles skip unbalances the phases
// FAULT_P14B: note: the condition is here

// Legal: two roles come to one named barrier from different places of the text, as `stats` is
// meant: each side waits for the other anew.
// RUN: fa4-opt %s --fa4-schedule-attention \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P17: the first factor is read before anybody has written one.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction fa4.collect 1 up 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P17
// FAULT_P17: error: 'fa4.collect' op expected "mail_factor"[0] to be written before @correction reads it in task 1, K/V block 1, but nothing has written it
// FAULT_P17: note: @softmax writes it here: expected a barrier on which it arrives behind that and for which @correction waits before the read

// P18: K is waited for behind the product; V is not waited for.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.wait .kv_full' 1 down 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P18LATE
// FAULT_P18LATE: error: 'fa4.mma' op race: @mma reads "kv"[0] in task 1, but nothing orders it after the write by @load: expected a wait for the barrier that the copy signals
// FAULT_P18LATE: note: the write is here, in task 1

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.wait .kv_full' 2 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P18NONE
// FAULT_P18NONE: error: 'fa4.mma' op race: @mma reads "kv"[1] in task 1, K/V block 2, but nothing orders it after the write by @load: expected a wait for the barrier that the copy signals
// FAULT_P18NONE: note: the write is here, in task 1

// Legal: K is waited for before Q.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.wait .kv_full' 1 up 1 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P21: the mailbox is waited for before it is filled: each waits for the other.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py softmax 'fa4.wait .stats_empty' 2 up 18 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P21
// FAULT_P21: error: 'fa4.wait' op deadlock: @softmax (instance 0) waits in task 1, K/V block 2 for phase 2 of barrier "stats_empty"[0], which lacks 128 threads of @correction
// FAULT_P21: note: @correction waits in task 1, K/V block 2 for phase 2 of barrier "stats"[0], which lacks 128 threads of @softmax

// Legal: it is waited for as soon as the factor is announced.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py softmax 'fa4.wait .stats_empty' 2 up 15 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// LEGAL-NOT: {{.+}}

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x2x128xf16>,
                     %v: memref<1x1024x2x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x2x128xf16>, memref<1x1024x2x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
