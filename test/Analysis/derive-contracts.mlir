// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contracts derived from the tile ops of the reference schedules are those that
// were written by hand, or fewer; waits are late, arrivals early.

// Without a mask, and for Hopper, they are the same, with the same waits and arrivals
// in places that differ by little.
// RUN: fa4-opt %S/Inputs/by-hand-full.mlir | sort > %t.hand
// RUN: fa4-opt %S/Inputs/by-hand-full.mlir --fa4-derive-contracts -o %t.mlir
// RUN: sort %t.mlir | diff %t.hand -
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fa4-opt %S/Inputs/by-hand-hopper.mlir | sort > %t.hand
// RUN: fa4-opt %S/Inputs/by-hand-hopper.mlir --fa4-derive-contracts -o %t.hopper.mlir
// RUN: sort %t.hopper.mlir | diff %t.hand -
// RUN: FileCheck %s --check-prefix=HOPPER --input-file=%t.hopper.mlir

// With a causal mask the mailbox needs no second barrier, as nobody sends two messages
// without a product in between. Nothing else differs.
// RUN: fa4-opt %S/Inputs/by-hand-causal.mlir | sed /stats_empty/d | sort > %t.hand
// RUN: fa4-opt %S/Inputs/by-hand-causal.mlir --fa4-derive-contracts -o %t.causal.mlir
// RUN: sort %t.causal.mlir | diff %t.hand -
// RUN: fa4-opt %S/Inputs/by-hand-causal.mlir --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: remark: 'fa4.barrier' op redundant: the other contracts order all that barrier "stats_empty" orders
// MORE-NOT: remark

// None of them can be left out.
// RUN: cat %t.mlir %t.causal.mlir %t.hopper.mlir | fa4-opt --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// NONE-NOT: {{.+}}

// What the schedule had of waits and arrivals does not matter.
// RUN: sed -e '/fa4.arrive/d' -e '/fa4.wait /d' %S/Inputs/by-hand-full.mlir | fa4-opt --fa4-derive-contracts | diff %t.mlir -
// RUN: fa4-opt %t.mlir --fa4-derive-contracts | diff %t.mlir -

// The scheduler builds tile ops and uses what is derived from them.
// RUN: fa4-opt %s --fa4-schedule-attention | sed '/^ *func.func/,/^  }/d' > %t.scheduled.mlir
// RUN: fa4-opt %t.scheduled.mlir --fa4-derive-contracts | diff %t.scheduled.mlir -

// What an arrival needs before it is added.
// RUN: sed -e '/fa4.arrive/d' -e '/fa4.wait /d' -e '/tmem_wait store/d' -e '/fa4.store_wait/d' -e '/fa4.fence/d' %t.mlir | fa4-opt --fa4-derive-contracts | FileCheck %s --check-prefix=ADDED
// ADDED: fa4.write_tile {{.*}} columns(64)
// ADDED-NEXT: fa4.tmem_wait store
// ADDED-NEXT: fa4.arrive %p_o_rescale
// ADDED: fa4.write_tile {{.*}} %o_staging[%c0] columns(96)
// ADDED-NEXT: fa4.fence async_shared
// ADDED-NEXT: fa4.arrive %o_full
// ADDED: fa4.store %o_staging[%c0]
// ADDED-NEXT: fa4.store_wait pending(0)
// ADDED-NEXT: fa4.arrive %o_empty

// CHECK-COUNT-1: %q_full = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768)
// CHECK-NEXT: %q_empty = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free
// CHECK-NEXT: %kv_full = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768)
// CHECK-NEXT: %kv_empty = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free
// CHECK-NEXT: %s_ready = fa4.barrier "s_ready" slots(2) arrives(@mma commit)
// CHECK-NEXT: %p_o_rescale = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128)
// CHECK-NEXT: %p_ready_2 = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128)
// CHECK-NEXT: %o_ready = fa4.barrier "o_ready" slots(2) arrives(@mma commit)
// CHECK-NEXT: %stats = fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128)
// CHECK-NEXT: %stats_empty = fa4.barrier "stats_empty" slots(2) arrives(@correction threads 128)
// CHECK-NEXT: %o_full = fa4.barrier "o_full" slots(2) arrives(@correction threads 128)
// CHECK-NEXT: %o_empty = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free
// CHECK-NEXT: fa4.init_barriers

// CHECK: fa4.role @softmax
// CHECK: fa4.for_kv
// CHECK: fa4.wait %s_ready[%stage]
// CHECK-NEXT: fa4.read_tile
// CHECK: fa4.row_max
// CHECK-NEXT: fa4.publish
// CHECK-NEXT: fa4.arrive %stats[%stage]
// CHECK: fa4.write_tile {{.*}} columns(64)
// CHECK-NEXT: fa4.tmem_wait store
// CHECK-NEXT: fa4.arrive %p_o_rescale[%stage]
// CHECK: fa4.write_tile {{.*}} columns(96)
// CHECK-NEXT: fa4.tmem_wait store
// CHECK-NEXT: fa4.arrive %p_ready_2[%stage]
// Where nobody waits for softmax any more.
// CHECK-NEXT: fa4.wait %stats_empty[%stage]
// CHECK-NEXT: fa4.row_sum
// CHECK: fa4.role @mma
// CHECK: fa4.for_kv
// CHECK-NEXT: fa4.next
// CHECK-NEXT: fa4.wait %kv_full[%[[V:.*]]]
// CHECK-NEXT: fa4.wait %p_o_rescale[%c0]
// CHECK-NEXT: fa4.mma {{.*}} k(0 to 96)
// CHECK-NEXT: fa4.wait %p_ready_2[%c0]
// CHECK-NEXT: fa4.mma {{.*}} k(96 to 128)
// CHECK: fa4.mma {{.*}} into %s[%c0]
// CHECK-NEXT: fa4.arrive %s_ready[%c0]
// CHECK: fa4.mma {{.*}} k(96 to 128)
// CHECK-NEXT: fa4.arrive %kv_empty[%[[V]]]
// Who has data to go on with hears first.
// CHECK: fa4.arrive %s_ready[%c1]
// CHECK-NEXT: fa4.arrive %kv_empty
// CHECK-NEXT: fa4.yield
// CHECK-NEXT: }
// CHECK-NEXT: fa4.arrive %q_empty[%c0]
// CHECK-NEXT: fa4.arrive %q_empty[%c1]
// CHECK: fa4.arrive %o_ready[%c0]
// The load role waits for the last commits.
// CHECK: fa4.role @load
// CHECK: fa4.for_kv
// CHECK: fa4.load %v
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: fa4.wait %q_empty[%c0]
// CHECK-NEXT: fa4.wait %q_empty[%c1]
// CHECK-COUNT-3: fa4.wait %kv_empty[%

