// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels without blocks, tasks or roles; a deadlock has no picture.

// RUN: split-file %s %t
// RUN: fa4-opt %t/once.mlir --fa4-print-protocol -o %t/out.mlir | FileCheck %s --check-prefix=ONCE
// RUN: fa4-opt %t/once.mlir --fa4-print-protocol=format=svg -o %t/out.mlir > %t/once.svg
// RUN: %python %fa4_src/test/Docs/Inputs/check_picture.py %t/once.svg
// RUN: fa4-opt %t/tasks.mlir --fa4-print-protocol -o %t/out.mlir | FileCheck %s --check-prefix=TASKS
// RUN: fa4-opt %t/tasks.mlir --fa4-print-protocol=format=dot -o %t/out.mlir | FileCheck %s --check-prefix=DOT
// RUN: fa4-opt %t/empty.mlir --fa4-print-protocol=format=svg -o %t/out.mlir > %t/empty.svg
// RUN: %python %fa4_src/test/Docs/Inputs/check_picture.py %t/empty.svg
// RUN: fa4-opt %t/empty.mlir --fa4-print-protocol -o %t/out.mlir | FileCheck %s --check-prefix=EMPTY
// RUN: not fa4-opt %t/stuck.mlir --fa4-print-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=STUCK
// RUN: not fa4-opt %t/stuck.mlir --fa4-print-protocol=format=svg -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=STUCK

// ONCE: kernel @f: 1 contract with 1 slot
// ONCE: barrier "b": 1 slot
// ONCE-NEXT: {{^}}  phases    1{{$}}
// ONCE-NEXT: arrives @r 128 threads
// ONCE-NEXT: waits @other
// ONCE-NEXT: orders @r writes "mail" before @other reads it

// TASKS: phases 1 in a task
// TASKS: waits nobody
// DOT: [label="arrive b[0]", shape=cds];

// EMPTY: kernel @f: 0 contracts with 0 slots

// STUCK: error: 'fa4.wait' op deadlock: @other waits for phase 1 of barrier "b"[0], which lacks 128 threads of @r

//--- once.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %mail = fa4.alloc "mail" : !fa4.ring<1 x 128xf32, smem>
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
    %x = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
    fa4.publish %x to %mail[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
    fa4.arrive %b[%c0]
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.wait %b[%c0]
    %x = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
  }
}

//--- tasks.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 32)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 1) regs(48) {
    fa4.for_task (%n, %h, %m) {
      fa4.arrive %b[%c0]
    }
  }
  fa4.role @idle warps(1 to 4) regs(48) {
  }
}

//--- empty.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

//--- stuck.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %b = fa4.barrier "b" slots(1) arrives(@r threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @r warps(0 to 4) regs(48) {
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.wait %b[%c0]
  }
}
