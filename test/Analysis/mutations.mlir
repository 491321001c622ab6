// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference schedules with one op that synchronises taken out, doubled, or
// given the other stage or count; docs/protocol.md says why the rest is no fault.

// RUN: fa4-opt %s --fa4-schedule-attention -o %t.full.mlir
// RUN: sed 's/^ *outs.*/& causal/' %s | fa4-opt --fa4-schedule-attention -o %t.causal.mlir
// RUN: %python %S/Inputs/mutate.py %t.full.mlir delete slot count | FileCheck %s
// RUN: %python %S/Inputs/mutate.py %t.causal.mlir delete slot count | FileCheck %s
// RUN: %python %S/Inputs/mutate.py %t.full.mlir duplicate | FileCheck %s --check-prefix=TWICE
// RUN: %python %S/Inputs/mutate.py %t.causal.mlir duplicate | FileCheck %s --check-prefix=TWICE

// To wait for both stores before either buffer is given back is longer, not wrong.
// CHECK-NOT: passes
// CHECK: passes count @store: fa4.store_wait pending(1)
// CHECK-NOT: passes
// CHECK: count fa4.barrier: refused all of {{[1-9]}}
// CHECK: delete fa4.arrive: refused all of {{[1-9]}}
// CHECK: delete fa4.fence: refused all of {{[1-9]}}
// CHECK: delete fa4.store_wait: refused all of {{[1-9]}}
// CHECK: delete fa4.tmem_wait load: warned all of {{[1-9]}}
// CHECK: delete fa4.tmem_wait store: refused all of {{[1-9]}}
// CHECK: delete fa4.wait: refused all of {{[1-9]}}
// CHECK: slot fa4.arrive: refused all of {{[1-9]}}
// CHECK: slot fa4.wait: refused all of {{[1-9]}}

// A fence, or a wait that counts no phase, is as good twice as once.
// TWICE-NOT: passes duplicate {{.*}}fa4.{{wait|arrive}}
// TWICE: duplicate fa4.arrive: refused all of {{[1-9]}}
// TWICE: duplicate fa4.fence: refused none of
// TWICE: duplicate fa4.wait: refused all of {{[1-9]}}

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
