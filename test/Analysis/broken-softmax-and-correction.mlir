// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slips in the roles that work on rows: what they hand over, and when.
// Each edit is one that a person makes; the message says who, where and when, and what is
// missing.

// The arrival is skipped when no row needs rescaling.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction 'fa4.arrive .p_o_rescale' 1 wrap \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=SKIPPED
// SKIPPED: error: 'fa4.arrive' op expected to lie outside of 'scf.if': a wait or arrival that some warps or roles skip unbalances the phases; make the data path conditional and keep it outside
// SKIPPED: note: the condition is here

// A message is overwritten before it was read.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax 'fa4.wait .stats_empty' 2 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=MAILBOX
// MAILBOX: error: 'fa4.publish' op race: @softmax (instance 0) writes "mail_factor"[0] in task 1, but nothing orders it after the read by @correction: expected a barrier on which @correction arrives behind it and for which @softmax (instance 0) waits before this
// MAILBOX: note: the read is here, in task 1, K/V block 2

// The same across tasks: the last message of one, the first of the next.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax 'fa4.wait .stats_empty' 3 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=TASKS
// TASKS: error: 'fa4.publish' op race: @softmax (instance 0) writes "mail_factor"[0] in task 2, but nothing orders it after the read by @correction: expected a barrier on which @correction arrives behind it and for which @softmax (instance 0) waits before this
// TASKS: note: the read is here, in task 1

// The first arrival for O is forgotten: the correction role leaves the first block out.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction fa4.for_kv 1 replace 'in all' 'in rest' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=CREDIT
// CREDIT: error: 'fa4.collect' op expected "mail_reference"[0] to be written before @correction reads it in task 1, but nothing has written it

// The message is announced before it is written.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax fa4.publish 2 down 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=PUBLISHED
// PUBLISHED: error: 'fa4.collect' op race: @correction reads "mail_factor"[0] in task 1, K/V block 2, but nothing orders it after the write by @softmax (instance 0): expected a barrier on which @softmax (instance 0) arrives behind it and for which @correction waits before this
// PUBLISHED: note: the write is here, in task 1, K/V block 2

// Two waits for one message.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction 'fa4.wait .stats' 1 duplicate \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'fa4.wait' op deadlock: @softmax (instance 0) waits in task 1 for phase 1 of barrier "stats_empty"[0], which lacks 128 threads of @correction
// TWICE: note: @softmax (instance 1) waits in task 1 for phase 1 of barrier "stats_empty"[1], which lacks 128 threads of @correction
// TWICE: note: @correction waits in task 1, K/V block 1 for phase 2 of barrier "stats"[0], which lacks 32 threads of @softmax
// TWICE: note: @mma waits in task 1 for phase 1 of barrier "p_o_rescale"[0], which lacks 128 threads of @correction
// TWICE: note: @load waits behind the last task for phase 1 of barrier "kv_empty"[1], which lacks the commit of @mma

// P is announced before its stores are done.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax 'fa4.tmem_wait store' 4 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=STORED
// STORED: error: 'fa4.mma' op race: @mma reads columns 112 to 128 of "s"[0] in task 1, but nothing orders it after the write by @softmax (instance 0): expected a 'fa4.tmem_wait store' behind it
// STORED: note: the write is here, in task 1, K/V block 2

// O is staged without a fence for the copy that stores it.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction fa4.fence 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FENCE
// FENCE: error: 'fa4.store' op race: @store reads "o_staging"[0] in task 1, but nothing orders it after the write by @correction: expected a 'fa4.fence async_shared' behind it
// FENCE: note: the write is here, in task 1

// The fence stands behind the arrival.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction fa4.fence 1 down 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: 'fa4.store' op race: @store reads "o_staging"[0] in task 1, but nothing orders it after the write by @correction: expected a 'fa4.fence async_shared' behind it
// LATE: note: the write is here, in task 1

// The barrier counts half of the threads that arrive.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel '"p_o_rescale"' 1 replace '@softmax threads 128' '@softmax threads 64' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: 'fa4.arrive' op expected 128 arrivals, one a thread, or 4, one a warp, of @softmax on barrier "p_o_rescale", but got 64
// THREADS: note: the barrier is here

// The softmax role peels the first block, and runs over all blocks as well.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax fa4.for_kv 1 replace 'in rest' 'in all' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: error: 'fa4.wait' op deadlock: @softmax (instance 0) waits in task 1, K/V block 1 for phase 2 of barrier "s_ready"[0], which lacks the commit of @mma
// BLOCKS: note: @mma ends without it
// BLOCKS: note: @softmax (instance 1) waits in task 1, K/V block 1 for phase 2 of barrier "s_ready"[1], which lacks the commit of @mma
// BLOCKS: note: @correction waits in task 1 for phase 2 of barrier "stats"[0], which lacks 32 threads of @softmax
// BLOCKS: note: @store waits in task 1 for phase 1 of barrier "o_full"[0], which lacks 128 threads of @correction

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>, %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
