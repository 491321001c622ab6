// RUN: fa4-opt %s --fa4-to-ptx -split-input-file | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What else is in the module stays as it is: other GPU modules and their 64-bit
// indices, and shared buffers of rank 0 and size 0 (V2).

// CHECK: gpu.binary @attend_attention_module
// CHECK-LABEL: func.func @attend
// CHECK: gpu.launch_func @attend_attention_module::@attend_attention
// CHECK: gpu.module @other
// CHECK-NEXT: gpu.func @kernel
// CHECK-NEXT: arith.index_cast %{{.*}} : index to i64
// CHECK-LABEL: func.func @buffers
// CHECK-NEXT: memref.alloc() : memref<f16, 3>
// CHECK-NEXT: memref.alloc() : memref<0xf16, 3>
func.func @attend(%q: memref<2x100x8x64xf16>, %o: memref<2x100x8x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<2x100x8x64xf16>, memref<2x100x8x64xf16>, memref<2x100x8x64xf16>)
                outs(%o : memref<2x100x8x64xf16>)
  return
}
gpu.module @other {
  gpu.func @kernel(%i: index) -> i64 {
    %w = arith.index_cast %i : index to i64
    gpu.return %w : i64
  }
}
func.func @buffers() -> (memref<f16, 3>, memref<0xf16, 3>) {
  %a = memref.alloc() : memref<f16, 3>
  %b = memref.alloc() : memref<0xf16, 3>
  return %a, %b : memref<f16, 3>, memref<0xf16, 3>
}

// -----

// An empty module.
// CHECK: module {
// CHECK-NEXT: }

// -----

// Two attentions in one function: one kernel each where they differ, one for both
// where they do not.
// CHECK-COUNT-2: gpu.binary
// CHECK-NOT: gpu.binary
// CHECK-LABEL: func.func @two
// CHECK-COUNT-3: gpu.launch_func
// CHECK-NOT: gpu.launch_func
// CHECK: return
func.func @two(%q: memref<2x100x8x64xf16>, %o: memref<2x100x8x64xf16>, %p: memref<2x100x8x64xf16>) {
  fa4.attention ins(%q, %q, %q : memref<2x100x8x64xf16>, memref<2x100x8x64xf16>, memref<2x100x8x64xf16>)
                outs(%o : memref<2x100x8x64xf16>)
  fa4.attention ins(%o, %o, %o : memref<2x100x8x64xf16>, memref<2x100x8x64xf16>, memref<2x100x8x64xf16>)
                outs(%p : memref<2x100x8x64xf16>) causal
  fa4.attention ins(%p, %q, %q : memref<2x100x8x64xf16>, memref<2x100x8x64xf16>, memref<2x100x8x64xf16>)
                outs(%o : memref<2x100x8x64xf16>)
  return
}

// -----

// In a loop.
// CHECK: gpu.binary
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: gpu.launch_func
// CHECK: }
func.func @loop(%q: memref<2x100x8x64xf16>, %o: memref<2x100x8x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    fa4.attention ins(%q, %q, %q : memref<2x100x8x64xf16>, memref<2x100x8x64xf16>, memref<2x100x8x64xf16>)
                  outs(%o : memref<2x100x8x64xf16>)
  }
  return
}

// -----

// In a module inside the module.
// CHECK: module @inner
// CHECK: gpu.binary
// CHECK-LABEL: func.func @nested
// CHECK: gpu.launch_func
module {
  module @inner {
    func.func @nested(%q: memref<2x100x8x64xf16>, %o: memref<2x100x8x64xf16>) {
      fa4.attention ins(%q, %q, %q : memref<2x100x8x64xf16>, memref<2x100x8x64xf16>, memref<2x100x8x64xf16>)
                    outs(%o : memref<2x100x8x64xf16>)
      return
    }
  }
}
