// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nothing needs is left out when the schedule is lowered, so that it consumes no
// registers: a read of tensor memory without a wait is then one that nobody waits for.

// RUN: fa4-opt %s --fa4-schedule-attention -o %t.mlir
// RUN: sed -e '0,/= fa4.row_max/{/= fa4.row_max/r %S/Inputs/dead-use.txt' -e '}' %t.mlir | not fa4-opt --fa4-verify-protocol -o %t.out.mlir 2>&1 | FileCheck %s
// CHECK: error: 'fa4.read_tile' op of @softmax (instance 0) in task 1 may still read when the tensor memory is released: expected a 'fa4.tmem_wait load' behind it

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
