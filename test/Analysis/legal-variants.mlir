// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edits that look like the slips of the neighbouring tests and are right.

// The mailbox is given back only when O was rescaled.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction 'fa4.arrive .stats_empty' 1 down 1 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// K is waited for before P, and the ring slot of K is taken with it.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.next' 3 up 2 | %python %S/Inputs/edit.py mma 'fa4.wait .kv_full' 3 up 2 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// The staging buffer is waited for before O is.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction 'fa4.wait .o_ready' 1 down 1 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// One arrival a warp speaks for its threads.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel '"p_o_rescale"' 1 replace '@softmax threads 128' '@softmax threads 4' \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// Both stores are waited for before either buffer is given back.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py store 'fa4.store_wait' 1 replace 1 0 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// A fence, a wait for tensor memory and one for stores too many do no harm.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py correction 'fa4.fence' 1 duplicate | %python %S/Inputs/edit.py softmax 'fa4.tmem_wait store' 1 duplicate | %python %S/Inputs/edit.py store 'fa4.store_wait' 1 duplicate \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// All rings and waits of the second stage alike: V is given back when both tiles of
// O have it, which the last product of the loop may precede.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py mma 'fa4.arrive .kv_empty' 2 down 1 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --allow-empty

// CHECK-NOT: {{.+}}

// Consumed registers are read, so the columns are free: worth a warning, no more.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py softmax 'fa4.tmem_wait load' 1 delete \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=CONSUMED
// CONSUMED: warning: 'fa4.row_max' op consumes registers in task 1 that no 'fa4.tmem_wait load' covers: the hardware holds it back until they are filled, but that does not promise that the columns may be overwritten
// CONSUMED: note: the read is here, in task 1
// CONSUMED-NOT: error

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>, %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
