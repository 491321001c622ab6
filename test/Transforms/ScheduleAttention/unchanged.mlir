// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module without attention stays as it is, unrelated buffers and kernels that are
// already there included.

// RUN: fa4-opt -split-input-file %s -o %t.before
// RUN: fa4-opt -split-input-file --fa4-schedule-attention %s -o %t.after
// RUN: diff %t.before %t.after
// RUN: fa4-opt -split-input-file --fa4-schedule-attention --fa4-schedule-attention %s -o %t.twice
// RUN: diff %t.before %t.twice

module {
}

// -----

func.func @unrelated() {
  %a = memref.alloc() : memref<f16, 3>
  %b = memref.alloc() : memref<0xf16, 3>
  return
}

// -----

fa4.kernel @scheduled(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @all warps(0 to 4) regs(128) {
  }
}
func.func @launches(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) {
  fa4.launch @scheduled(%q, %k, %v, %o) : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>
  return
}
