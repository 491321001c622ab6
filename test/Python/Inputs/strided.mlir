// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Attention in bf16 on operands of any strides.

!tensor = memref<?x?x?x64xbf16, strided<[?, ?, ?, 1], offset: ?>>

func.func @attention(%q: !tensor, %k: !tensor, %v: !tensor, %o: !tensor) {
  fa4.attention ins(%q, %k, %v : !tensor, !tensor, !tensor) outs(%o : !tensor) causal
  return
}
