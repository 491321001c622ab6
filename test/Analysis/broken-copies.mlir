// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slips in the roles that copy, and around the roles.
// Each edit is one that a person makes; the message says who, where and when, and what is
// missing.

// The source of a store is overwritten before its group was waited for.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py store 'fa4.store_wait pending.1' 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: 'fa4.write_tile' op race: @correction writes columns 0 to 32 of "o_staging"[0] in task 2, but nothing orders it after the read by @store: expected a 'fa4.store_wait' behind it
// GROUP: note: the read is here, in task 1

// The last store may still be reading when the block ends.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py store 'fa4.store_wait pending.0' 1 replace 0 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=PENDING
// PENDING: error: 'fa4.store' op that @store issues in task 1 may still read its source when the block ends: expected a 'fa4.store_wait pending(0)' behind it

// K and V change places in the ring that they share.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py load 'fa4.load .k' 2 replace 'k.(?=.b)' 'w[' | %python %S/Inputs/edit.py load 'fa4.load .v' 2 replace 'v.(?=.b)' 'k[' | %python %S/Inputs/edit.py load 'fa4.load .w' 1 replace 'w.(?=.b)' 'v[' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: error: 'fa4.mma' op expected K of the task at hand in "kv"[2] in task 1, K/V block 2, but got V of K/V block 2 of task 1
// SWAPPED: note: what wrote it is here, in task 1, K/V block 2

// The ring is one slot short of what the barriers say.
// RUN: fa4-opt %s --fa4-schedule-attention | sed 's/ring<3 x/ring<2 x/' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: error: 'fa4.wait' op deadlock: @load waits behind the last task for phase 2 of barrier "kv_empty"[0], which lacks the commit of @mma
// SLOT: note: @mma ends without it
// SLOT: note: a phase of the barrier takes the commit of @mma

// The load role ends before the last commit has arrived.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py load 'fa4.wait .kv_empty' 7 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=DRAIN
// DRAIN: error: 'fa4.arrive' op of @mma in task 1 may arrive on barrier "kv_empty"[1] when the block has ended: expected some role to wait for phase 1
// DRAIN: note: a phase of the barrier takes the commit of @mma

// Nobody gives the ring away in the beginning.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel '"kv_empty"' 1 replace ' initially_free' '' \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=FREE
// FREE: error: 'fa4.wait' op deadlock: @softmax (instance 0) waits in task 1 for phase 1 of barrier "s_ready"[0], which lacks the commit of @mma
// FREE: note: @softmax (instance 1) waits in task 1 for phase 1 of barrier "s_ready"[1], which lacks the commit of @mma
// FREE: note: @correction waits in task 1, K/V block 1 for phase 1 of barrier "stats"[0], which lacks 32 threads of @softmax
// FREE: note: @mma waits in task 1 for phase 1 of barrier "kv_full"[0], which lacks 32768 bytes of @load
// FREE: note: @load waits in task 1 for phase 1 of barrier "kv_empty"[0], which lacks the commit of @mma

// Tensor memory is released while a role may still read it.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel fa4.tmem_release 1 up 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=RELEASE
// RELEASE: error: 'fa4.tmem_release' op expected a 'fa4.cta_sync' between the roles and the release: a role may still use the tensor memory
// RELEASE: note: the last role is here

// The address of the tensor memory is read without a rendezvous.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel fa4.tmem_acquire 1 down 1 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=ACQUIRE
// ACQUIRE: error: 'fa4.tmem_acquire' op expected a 'fa4.cta_sync' behind it and before the roles, which use the tensor memory's address
// ACQUIRE: note: the first role is here

// Barriers are initialised without a rendezvous.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel fa4.init_barriers 1 down 2 \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=INIT
// INIT: error: 'fa4.init_barriers' op expected a 'fa4.cta_sync' behind it and before the roles, which use the barriers
// INIT: note: the first role is here

// Two warps initialise the barriers.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel fa4.init_barriers 1 duplicate \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: 'fa4.init_barriers' op expected barriers to be initialised once in a kernel
// AGAIN: note: the other is here

// Tensor memory is not released.
// RUN: fa4-opt %s --fa4-schedule-attention | %python %S/Inputs/edit.py kernel fa4.tmem_release 1 delete \
// RUN:   | not fa4-opt --fa4-verify-protocol 2>&1 | FileCheck %s --check-prefix=LEAK
// LEAK: error: 'fa4.tmem_acquire' op expected a 'fa4.tmem_release' behind the roles: tensor memory that is not released blocks the kernels that follow

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>, %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