// Other choices of the scheduler: P in one piece or four, other rings, mailboxes for
// the log-sum-exp, tiles that heads share. Rings with many slots, which some tasks do not
// go round.
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention="kv-stages=2 p-split=128" --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention="epilogue=correction p-split=32 fragment-width=16 group-packing=off" --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention="epilogue=softmax fragment-width=64 p-split=64 epilogue-chunk=16" --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: sed -e '1i module attributes {fa4.target = #fa4.target<sm_100a, smem = 1048576>} {' -e '$a }' %s | fa4-opt --fa4-schedule-attention=kv-stages=24 -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: fa4-opt %s --fa4-schedule-attention="chip=sm_90a tile-keys=16 kv-stages=8" --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE

// On Hopper the consumers give K and V back together, each with one arrival a warp when
// its own products are done. What one consumer has for itself has one slot, but for what
// another role gives to all.
// HOPPER: %q_full = fa4.barrier "q_full" slots(2) arrives(@load bytes 16384)
// HOPPER-NEXT: %q_empty_0 = fa4.barrier "q_empty_0" slots(1) arrives(@consumer_0 threads 4) initially_free
// HOPPER-NEXT: %q_empty_1 = fa4.barrier "q_empty_1" slots(1) arrives(@consumer_1 threads 4) initially_free
// HOPPER-NEXT: %k_full = fa4.barrier "k_full" slots(2) arrives(@load bytes 32768)
// HOPPER-NEXT: %k_empty = fa4.barrier "k_empty" slots(2) arrives(@consumer_0 threads 4, @consumer_1 threads 4) initially_free
// HOPPER-NEXT: %v_full = fa4.barrier "v_full" slots(2) arrives(@load bytes 32768)
// HOPPER-NEXT: %v_empty = fa4.barrier "v_empty" slots(2) arrives(@consumer_0 threads 4, @consumer_1 threads 4) initially_free
// HOPPER-NEXT: %o_full_0 = fa4.barrier "o_full_0" slots(1) arrives(@consumer_0 threads 4)
// HOPPER-NEXT: %o_full_1 = fa4.barrier "o_full_1" slots(1) arrives(@consumer_1 threads 4)
// HOPPER-NEXT: %o_empty = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free
// HOPPER-NEXT: fa4.init_barriers
// HOPPER: fa4.wait %q_empty_1[%c0]
// HOPPER-NEXT: fa4.load {{.*}} to %q_smem[%c1]
// HOPPER: fa4.warpgroup_wait
// HOPPER-NEXT: fa4.arrive %k_empty

// Names are those of the rings where these are not the field's: of what is loaded, and
// where several rings would go by one name.
// RUN: sed -e 's/"kv"/"blocks"/; s/"q"/"queries"/' %S/Inputs/by-hand-full.mlir | fa4-opt --fa4-derive-contracts | FileCheck %s --check-prefix=RINGS
// RINGS: fa4.barrier "queries_full"
// RINGS-NEXT: fa4.barrier "queries_empty"
// RINGS-NEXT: fa4.barrier "blocks_full"
// RINGS-NEXT: fa4.barrier "blocks_empty"
// RINGS-NEXT: fa4.barrier "s_ready"
// RUN: sed -e '/fa4.alloc "o_staging"/{h;s/o_staging/o_left/g;s/ring<2/ring<1/;p;g;s/o_staging/o_right/g;s/ring<2/ring<1/}' \
// RUN:   -e '/%%o_staging/{s/ring<2/ring<1/;s/%%o_staging\[%%c0\]/%%o_left[%%c0]/;s/%%o_staging\[%%c1\]/%%o_right[%%c0]/}' %S/Inputs/by-hand-hopper.mlir \
// RUN:   | fa4-opt --fa4-derive-contracts | FileCheck %s --check-prefix=STAGING
// STAGING: fa4.barrier "o_left_full" slots(1) arrives(@consumer_0 threads 4)
// STAGING-NEXT: fa4.barrier "o_left_empty" slots(1) arrives(@store threads 32) initially_free
// STAGING-NEXT: fa4.barrier "o_right_full" slots(1) arrives(@consumer_1 threads 4)
// STAGING-NEXT: fa4.barrier "o_right_empty" slots(1) arrives(@store threads 32) initially_free
// STAGING-NEXT: fa4.init_barriers

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
