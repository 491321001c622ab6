// RUN: fa4-opt %s --pass-pipeline='builtin.module(fa4-to-schedule,fa4.kernel(fa4-allocate-storage,fa4-materialize-phases),fa4-lower-to-nvvm)' | FileCheck %s --enable-var-scope

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// With static sizes nothing is left to check or to pass: four tensor maps.
// CHECK-LABEL: gpu.module @f_attention_module [#nvvm.target<{{.*}}chip = "sm_100a", features = "+ptx88">]
// CHECK: llvm.func @f_attention(%arg0: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME: fa4.launch = #fa4.launch_descriptor<
// CHECK-SAME: gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 512>, nvvm.minctasm = 1 : i32
// CHECK-LABEL: func.func @f(
// CHECK-NOT: cf.assert
// CHECK: gpu.launch_func @f_attention_module::@f_attention blocks in (%c32{{[^,]*}}, %c1{{[^,]*}}, %c1{{[^,)]*}})
// CHECK-SAME: threads in (%c512{{[^,]*}}, %c1{{[^,]*}}, %c1{{[^,)]*}}) dynamic_shared_memory_size %c230608_i32
// CHECK-SAME: args(%{{[0-9]+}} : !nvgpu.tensormap.descriptor<{{[^%]*}}>, %{{[0-9]+}} : !nvgpu.tensormap.descriptor<{{[^%]*}}>, %{{[0-9]+}} : !nvgpu.tensormap.descriptor<{{[^%]*}}>, %{{[0-9]+}} : !nvgpu.tensormap.descriptor<{{[^%]*}}>)
func.func @f(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>,
             %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
    outs(%o : memref<1x1024x8x128xf16>)
  return
}
