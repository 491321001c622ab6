// RUN: fa4-opt %s --fa4-to-nvvm --split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operands in global memory by any of its names: a tensor map reads them through a
// view without one, as the K of an empty problem is read through Q.
// CHECK-LABEL: func.func @spaces
// CHECK: %[[Q:.*]] = memref.memory_space_cast %arg0 : memref<2x100x8x64xf16, 1> to memref<2x100x8x64xf16>
// CHECK: memref.extract_strided_metadata %[[Q]]
// CHECK: memref.memory_space_cast %arg1 : memref<2x?x8x64xf16, #gpu.address_space<global>> to memref<2x?x8x64xf16>
// CHECK: gpu.launch_func
func.func @spaces(%q: memref<2x100x8x64xf16, 1>, %k: memref<2x?x8x64xf16, #gpu.address_space<global>>, %o: memref<2x100x8x64xf16>) {
  fa4.attention ins(%q, %k, %k : memref<2x100x8x64xf16, 1>, memref<2x?x8x64xf16, #gpu.address_space<global>>, memref<2x?x8x64xf16, #gpu.address_space<global>>)
                outs(%o : memref<2x100x8x64xf16>)
  return
}
