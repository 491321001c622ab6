// RUN: fa4-opt %s --fa4-bufferize | FileCheck %s
// RUN: fa4-opt %s --fa4-bufferize --fa4-bufferize | FileCheck %s
// RUN: fa4-opt %s --fa4-to-schedule -o %t.schedule.mlir
// RUN: fa4-opt %t.schedule.mlir --fa4-to-ptx | FileCheck %s --check-prefix=PTX
// RUN: fa4-compile %t.schedule.mlir --emit ptx -o %t
// RUN: FileCheck %s --check-prefix=ENTRY --input-file=%t/loop_attention.ptx

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is bufferized once is not touched again: a schedule of functions on tensors is
// lowered on, as any other.
// PTX: gpu.binary @loop_attention_module
// PTX: gpu.binary @top_attention_module
// ENTRY: .visible .entry loop_attention(

!t = tensor<1x64x8x128xf16>

// The result of one turn is the query of the next: a buffer of its own each time.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: tensor<1x64x8x128xf16>{{.*}} -> tensor<1x64x8x128xf16>
// CHECK: scf.for {{.*}} -> (memref<1x64x8x128xf16>)
// CHECK: %[[O:.*]] = memref.alloc()
// CHECK-NOT: copy
// CHECK: fa4.attention {{.*}} outs(%[[O]] : memref<1x64x8x128xf16>)
// CHECK: scf.yield %[[O]]
// CHECK: bufferization.to_tensor
func.func @loop(%q: !t, %k: !t, %o: !t, %turns: index) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %turns step %c1 iter_args(%x = %q) -> !t {
    %y = fa4.attention ins(%x, %k, %k : !t, !t, !t) outs(%o : !t) -> !t
    scf.yield %y : !t
  }
  return %r : !t
}

// CHECK-LABEL: func.func @top(
// CHECK: scf.if {{.*}} -> (memref<1x64x8x128xf16>)
// CHECK: fa4.attention {{.*}} causal
// CHECK: call @loop({{.*}}) : (tensor<1x64x8x128xf16>
func.func @top(%q: !t, %k: !t, %o: !t, %c: i1, %turns: index) -> !t {
  %r = scf.if %c -> !t {
    %x = fa4.attention ins(%q, %k, %k : !t, !t, !t) outs(%o : !t) causal -> !t
    scf.yield %x : !t
  } else {
    scf.yield %q : !t
  }
  %s = func.call @loop(%r, %k, %o, %turns) : (!t, !t, !t, index) -> !t
  return %s : !t
}

// No attention here: tensors stay.
// CHECK-LABEL: func.func @others(
// CHECK: tensor.insert
func.func @others(%x: f16, %t: tensor<8xf16>, %i: index) -> tensor<8xf16> {
  %r = tensor.insert %x into %t[%i] : tensor<8xf16>
  return %r : tensor<8xf16>
}
