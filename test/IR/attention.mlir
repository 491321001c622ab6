// RUN: fa4-opt %s | FileCheck %s
// RUN: fa4-opt %s | fa4-opt | FileCheck %s
// RUN: fa4-opt %s --mlir-print-op-generic | fa4-opt | FileCheck %s
// RUN: fa4-opt %s --emit-bytecode | fa4-opt | FileCheck %s
// RUN: fa4-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every clause at once.
// CHECK-LABEL: @all_clauses(
// CHECK: fa4.attention ins({{.*}}) outs({{.*}}) lse({{.*}} : memref<1x32x1024xf32>) causal scale(1.250000e-01){{$}}
// GENERIC: "fa4.attention"({{.*}}) <{causal, scale = 1.250000e-01 : f32}> : (memref<1x1024x32x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x32x128xf16>, memref<1x32x1024xf32>) -> ()
func.func @all_clauses(%q: memref<1x1024x32x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x32x128xf16>, %l: memref<1x32x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x32x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x32x128xf16>) lse(%l : memref<1x32x1024xf32>) causal scale(0.125)
  return
}

// CHECK-LABEL: @minimal(
// CHECK: fa4.attention ins({{.*}}) outs({{.*}} : memref<1x1024x32x128xf16>){{$}}
func.func @minimal(%q: memref<1x1024x32x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x32x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x32x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x32x128xf16>)
  return
}

// Tensors return a result for each destination; bf16, dynamic extents.
// CHECK-LABEL: @tensors(
// CHECK: fa4.attention ins({{.*}}) outs({{.*}}) lse({{.*}} : tensor<?x32x?xf32>) causal -> tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>{{$}}
func.func @tensors(%q: tensor<?x?x32x64xbf16>, %k: tensor<?x?x32x64xbf16>, %v: tensor<?x?x32x64xbf16>, %o: tensor<?x?x32x64xbf16>, %l: tensor<?x32x?xf32>) {
  %r:2 = fa4.attention ins(%q, %k, %v : tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>, tensor<?x?x32x64xbf16>)
                outs(%o : tensor<?x?x32x64xbf16>) lse(%l : tensor<?x32x?xf32>) causal -> tensor<?x?x32x64xbf16>, tensor<?x32x?xf32>
  return
}

// CHECK-LABEL: @tensor_without_lse(
// CHECK: fa4.attention {{.*}} -> tensor<2x4x2x64xf16>{{$}}
func.func @tensor_without_lse(%q: tensor<2x4x2x64xf16>, %k: tensor<2x7x1x64xf16>, %v: tensor<2x7x1x64xf16>, %o: tensor<2x4x2x64xf16>) {
  %r = fa4.attention ins(%q, %k, %v : tensor<2x4x2x64xf16>, tensor<2x7x1x64xf16>, tensor<2x7x1x64xf16>)
                outs(%o : tensor<2x4x2x64xf16>) -> tensor<2x4x2x64xf16>
  return
}

// E3: no key is a legal shape, static or dynamic.
// CHECK-LABEL: @no_keys_static(
// CHECK: fa4.attention {{.*}}memref<2x0x2x64xf16>{{.*}} causal{{$}}
func.func @no_keys_static(%q: memref<2x4x2x64xf16>, %k: memref<2x0x2x64xf16>, %v: memref<2x0x2x64xf16>, %o: memref<2x4x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<2x4x2x64xf16>, memref<2x0x2x64xf16>, memref<2x0x2x64xf16>)
                outs(%o : memref<2x4x2x64xf16>) causal
  return
}

// E3
// CHECK-LABEL: @no_keys_dynamic(
// CHECK: fa4.attention {{.*}}memref<?x?x?x64xf16>
func.func @no_keys_dynamic(%q: memref<?x?x?x64xf16>, %k: memref<?x?x?x64xf16>, %v: memref<?x?x?x64xf16>, %o: memref<?x?x?x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<?x?x?x64xf16>, memref<?x?x?x64xf16>, memref<?x?x?x64xf16>)
                outs(%o : memref<?x?x?x64xf16>)
  return
}

