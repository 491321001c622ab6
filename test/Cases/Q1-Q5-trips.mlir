// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every number of tasks and of K/V blocks, with every depth of the ring.

// Q4, Q5: one block and many, one task and many, two slots and three: all that can be reached is
// proved at once.
// RUN: fa4-opt %s --fa4-schedule-attention \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// RUN: fa4-opt %s --fa4-schedule-attention=kv-stages=2 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// Q1: a task without blocks leaves early and only arrives.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.arrive .o_ready' 1 wrap \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_Q1
// FAULT_Q1: error: 'fa4.arrive' op expected to lie outside of 'scf.if': a wait or arrival that some warps or roles skip unbalances the phases
// FAULT_Q1: note: the condition is here

// Q4: a role that takes the first block for one of the rest: wrong from the first trip on.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py softmax fa4.for_kv 1 replace 'in rest' 'in all' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_Q4
// FAULT_Q4: error: 'fa4.wait' op deadlock: 

// Q5: a slot that begins anew with each task: the cursor is moved back by naming the first slot.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.wait .kv_full' 1 replace '.slot' '%%c0' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_Q5
// FAULT_Q5: error: 'fa4.mma' op race: @mma reads "kv"[2] in task 2, but nothing orders it after the write by @load: expected a wait for the barrier that the copy signals
// FAULT_Q5: note: the write is here, in task 2

// LEGAL-NOT: {{.+}}

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x2x128xf16>,
                     %v: memref<1x1024x2x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x2x128xf16>, memref<1x1024x2x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
