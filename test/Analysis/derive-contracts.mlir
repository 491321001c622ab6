// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contracts derived from the tile ops of the reference schedules are those that
// were written by hand, or fewer; waits are late, arrivals early.

// RUN: fa4-opt %s --fa4-schedule-attention=stats-granularity=warpgroup -o %t.mlir
// RUN: fa4-opt %t.mlir --fa4-derive-contracts -o %t.derived.mlir
// RUN: FileCheck %s --input-file=%t.derived.mlir
// RUN: fa4-opt %t.derived.mlir --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// NONE-NOT: {{.+}}

// What the schedule had of waits and arrivals does not matter.
// RUN: sed -e '/fa4.arrive/d' -e '/fa4.wait /d' %t.mlir | fa4-opt --fa4-derive-contracts | diff %t.derived.mlir -
// RUN: fa4-opt %t.derived.mlir --fa4-derive-contracts | diff %t.derived.mlir -

// What an arrival needs before it is added.
// RUN: sed -e '/fa4.arrive/d' -e '/fa4.wait /d' -e '/tmem_wait store/d' -e '/fa4.store_wait/d' -e '/fa4.fence/d' %t.mlir | fa4-opt --fa4-derive-contracts | FileCheck %s --check-prefix=ADDED
// ADDED: fa4.write_tile {{.*}} columns(64)
// ADDED-NEXT: fa4.tmem_wait store
// ADDED-NEXT: fa4.arrive %s_o_full
// ADDED: fa4.write_tile {{.*}} %o_staging[%c0] columns(96)
// ADDED-NEXT: fa4.fence async_shared
// ADDED-NEXT: fa4.arrive %o_staging_full
// ADDED: fa4.store %o_staging[%c0]
// ADDED-NEXT: fa4.store_wait pending(0)
// ADDED-NEXT: fa4.arrive %o_staging_empty

// CHECK-COUNT-1: %q_full = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768)
// CHECK-NEXT: %kv_full = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768)
// CHECK-NEXT: %q_empty = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free
// CHECK-NEXT: %kv_empty = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free
// CHECK-NEXT: %o_staging_empty = fa4.barrier "o_staging_empty" slots(2) arrives(@store threads 32) initially_free
// CHECK-NEXT: %o_staging_full = fa4.barrier "o_staging_full" slots(2) arrives(@correction threads 128)
// CHECK-NEXT: %mail_factor_full = fa4.barrier "mail_factor_full" named slots(2) arrives(@softmax threads 128, @correction threads 128)
// CHECK-NEXT: %mail_factor_empty = fa4.barrier "mail_factor_empty" slots(2) arrives(@correction threads 128) initially_free
// CHECK-NEXT: %s_full = fa4.barrier "s_full" slots(2) arrives(@mma commit)
// CHECK-NEXT: %s_o_full = fa4.barrier "s_o_full" slots(2) arrives(@softmax threads 128, @correction threads 128)
// CHECK-NEXT: %s_full_2 = fa4.barrier "s_full_2" slots(2) arrives(@softmax threads 128)
// CHECK-NEXT: %o_full = fa4.barrier "o_full" slots(2) arrives(@mma commit)
// CHECK-NEXT: fa4.init_barriers

// CHECK: fa4.role @softmax
// CHECK: fa4.for_kv
// CHECK: fa4.wait %s_full[%stage]
// CHECK-NEXT: fa4.read_tile
// CHECK: fa4.row_max
// CHECK-NEXT: fa4.wait %mail_factor_empty[%stage]
// CHECK-NEXT: fa4.publish
// CHECK-NEXT: fa4.arrive %mail_factor_full[%stage]
// CHECK: fa4.write_tile {{.*}} columns(64)
// CHECK-NEXT: fa4.tmem_wait store
// CHECK-NEXT: fa4.arrive %s_o_full[%stage]
// CHECK: fa4.write_tile {{.*}} columns(96)
// CHECK-NEXT: fa4.tmem_wait store
// CHECK-NEXT: fa4.arrive %s_full_2[%stage]
// CHECK: fa4.role @mma
// CHECK: fa4.for_kv
// CHECK-NEXT: fa4.next
// CHECK-NEXT: fa4.wait %kv_full[%[[V:.*]]]
// CHECK-NEXT: fa4.wait %s_o_full[%c0]
// CHECK-NEXT: fa4.mma {{.*}} k(0 to 96)
// CHECK-NEXT: fa4.wait %s_full_2[%c0]
// CHECK-NEXT: fa4.mma {{.*}} k(96 to 128)
// CHECK: fa4.mma {{.*}} into %s[%c0]
// CHECK-NEXT: fa4.arrive %s_full[%c0]
// CHECK: fa4.mma {{.*}} k(96 to 128)
// CHECK-NEXT: fa4.arrive %kv_empty[%[[V]]]
// CHECK: fa4.yield
// CHECK-NEXT: }
// CHECK-NEXT: fa4.arrive %q_empty[%c0]
// CHECK-NEXT: fa4.arrive %q_empty[%c1]
// CHECK: fa4.arrive %o_full[%c0]
// The load role waits for the last commits.
// CHECK: fa4.role @load
// CHECK: fa4.for_kv
// CHECK: fa4.load %v
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: fa4.wait %q_empty[%c0]
// CHECK-NEXT: fa4.wait %q_empty[%c1]
// CHECK-COUNT-3: fa4.wait %kv_empty[%

// With a causal mask the mailbox needs no second barrier.
// RUN: sed 's/^ *outs.*/& causal/' %s | fa4-opt --fa4-schedule-attention --fa4-derive-contracts -o %t.causal.mlir
// RUN: FileCheck %s --check-prefix=CAUSAL --input-file=%t.causal.mlir
// RUN: fa4-opt %t.causal.mlir --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// CAUSAL-COUNT-11: fa4.barrier
// CAUSAL-NOT: fa4.barrier

// Other choices of the scheduler: P in one piece or four, other rings, mailboxes for
// the log-sum-exp, tiles that heads share.
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention --fa4-derive-contracts --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention="kv-stages=2 p-split=128" --fa4-derive-contracts --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention="epilogue=correction p-split=32 fragment-width=16 group-packing=off" --fa4-derive-contracts --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// RUN: fa4-opt %S/shipped-schedules.mlir --fa4-schedule-attention="epilogue=softmax fragment-width=64 p-split=64 epilogue-chunk=16" --fa4-derive-contracts --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE

// On Hopper two consumers give K and V back, each when its own products are done.
// RUN: fa4-opt %s --fa4-schedule-attention="chip=sm_90a contracts=derived" -o %t.hopper.mlir
// RUN: FileCheck %s --check-prefix=HOPPER --input-file=%t.hopper.mlir
// RUN: fa4-opt %t.hopper.mlir --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// HOPPER-DAG: fa4.barrier "k_k_empty" slots({{[0-9]+}}) arrives(@consumer_0 threads 128, @consumer_1 threads 128) initially_free
// HOPPER-DAG: fa4.barrier "v_v_empty" slots({{[0-9]+}}) arrives(@consumer_0 threads 128, @consumer_1 threads 128) initially_free
// HOPPER: fa4.warpgroup_wait
// HOPPER-NEXT: fa4.arrive %k_k_empty

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
