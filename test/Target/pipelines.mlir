// RUN: fa4-opt %s --fa4-to-schedule=chip=sm_100a | FileCheck %s --check-prefixes=SCHED,HOST
// RUN: fa4-opt %s --fa4-to-nvvm=chip=sm_100a | FileCheck %s --check-prefixes=NVVM
// RUN: fa4-opt %s --fa4-to-ptx=chip=sm_100a | FileCheck %s --check-prefixes=PTX
// RUN: fa4-opt %s --pass-pipeline="builtin.module(fa4-to-ptx{chip=sm_100a kv-stages=2 ptx-version=90})" | FileCheck %s --check-prefix=OPTIONS
// RUN: fa4-opt %s --pass-pipeline="builtin.module(fa4-to-schedule{chip=sm_100a},fa4-to-nvvm,fa4-to-ptx)" | FileCheck %s --check-prefixes=PTX

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every level of one attention, with options for the schedule and for the end, and
// the pipelines one after the other: each takes what the one before left.

// SCHED: fa4.kernel @f_attention(
// SCHED: fa4.role @softmax
// HOST-LABEL: func.func @f(
// HOST-SAME: memref<1x1024x8x128xf16>
// HOST: fa4.launch @{{.*}}(

// NVVM: gpu.module @[[$MODULE:.*]] [#nvvm.target<{{.*}}chip = "sm_100a"
// NVVM: llvm.func @f_attention({{.*}}fa4.launch = #fa4.launch_descriptor
// NVVM: nvvm.setmaxregister {{ *}}increase 200
// NVVM-NOT: {{^ *(%[^ ]* = )?(scf|arith|vector|fa4)\.}}
// NVVM-LABEL: func.func @f(
// NVVM: nvgpu.tma.create.descriptor
// NVVM: gpu.launch_func @[[$MODULE]]::@{{.*}} blocks in

// PTX: gpu.binary @[[$MODULE:[^ ]*]] {fa4.launch = #fa4.launch_descriptor
// PTX-SAME: #gpu.object<#nvvm.target<{{.*}}>{{.*}}assembly = "
// PTX-SAME: .version 8.8\0A.target sm_100a
// PTX-SAME: .visible .entry
// PTX-SAME: .maxntid 512
// PTX-SAME: .minnctapersm 1
// PTX-SAME: setmaxnreg.inc.sync.aligned.u32
// PTX-SAME: tcgen05.mma
// PTX-LABEL: func.func @f(
// PTX: gpu.launch_func @[[$MODULE]]::@{{.*}} blocks in

// OPTIONS: gpu.binary
// OPTIONS-SAME: .version 9.0\0A.target sm_100a
func.func @f(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x2x128xf16>,
             %v: memref<1x1024x2x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x2x128xf16>, memref<1x1024x2x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