// Nor need there be a batch, a query or a query head.
// CHECK-LABEL: @empty_batch(
// CHECK: fa4.attention {{.*}}memref<0x4x2x64xf16>
func.func @empty_batch(%q: memref<0x4x2x64xf16>, %k: memref<0x4x2x64xf16>, %v: memref<0x4x2x64xf16>, %o: memref<0x4x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<0x4x2x64xf16>, memref<0x4x2x64xf16>, memref<0x4x2x64xf16>)
                outs(%o : memref<0x4x2x64xf16>)
  return
}

// CHECK-LABEL: @empty_queries(
// CHECK: fa4.attention {{.*}}memref<2x0x2x64xf16>
func.func @empty_queries(%q: memref<2x0x2x64xf16>, %k: memref<2x4x2x64xf16>, %v: memref<2x4x2x64xf16>, %o: memref<2x0x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<2x0x2x64xf16>, memref<2x4x2x64xf16>, memref<2x4x2x64xf16>)
                outs(%o : memref<2x0x2x64xf16>)
  return
}

// CHECK-LABEL: @empty_heads(
// CHECK: fa4.attention {{.*}}memref<2x4x0x64xf16>
func.func @empty_heads(%q: memref<2x4x0x64xf16>, %k: memref<2x4x2x64xf16>, %v: memref<2x4x2x64xf16>, %o: memref<2x4x0x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<2x4x0x64xf16>, memref<2x4x2x64xf16>, memref<2x4x2x64xf16>)
                outs(%o : memref<2x4x0x64xf16>)
  return
}

// G1: any group size.
// CHECK-LABEL: @group_of_71(
// CHECK: fa4.attention {{.*}}memref<1x5x71x64xf16>
func.func @group_of_71(%q: memref<1x5x71x64xf16>, %k: memref<1x64x1x64xf16>, %v: memref<1x64x1x64xf16>, %o: memref<1x5x71x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x5x71x64xf16>, memref<1x64x1x64xf16>, memref<1x64x1x64xf16>)
                outs(%o : memref<1x5x71x64xf16>) causal
  return
}

// The head dimension of V and O is another one than that of Q and K.
// CHECK-LABEL: @value_dim_differs(
// CHECK: fa4.attention {{.*}}memref<1x64x2x128xf16>
func.func @value_dim_differs(%q: memref<1x5x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x128xf16>, %o: memref<1x5x2x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x5x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x128xf16>)
                outs(%o : memref<1x5x2x128xf16>)
  return
}

// L1: a [B, H, S, D] buffer, seen as [B, S, H, D].
// CHECK-LABEL: @bhsd_views(
// CHECK: fa4.attention {{.*}}strided<[16640, 64, 4160, 1]>
func.func @bhsd_views(%q: memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>, %k: memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1]>>, %v: memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1]>>, %o: memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>) {
  fa4.attention ins(%q, %k, %v : memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>, memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1]>>, memref<2x130x2x64xf16, strided<[16640, 64, 8320, 1]>>)
                outs(%o : memref<2x65x4x64xf16, strided<[16640, 64, 4160, 1]>>) causal
  return
}

// L3: Q, K and V are parts of one buffer [B, S, 4 + 2 + 2, D].
// CHECK-LABEL: @fused_qkv(
// CHECK: fa4.attention {{.*}}offset: 256>{{.*}}offset: 384>
func.func @fused_qkv(%q: memref<1x65x4x64xf16, strided<[33280, 512, 64, 1]>>, %k: memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: 256>>, %v: memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: 384>>, %o: memref<1x65x4x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x65x4x64xf16, strided<[33280, 512, 64, 1]>>, memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: 256>>, memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: 384>>)
                outs(%o : memref<1x65x4x64xf16>)
  return
}

// L3
// CHECK-LABEL: @fused_qkv_dynamic_offset(
// CHECK: fa4.attention {{.*}}offset: ?>
func.func @fused_qkv_dynamic_offset(%q: memref<1x65x4x64xf16, strided<[33280, 512, 64, 1], offset: ?>>, %k: memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: ?>>, %v: memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: ?>>, %o: memref<1x65x4x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x65x4x64xf16, strided<[33280, 512, 64, 1], offset: ?>>, memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: ?>>, memref<1x65x2x64xf16, strided<[33280, 512, 64, 1], offset: ?>>)
                outs(%o : memref<1x65x4x64xf16>)
  return
}

