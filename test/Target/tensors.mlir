// RUN: fa4-opt %s --fa4-to-schedule | FileCheck %s --check-prefix=SCHED
// RUN: fa4-opt %s --fa4-to-ptx | FileCheck %s --check-prefix=PTX

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// On tensors: the function keeps its signature, and what it gets and returns is
// tensors still.
// SCHED: fa4.kernel @f_attention(%q: memref<?x?x8x128xbf16>,
// SCHED-LABEL: func.func @f(
// SCHED-SAME: tensor<?x?x8x128xbf16>{{.*}}) -> tensor<?x?x8x128xbf16>
// SCHED-DAG: bufferization.to_buffer {{.*}} : tensor<?x?x8x128xbf16> to memref<?x?x8x128xbf16>
// SCHED: fa4.launch @f_attention(
// SCHED: bufferization.to_tensor
// SCHED: return {{.*}} : tensor<?x?x8x128xbf16>

// PTX: gpu.binary
// PTX-LABEL: func.func @f(
// PTX-SAME: -> tensor<?x?x8x128xbf16>
// PTX: gpu.launch_func
// PTX: return {{.*}} : tensor<?x?x8x128xbf16>
func.func @f(%q: tensor<?x?x8x128xbf16>, %k: tensor<?x?x2x128xbf16>, %v: tensor<?x?x2x128xbf16>,
             %o: tensor<?x?x8x128xbf16>) -> tensor<?x?x8x128xbf16> {
  %r = fa4.attention ins(%q, %k, %v : tensor<?x?x8x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>)
                     outs(%o : tensor<?x?x8x128xbf16>) causal -> tensor<?x?x8x128xbf16>
  return %r : tensor<?x?x8x128xbf16>
}

