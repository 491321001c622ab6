// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tensor memory and barriers that are not there yet, or no longer.

// P1: tensor memory is released while a role still has its last read to do.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.cta_sync 2 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P1
// FAULT_P1: error: 'fa4.tmem_release' op expected a 'fa4.cta_sync' between the roles and the release: a role may still use the tensor memory
// FAULT_P1: note: it is acquired here
// FAULT_P1: note: @correction uses it here

// Legal: another warp releases it, behind the same rendezvous.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.tmem_release 1 replace 'warp.0.' 'warp(5)' \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P3: tensor memory is acquired behind the rendezvous that makes its address known.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.tmem_acquire 1 down 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P3
// FAULT_P3: error: 'fa4.tmem_acquire' op expected a 'fa4.cta_sync' behind it and before the roles, which use the tensor memory's address
// FAULT_P3: note: @softmax uses the tensor memory's address here

// Legal: it is acquired before the barriers are initialised.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.tmem_acquire 1 up 1 \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P4: barriers are initialised behind the rendezvous, without one, or by two warps.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.init_barriers 1 down 2 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P4LATE
// FAULT_P4LATE: error: 'fa4.init_barriers' op expected a 'fa4.cta_sync' behind it and before the roles, which use the barriers
// FAULT_P4LATE: note: @softmax uses the barriers here

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.cta_sync 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P4NONE
// FAULT_P4NONE: error: 'fa4.init_barriers' op expected a 'fa4.cta_sync' behind it and before the roles, which use the barriers
// FAULT_P4NONE: note: @softmax uses the barriers here

// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.init_barriers 1 duplicate \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P4TWO
// FAULT_P4TWO: error: 'fa4.init_barriers' op expected barriers to be initialised once in a kernel
// FAULT_P4TWO: note: the other is here

// Legal: one rendezvous more.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.cta_sync 1 duplicate \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// P24: a pair of blocks that would share the tensor memory. Rendezvous of a cluster are not
// modelled, and no attribute asks for what would be ignored.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.tmem_acquire 1 replace 'warp.12.' 'warp(12) {cta_group = 2 : i64}' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FAULT_P24
// FAULT_P24: error: 'fa4.tmem_acquire' op incomplete: attribute 'cta_group' is not one that the proof models

// Legal: an attribute of somebody else's dialect.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/../Analysis/Inputs/edit.py kernel fa4.tmem_acquire 1 replace 'warp.12.' 'warp(12) {mine.note = 2 : i64}' \
// RUN:   | fa4-opt --fa4-verify-protocol -o %t.mlir 2>&1 | FileCheck %s --check-prefix=LEGAL --allow-empty

// LEGAL-NOT: {{.+}}

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x2x128xf16>,
                     %v: memref<1x1024x2x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x2x128xf16>, memref<1x1024x2x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
