// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f(%q: memref<2x100x8x64xf16>, %k: memref<2x77x2x64xf16>, %o: memref<2x100x8x64xf16>) {
  fa4.attention ins(%q, %k, %k : memref<2x100x8x64xf16>, memref<2x77x2x64xf16>, memref<2x77x2x64xf16>)
                outs(%o : memref<2x100x8x64xf16>) causal
  return
}
