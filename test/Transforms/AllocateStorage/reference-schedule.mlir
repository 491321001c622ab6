// RUN: fa4-opt %S/../../IR/schedule.mlir --fa4-allocate-storage | FileCheck %s
// RUN: fa4-opt %S/../../IR/schedule.mlir --fa4-allocate-storage -o %t.once
// RUN: fa4-opt %t.once --fa4-allocate-storage | diff %t.once -

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The storage of the whole non-causal schedule. A second run changes nothing.

// CHECK: fa4.kernel @attention(
// CHECK-SAME: smem(231632)
// CHECK-DAG: fa4.alloc "q" at(0) : !fa4.ring<2 x 128x128xf16, smem>
// CHECK-DAG: fa4.alloc "kv" at(65536) : !fa4.ring<3 x 128x128xf16, smem>
// CHECK-DAG: fa4.alloc "o_staging" at(163840) : !fa4.ring<2 x 128x128xf16, smem>
// CHECK-DAG: fa4.alloc "mail_factor" at(229376) : !fa4.ring<2 x 128xf32, smem>
// CHECK-DAG: fa4.alloc "mail_reference" at(230400) : !fa4.ring<2 x 128xf32, smem>
// CHECK-DAG: fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
// CHECK-DAG: fa4.alloc "o" at(256) : !fa4.ring<2 x 128x128xf32, tmem>
// CHECK-DAG: fa4.barrier "q_full" slots(2) {{.*}} at(231424)
// CHECK-DAG: fa4.barrier "q_empty" slots(2) {{.*}} at(231440)
// CHECK-DAG: fa4.barrier "kv_full" slots(3) {{.*}} at(231456)
// CHECK-DAG: fa4.barrier "kv_empty" slots(3) {{.*}} at(231480)
// CHECK-DAG: fa4.barrier "s_ready" slots(2) {{.*}} at(231504)
// CHECK-DAG: fa4.barrier "stats" named slots(2) per_warp {{.*}} at(1)
// CHECK-DAG: fa4.barrier "o_empty" slots(2) {{.*}} at(231600)
// CHECK: fa4.tmem_acquire warp(12) columns(512) at(231616)
