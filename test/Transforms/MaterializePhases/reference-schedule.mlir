// RUN: fa4-opt %S/../../IR/schedule.mlir --fa4-materialize-phases -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: fa4-opt %t.once --fa4-materialize-phases | diff %t.once -
// RUN: fa4-opt %S/../../IR/schedule.mlir --fa4-allocate-storage --fa4-materialize-phases -o %t.allocated
// RUN: fa4-opt %t.once --fa4-allocate-storage | diff %t.allocated -

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The whole non-causal schedule, before or after storage is allocated: a role
// carries one cursor and a bit for each rhythm of its waits. Waits on the named
// barrier stay as they are. A second run changes nothing.

// CHECK-NOT: fa4.next
// softmax: s_ready comes with every block, stats_empty once more.
// CHECK-LABEL: fa4.role @softmax(%stage)
// CHECK: fa4.for_task {{.*}} -> (i32, i32) {
// CHECK: fa4.wait %s_ready[%stage] parity(
// CHECK: fa4.for_kv {{.*}} -> (!fa4.rows<128xf32>, !fa4.rows<128xf32>, i32, i32) {
// CHECK: fa4.wait %s_ready[%stage] parity(
// CHECK: fa4.wait %stats_empty[%stage] parity(
// correction: what it waits for once a task.
// CHECK-LABEL: fa4.role @correction
// CHECK: fa4.for_task {{.*}} -> (i32) {
// CHECK: fa4.for_kv %j in all(%m) {
// CHECK: fa4.wait %stats[%c0]{{$}}
// CHECK: fa4.wait %o_ready[%c0] parity(
// CHECK: fa4.wait %o_empty[%c0] parity(
// mma: the cursor, Q, and P.
// CHECK-LABEL: fa4.role @mma
// CHECK: fa4.for_task {{.*}} -> (index, i32, i32, i32) {
// CHECK: fa4.for_kv {{.*}} -> (i1, index, i32, i32) {
// CHECK: fa4.wait %p_o_rescale[%c0] parity([[P:%[a-z0-9_]+]])
// CHECK: fa4.wait %p_ready_2[%c0] parity([[P]])
// CHECK: fa4.wait %p_o_rescale[%c1] parity([[P]])
// CHECK: fa4.wait %p_ready_2[%c1] parity([[P]])
// load: the cursor and Q.
// CHECK-LABEL: fa4.role @load
// CHECK: fa4.for_task {{.*}} -> (i32, index, i32) {
// CHECK: fa4.for_kv {{.*}} -> (index, i32) {
// CHECK-LABEL: fa4.role @store
// CHECK: fa4.for_task {{.*}} -> (i32) {
// CHECK-LABEL: fa4.role @idle
// CHECK-NOT: fa4.next
