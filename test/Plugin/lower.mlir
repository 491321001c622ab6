// RUN: %mlir_opt %s --load-dialect-plugin=%fa4_plugin --load-pass-plugin=%fa4_plugin \
// RUN:   --pass-pipeline='builtin.module(fa4-to-schedule)' | FileCheck %s --check-prefix=SCHEDULE
// RUN: %mlir_opt %s --load-dialect-plugin=%fa4_plugin --load-pass-plugin=%fa4_plugin \
// RUN:   --pass-pipeline='builtin.module(fa4-schedule-attention{kv-stages=2},fa4.kernel(fa4-allocate-storage,fa4-materialize-phases),fa4-lower-to-nvvm)' \
// RUN:   | FileCheck %s --check-prefix=NVVM
// RUN: %mlir_opt %s --load-dialect-plugin=%fa4_plugin --load-pass-plugin=%fa4_plugin \
// RUN:   --pass-pipeline='builtin.module(fa4-to-ptx)' | FileCheck %s --check-prefix=PTX

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A stock mlir-opt lowers an attention with the plugin alone, from the op to PTX.
// SCHEDULE: fa4.kernel @f_attention(
// SCHEDULE: fa4.role @softmax(%stage) warps(0 to 8) regs(200) {
// NVVM: gpu.module @f_attention_module
// NVVM: nvvm.tcgen05.mma
// NVVM: gpu.launch_func{{ +}}@f_attention_module::@f_attention
// PTX: gpu.binary @f_attention_module
// PTX-SAME: tcgen05.mma.cta_group::1.kind::f16
func.func @f(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>, %v: memref<1x256x2x64xf16>,
             %o: memref<1x256x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x2x64xf16>, memref<1x256x2x64xf16>, memref<1x256x2x64xf16>)
    outs(%o : memref<1x256x2x64xf16>) causal
  return
}
