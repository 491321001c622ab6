// RUN: fa4-opt %s --pass-pipeline='builtin.module(fa4-to-schedule,fa4.kernel(fa4-allocate-storage,fa4-materialize-phases),fa4-lower-to-nvvm)' | FileCheck %s --enable-var-scope

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host code of a fully dynamic attention: sizes, what may be skipped, checks
// (G3: head counts; L5: 16-byte strides; extents that must agree), tensor maps
// and the launch, with the sizes that the kernel needs as 32-bit integers.
// CHECK-LABEL: func.func @f(
// CHECK-DAG: %[[SQ:.*]] = memref.dim %arg0, %c1{{.*}} : memref<?x?x?x128xf16>
// CHECK-DAG: %[[SKV:.*]] = memref.dim %arg1, %c1{{.*}} : memref<?x?x?x128xf16>
// CHECK: %[[EMPTY:.*]] = scf.if
// CHECK: %[[WORK:.*]] = arith.xori %{{.*}}, %true
// CHECK: scf.if %[[WORK]] {
// CHECK: %[[VKEYS:.*]] = memref.dim %arg2, %c1{{.*}}
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[VKEYS]], %[[SKV]]
// CHECK: cf.assert %[[SAME]], "expected dimension 1 of 'v' to be Skv"
// CHECK: cf.assert %{{.*}}, "expected the number of query heads to be a multiple of the number of K/V heads, but got {Hq} and {Hkv}"
// CHECK: cf.assert %{{.*}}, "expected the batch stride of 'q' (dimension 0) to be a multiple of 16 bytes as TMA demands, but got {q.stride0 * 2} bytes"
// CHECK: cf.assert %{{.*}}, "expected at most 1073741824 tasks
// CHECK: %[[Q:.*]] = nvgpu.tma.create.descriptor %{{.*}} : memref<*xf16> -> <tensor = memref<1x1x128x1x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b
// CHECK: arith.select %{{.*}} : memref<?x?x?x?xf16
// CHECK: %[[K:.*]] = nvgpu.tma.create.descriptor
// CHECK: %[[V:.*]] = nvgpu.tma.create.descriptor
// CHECK: %[[O:.*]] = nvgpu.tma.create.descriptor
// CHECK: %[[LSE:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
// CHECK: gpu.launch_func @f_attention_module::@f_attention blocks in (%{{.*}}) threads in (%c512{{.*}}) dynamic_shared_memory_size %{{.*}} args(%[[Q]] : {{.*}}, %[[K]] : {{.*}}, %[[V]] : {{.*}}, %[[O]] : {{.*}}, %[[LSE]] : !llvm.ptr<1>,
func.func @f(%q: memref<?x?x?x128xf16>, %k: memref<?x?x?x128xf16>, %v: memref<?x?x?x128xf16>,
             %o: memref<?x?x?x128xf16>, %l: memref<?x?x?xf32>) {
  fa4.attention ins(%q, %k, %v : memref<?x?x?x128xf16>, memref<?x?x?x128xf16>, memref<?x?x?x128xf16>)
    outs(%o : memref<?x?x?x128xf16>) lse(%l : memref<?x?x?xf32>) causal
  return
}
