// RUN: %mlir_opt %s --load-dialect-plugin=%fa4_plugin | FileCheck %s
// RUN: %mlir_opt %s --load-dialect-plugin=%fa4_plugin --load-pass-plugin=%fa4_plugin \
// RUN:   --pass-pipeline='builtin.module(one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},canonicalize)' \
// RUN:   | FileCheck %s --check-prefix=BUFFER
// RUN: %mlir_opt --load-pass-plugin=%fa4_plugin --list-passes | FileCheck %s --check-prefix=HELP

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A stock mlir-opt parses, prints and bufferizes fa4, and lists its passes.
// HELP-DAG: --fa4-schedule-attention
// CHECK: fa4.attention ins({{.*}}) outs({{.*}}) causal -> tensor<1x17x2x64xf16>
// BUFFER: fa4.attention ins({{.*}}) outs({{.*}} : memref<1x17x2x64xf16>) causal{{$}}
func.func @f(%q: tensor<1x17x2x64xf16>, %o: tensor<1x17x2x64xf16>) -> tensor<1x17x2x64xf16> {
  %r = fa4.attention ins(%q, %q, %q : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                     outs(%o : tensor<1x17x2x64xf16>) causal -> tensor<1x17x2x64xf16>
  return %r : tensor<1x17x2x64xf16>
}
