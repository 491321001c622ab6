// RUN: fa4-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" -split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A destination that is a function argument is written in place, with all that the
// op carries.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[Q:.*]]: memref<1x17x2x64xf16>, %[[K:.*]]: memref<1x33x1x64xf16>, %[[V:.*]]: memref<1x33x1x64xf16>, %[[O:.*]]: memref<1x17x2x64xf16>, %[[L:.*]]: memref<1x2x17xf32>)
// CHECK-NOT: alloc
// CHECK-NOT: copy
// CHECK: fa4.attention ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) outs(%[[O]] : memref<1x17x2x64xf16>) lse(%[[L]] : memref<1x2x17xf32>) causal scale(5.000000e-01) {other.note}{{$}}
// CHECK: return %[[O]], %[[L]]
func.func @in_place(%q: tensor<1x17x2x64xf16>, %k: tensor<1x33x1x64xf16>,
                    %v: tensor<1x33x1x64xf16>, %o: tensor<1x17x2x64xf16> {bufferization.writable = true},
                    %l: tensor<1x2x17xf32>) -> (tensor<1x17x2x64xf16>, tensor<1x2x17xf32>) {
  %r:2 = fa4.attention ins(%q, %k, %v : tensor<1x17x2x64xf16>, tensor<1x33x1x64xf16>, tensor<1x33x1x64xf16>)
                       outs(%o : tensor<1x17x2x64xf16>) lse(%l : tensor<1x2x17xf32>)
                       causal scale(0.5) {other.note} -> tensor<1x17x2x64xf16>, tensor<1x2x17xf32>
  return %r#0, %r#1 : tensor<1x17x2x64xf16>, tensor<1x2x17xf32>
}

// -----

// tensor.empty becomes an allocation; nothing is copied into it.
// CHECK-LABEL: func.func @into_empty(
// CHECK: %[[O:.*]] = memref.alloc({{.*}}) {{.*}}: memref<?x17x2x64xbf16>
// CHECK-NOT: copy
// CHECK: fa4.attention {{.*}} outs(%[[O]] : memref<?x17x2x64xbf16>){{$}}
// CHECK: return %[[O]]
func.func @into_empty(%q: tensor<?x17x2x64xbf16>, %k: tensor<?x33x1x64xbf16>, %batch: index) -> tensor<?x17x2x64xbf16> {
  %o = tensor.empty(%batch) : tensor<?x17x2x64xbf16>
  %r = fa4.attention ins(%q, %k, %k : tensor<?x17x2x64xbf16>, tensor<?x33x1x64xbf16>, tensor<?x33x1x64xbf16>)
                     outs(%o : tensor<?x17x2x64xbf16>) -> tensor<?x17x2x64xbf16>
  return %r : tensor<?x17x2x64xbf16>
}

// -----

// L11: on tensors the destination may be an input. It gets a buffer of its own, and
// since the old value is not read there is no copy either.
// CHECK-LABEL: func.func @destination_is_input(
// CHECK-SAME: %[[Q:[^:]*]]: memref<1x17x2x64xf16>
// CHECK: %[[O:.*]] = memref.alloc()
// CHECK-NOT: memref.copy
// CHECK: fa4.attention ins(%[[Q]], {{.*}}) outs(%[[O]] : memref<1x17x2x64xf16>)
func.func @destination_is_input(%q: tensor<1x17x2x64xf16>) -> tensor<1x17x2x64xf16> {
  %r = fa4.attention ins(%q, %q, %q : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                     outs(%q : tensor<1x17x2x64xf16>) -> tensor<1x17x2x64xf16>
  return %r : tensor<1x17x2x64xf16>
}

// -----

// L3: slices of one fused tensor [B, S, 4 + 2 + 2, D] become views with offsets.
// CHECK-LABEL: func.func @fused(
// CHECK-NOT: copy
// CHECK: fa4.attention ins({{.*}} : memref<1x65x4x64xf16, strided<[33280, 512, 64, 1]>>, memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: 256>>, memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: 384>>)
func.func @fused(%qkv: tensor<1x65x8x64xf16>, %o: tensor<1x65x4x64xf16>) -> tensor<1x65x4x64xf16> {
  %q = tensor.extract_slice %qkv[0, 0, 0, 0] [1, 65, 4, 64] [1, 1, 1, 1] : tensor<1x65x8x64xf16> to tensor<1x65x4x64xf16>
  %k = tensor.extract_slice %qkv[0, 0, 4, 0] [1, 65, 2, 64] [1, 1, 1, 1] : tensor<1x65x8x64xf16> to tensor<1x65x2x64xf16>
  %v = tensor.extract_slice %qkv[0, 0, 6, 0] [1, 65, 2, 64] [1, 1, 1, 1] : tensor<1x65x8x64xf16> to tensor<1x65x2x64xf16>
  %r = fa4.attention ins(%q, %k, %v : tensor<1x65x4x64xf16>, tensor<1x65x2x64xf16>, tensor<1x65x2x64xf16>)
                     outs(%o : tensor<1x65x4x64xf16>) -> tensor<1x65x4x64xf16>
  return %r : tensor<1x65x4x64xf16>
}

// -----

// An op that is on memrefs already stays as it is.
// CHECK-LABEL: func.func @already_memrefs(
// CHECK-NEXT: fa4.attention
// CHECK-NEXT: return
func.func @already_memrefs(%q: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}
