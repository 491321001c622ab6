// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles that are read too early or given back too early.

// P5: O is staged without a fence, and with the fence behind the arrival.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction fa4.fence 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P5NONE
// FAULT_P5NONE: error: 'fa4.store' op race: @store reads "o_staging"[0] in task 1, but nothing orders it after the write by @correction: expected a 'fa4.fence async_shared' behind it
// FAULT_P5NONE: note: the write is here, in task 1

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction fa4.fence 1 down 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P5LATE
// FAULT_P5LATE: error: 'fa4.store' op race: @store reads "o_staging"[0] in task 1, but nothing orders it after the write by @correction: expected a 'fa4.fence async_shared' behind it
// FAULT_P5LATE: note: the write is here, in task 1

// P5: a path without the fence; the role that copies fences for those that write.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction fa4.fence 1 wrap \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P5PATH
// FAULT_P5PATH: error: 'fa4.fence' op incomplete: expected to lie outside of 'scf.if', which the proof does not model
// FAULT_P5PATH: note: the condition is here

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction fa4.fence 1 delete | %python %S/../Analysis/Inputs/edit.py store 'fa4.store ' 1 replace 'fa4.store ' 'fa4.fence async_shared\n fa4.store ' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P5OTHER
// FAULT_P5OTHER: error: 'fa4.store' op race: @store reads "o_staging"[0] in task 1, but nothing orders it after the write by @correction: expected a 'fa4.fence async_shared' behind it

// Legal: it is fenced twice.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction fa4.fence 1 duplicate \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P7: columns are handed back without a wait for the load: registers that nothing uses, and
// registers that were all used, which the hardware holds back for (a warning, no more).
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py softmax fa4.read_tile 1 duplicate | %python %S/../Analysis/Inputs/edit.py softmax fa4.read_tile 1 replace '%x' '%unused' | %python %S/../Analysis/Inputs/edit.py softmax 'fa4.tmem_wait load' 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P7A
// FAULT_P7A: error: 'fa4.write_tile' op race: @softmax (instance 0) writes

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py softmax 'fa4.tmem_wait load' 1 delete \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=FAULT_P7B
// FAULT_P7B: warning: 'fa4.row_max' op consumes registers in task 1 that no 'fa4.tmem_wait load' covers: the hardware holds it back until they are filled, but that does not promise that the columns may be overwritten
// FAULT_P7B: note: the read is here, in task 1

// P8: O is read without a wait for the last product, and with one for the last but one.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction 'fa4.wait .o_ready' 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P8NONE
// FAULT_P8NONE: error: 'fa4.read_tile' op expected columns 0 to 32 of "o"[0] to be written before @correction reads it in task 1, but nothing has written it
// FAULT_P8NONE: note: @mma writes it here: expected a barrier on which it arrives behind that and for which @correction waits before the read

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.arrive .o_ready' 1 up 2 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P8EARLY
// FAULT_P8EARLY: error: 'fa4.read_tile' op race: @correction reads columns 0 to 32 of "o"[0] in task 1, but nothing orders it after the write by @mma: expected an arrival by commit of @mma behind it, and a wait for that
// FAULT_P8EARLY: note: the write is here, in task 1

// P9: a slot is given back while a product that reads it is in flight.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.arrive .kv_empty' 1 up 3 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P9
// FAULT_P9: error: 'fa4.load' op race: @load writes "kv"[0] in task 1, K/V block 2, but nothing orders it after the read by @mma: expected an arrival by commit of @mma behind it, and a wait for that
// FAULT_P9: note: the read is here, in task 1

// Legal: V is given back behind a product that does not read it.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py mma 'fa4.arrive .kv_empty' 2 down 1 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P15: O is staged over what is still copied; it is copied before all of it is written.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction 'fa4.wait .o_empty' 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P15OVER
// FAULT_P15OVER: error: 'fa4.write_tile' op race: @correction writes columns 0 to 32 of "o_staging"[0] in task 2, but nothing orders it after the read by @store: expected a barrier on which @store arrives behind it and for which @correction waits before this
// FAULT_P15OVER: note: the read is here, in task 1

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction 'fa4.arrive .o_full' 1 up 2 | %python %S/../Analysis/Inputs/edit.py correction 'fa4.fence' 1 up 2 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P15EARLY
// FAULT_P15EARLY: error: 'fa4.store' op race: @store reads "o_staging"[0] in task 1, but nothing orders it after the write by @correction: expected a barrier on which @correction arrives behind it and for which @store waits before this
// FAULT_P15EARLY: note: the write is here, in task 1

// Legal: the staging buffer is waited for before O is.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py correction 'fa4.wait .o_ready' 1 down 1 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// LEGAL-NOT: {{.+}}

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x2x128xf16>,
                     %v: memref<1x1024x2x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x2x128xf16>, memref<1x1024x2x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
