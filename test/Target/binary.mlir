// REQUIRES: ptxas
// RUN: fa4-opt %s --fa4-to-binary=ptxas=%ptxas | FileCheck %s
// RUN: fa4-opt %s --pass-pipeline="builtin.module(fa4-to-nvvm,fa4-kernels-to-binary{format=bin})" | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A cubin is an ELF file.
// CHECK: gpu.binary @{{.*}} {fa4.launch = #fa4.launch_descriptor
// CHECK-SAME: #gpu.object<#nvvm.target<{{.*}}>{{.*}}bin = "\7FELF
func.func @f(%q: memref<?x?x8x64xbf16>, %k: memref<?x?x8x64xbf16>, %o: memref<?x?x8x64xbf16>) {
  fa4.attention ins(%q, %k, %k : memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>, memref<?x?x8x64xbf16>)
                outs(%o : memref<?x?x8x64xbf16>)
  return
}
