// RUN: fa4-opt %s --canonicalize --cse -split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The op reads through casts that hide static extents.
// CHECK-LABEL: func.func @memref_casts(
// CHECK-SAME: %[[Q:[^:]*]]: memref<1x17x2x64xf16>
// CHECK-NEXT: fa4.attention ins(%[[Q]], {{.*}} : memref<1x17x2x64xf16>, memref<?x?x?x64xf16>, memref<?x?x?x64xf16>) outs({{.*}} : memref<1x17x2x64xf16>)
func.func @memref_casts(%q: memref<1x17x2x64xf16>, %k: memref<?x?x?x64xf16>, %o: memref<1x17x2x64xf16>) {
  %qc = memref.cast %q : memref<1x17x2x64xf16> to memref<?x?x?x64xf16>
  %oc = memref.cast %o : memref<1x17x2x64xf16> to memref<1x?x?x64xf16>
  fa4.attention ins(%qc, %k, %k : memref<?x?x?x64xf16>, memref<?x?x?x64xf16>, memref<?x?x?x64xf16>)
                outs(%oc : memref<1x?x?x64xf16>)
  return
}

// -----

// A cast whose source the op refuses stays: head counts that do not divide (G3) are
// then for the check at run time.
// CHECK-LABEL: func.func @cast_hides_head_count(
// CHECK: %[[K:.*]] = memref.cast
// CHECK: fa4.attention ins(%{{.*}}, %[[K]], %[[K]] :
func.func @cast_hides_head_count(%q: memref<1x17x3x64xf16>, %k: memref<1x17x2x64xf16>, %o: memref<1x17x3x64xf16>) {
  %kc = memref.cast %k : memref<1x17x2x64xf16> to memref<1x17x?x64xf16>
  fa4.attention ins(%q, %kc, %kc : memref<1x17x3x64xf16>, memref<1x17x?x64xf16>, memref<1x17x?x64xf16>)
                outs(%o : memref<1x17x3x64xf16>)
  return
}

// -----

// L11: nor does folding make the destination an input.
// CHECK-LABEL: func.func @cast_hides_alias(
// CHECK: memref.cast
// CHECK: fa4.attention
func.func @cast_hides_alias(%q: memref<1x17x2x64xf16>) {
  %oc = memref.cast %q : memref<1x17x2x64xf16> to memref<?x?x?x64xf16>
  fa4.attention ins(%q, %q, %q : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%oc : memref<?x?x?x64xf16>)
  return
}

// -----

// CHECK-LABEL: func.func @tensor_casts(
// CHECK: fa4.attention {{.*}} outs(%{{.*}} : tensor<1x17x2x64xf16>) -> tensor<1x17x2x64xf16>
func.func @tensor_casts(%q: tensor<1x17x2x64xf16>, %o: tensor<1x17x2x64xf16>) -> tensor<1x17x2x64xf16> {
  %qc = tensor.cast %q : tensor<1x17x2x64xf16> to tensor<?x?x?x64xf16>
  %oc = tensor.cast %o : tensor<1x17x2x64xf16> to tensor<?x?x?x64xf16>
  %r = fa4.attention ins(%qc, %qc, %qc : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
                     outs(%oc : tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16>
  %rc = tensor.cast %r : tensor<?x?x?x64xf16> to tensor<1x17x2x64xf16>
  return %rc : tensor<1x17x2x64xf16>
}

// -----

// Nothing to write: no batch, no query, no query head.
// CHECK-LABEL: func.func @no_batch(
// CHECK-NEXT: return
func.func @no_batch(%q: memref<0x17x2x64xf16>, %o: memref<0x17x2x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<0x17x2x64xf16>, memref<0x17x2x64xf16>, memref<0x17x2x64xf16>)
                outs(%o : memref<0x17x2x64xf16>)
  return
}

// CHECK-LABEL: func.func @no_query(
// CHECK-SAME: %[[O:[^:]*]]: tensor<1x0x2x64xf16>)
// CHECK-NEXT: return %[[O]]
func.func @no_query(%q: tensor<1x0x2x64xf16>, %k: tensor<1x17x2x64xf16>, %o: tensor<1x0x2x64xf16>) -> tensor<1x0x2x64xf16> {
  %r = fa4.attention ins(%q, %k, %k : tensor<1x0x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                     outs(%o : tensor<1x0x2x64xf16>) -> tensor<1x0x2x64xf16>
  return %r : tensor<1x0x2x64xf16>
}

// CHECK-LABEL: func.func @no_query_head(
// CHECK-NEXT: return
func.func @no_query_head(%q: memref<1x17x0x64xf16>, %k: memref<1x17x2x64xf16>, %o: memref<1x17x0x64xf16>) {
  fa4.attention ins(%q, %k, %k : memref<1x17x0x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x0x64xf16>)
  return
}

// -----

// E3: without keys the output is still written.
// CHECK-LABEL: func.func @no_key(
// CHECK-NEXT: fa4.attention
func.func @no_key(%q: memref<2x4x2x64xf16>, %k: memref<2x0x2x64xf16>, %o: memref<2x4x2x64xf16>) {
  fa4.attention ins(%q, %k, %k : memref<2x4x2x64xf16>, memref<2x0x2x64xf16>, memref<2x0x2x64xf16>)
                outs(%o : memref<2x4x2x64xf16>)
  return
}

// -----

// The causal mask is aligned to the bottom right: one query sees every key.
// CHECK-LABEL: func.func @single_query(
// CHECK: fa4.attention {{.*}} outs(%{{.*}} : memref<1x1x2x64xf16>){{$}}
func.func @single_query(%q: memref<1x1x2x64xf16>, %k: memref<1x300x2x64xf16>, %o: memref<1x1x2x64xf16>) {
  fa4.attention ins(%q, %k, %k : memref<1x1x2x64xf16>, memref<1x300x2x64xf16>, memref<1x300x2x64xf16>)
                outs(%o : memref<1x1x2x64xf16>) causal
  return
}

// -----

// V4: on memrefs the op writes memory and is neither dead nor a duplicate of the
// other, for what lies between them may change an input.
// CHECK-LABEL: func.func @memory_effects(
// CHECK-COUNT-2: fa4.attention
func.func @memory_effects(%q: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  fa4.attention ins(%q, %q, %q : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// On tensors it has no effect: an unused one goes away, two equal ones are one.
// CHECK-LABEL: func.func @tensors_have_no_effect(
// CHECK-COUNT-1: fa4.attention
// CHECK-NOT: fa4.attention
func.func @tensors_have_no_effect(%q: tensor<1x17x2x64xf16>, %o: tensor<1x17x2x64xf16>) -> (tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>) {
  %unused = fa4.attention ins(%q, %q, %q : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                outs(%o : tensor<1x17x2x64xf16>) causal -> tensor<1x17x2x64xf16>
  %a = fa4.attention ins(%q, %q, %q : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                outs(%o : tensor<1x17x2x64xf16>) -> tensor<1x17x2x64xf16>
  %b = fa4.attention ins(%q, %q, %q : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                outs(%o : tensor<1x17x2x64xf16>) -> tensor<1x17x2x64xf16>
  return %a, %b : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>
}
