// RUN: fa4-opt %s --fa4-to-nvvm --split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Z2: no grid dimension y or z, which end at 65535, takes heads, batches or query
// tiles: all tasks lie along x.

// 65536 heads: 148 blocks share the tasks out, or under a mask one block a task.
// CHECK-LABEL: func.func @heads
// CHECK: gpu.launch_func @heads_attention_module::@heads_attention blocks in (%c148{{.*}}, %c1{{.*}}, %c1{{.*}}) threads in
func.func @heads(%q: memref<1x1x65536x64xf16>, %o: memref<1x1x65536x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<1x1x65536x64xf16>, memref<1x1x65536x64xf16>, memref<1x1x65536x64xf16>)
                outs(%o : memref<1x1x65536x64xf16>)
  return
}

// -----

// CHECK-LABEL: func.func @heads_causal
// CHECK: gpu.launch_func @heads_causal_attention_module::@heads_causal_attention blocks in (%c65536{{.*}}, %c1{{.*}}, %c1{{.*}}) threads in
func.func @heads_causal(%q: memref<1x1x65536x64xf16>, %o: memref<1x1x65536x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<1x1x65536x64xf16>, memref<1x1x65536x64xf16>, memref<1x1x65536x64xf16>)
                outs(%o : memref<1x1x65536x64xf16>) causal
  return
}

// -----

// 65536 query tiles of 128 rows, two a task.
// CHECK-LABEL: func.func @long
// CHECK: gpu.launch_func @long_attention_module::@long_attention blocks in (%c32768{{.*}}, %c1{{.*}}, %c1{{.*}}) threads in
func.func @long(%q: memref<1x8388608x1x64xf16>, %o: memref<1x8388608x1x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<1x8388608x1x64xf16>, memref<1x8388608x1x64xf16>, memref<1x8388608x1x64xf16>)
                outs(%o : memref<1x8388608x1x64xf16>) causal
  return
}