// CHECK-LABEL: @dynamic_strides(
// CHECK: fa4.attention {{.*}}strided<[?, ?, ?, 1], offset: ?>
func.func @dynamic_strides(%q: memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>, %k: memref<?x?x?x64xf16>, %v: memref<?x?x?x64xf16>, %o: memref<?x?x?x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>, memref<?x?x?x64xf16>, memref<?x?x?x64xf16>)
                outs(%o : memref<?x?x?x64xf16>)
  return
}

// L8: K and V expanded over the batch.
// CHECK-LABEL: @expanded_batch(
// CHECK: fa4.attention {{.*}}strided<[0, 128, 64, 1]>
func.func @expanded_batch(%q: memref<4x17x2x64xf16>, %k: memref<4x65x2x64xf16, strided<[0, 128, 64, 1]>>, %v: memref<4x65x2x64xf16, strided<[0, 128, 64, 1]>>, %o: memref<4x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<4x17x2x64xf16>, memref<4x65x2x64xf16, strided<[0, 128, 64, 1]>>, memref<4x65x2x64xf16, strided<[0, 128, 64, 1]>>)
                outs(%o : memref<4x17x2x64xf16>)
  return
}

// L8: Q expanded over heads.
// CHECK-LABEL: @expanded_heads(
// CHECK: fa4.attention {{.*}}strided<[1088, 64, 0, 1]>
func.func @expanded_heads(%q: memref<4x17x2x64xf16, strided<[1088, 64, 0, 1]>>, %k: memref<4x65x2x64xf16>, %v: memref<4x65x2x64xf16>, %o: memref<4x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<4x17x2x64xf16, strided<[1088, 64, 0, 1]>>, memref<4x65x2x64xf16>, memref<4x65x2x64xf16>)
                outs(%o : memref<4x17x2x64xf16>)
  return
}

// L5: a dimension of one element, or of none, has any stride.
// CHECK-LABEL: @odd_stride_of_extent_one(
// CHECK: fa4.attention {{.*}}strided<[65, 128, 64, 1]>
func.func @odd_stride_of_extent_one(%q: memref<1x17x2x64xf16, strided<[65, 128, 64, 1]>>, %k: memref<1x65x2x64xf16>, %v: memref<1x65x2x64xf16>, %o: memref<1x17x2x64xf16, strided<[0, 128, 64, 1]>>) {
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16, strided<[65, 128, 64, 1]>>, memref<1x65x2x64xf16>, memref<1x65x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16, strided<[0, 128, 64, 1]>>)
  return
}

// CHECK-LABEL: @global_memory_spaces(
// CHECK: fa4.attention {{.*}}#gpu.address_space<global>
func.func @global_memory_spaces(%q: memref<1x17x2x64xf16, 1>, %k: memref<1x65x2x64xf16, #gpu.address_space<global>>, %v: memref<1x65x2x64xf16, 0>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16, 1>, memref<1x65x2x64xf16, #gpu.address_space<global>>, memref<1x65x2x64xf16, 0>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// CHECK-LABEL: @scale_zero(
// CHECK: fa4.attention {{.*}} scale(0.000000e+00){{$}}
func.func @scale_zero(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) scale(0.0)
  return
}

// CHECK-LABEL: @scale_negative(
// CHECK: fa4.attention {{.*}} scale(-2.000000e+00){{$}}
func.func @scale_negative(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) scale(-2.0)
  return
}

// CHECK-LABEL: @scale_subnormal(
// CHECK: fa4.attention {{.*}} scale({{.*}}e-42){{$}}
func.func @scale_subnormal(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) scale(1.0e-42)
  return
}

// CHECK-LABEL: @scale_one(
// CHECK: fa4.attention {{.*}} scale(1.000000e+00){{$}}
func.func @scale_one(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) scale(1.0)
  return
}

// An attribute with a dialect prefix is carried along.
// CHECK-LABEL: @foreign_attribute(
// CHECK: fa4.attention {{.*}} {other.note = 5 : i64}{{$}}
func.func @foreign_attribute(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {other.note = 5 : i64}
  return
}
