// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Causal attention in f16 with head dimension 128: 32 query heads share 8 key and
// value heads, and batch and sequence lengths are known only when it runs.
// `make demo` compiles it for a Blackwell GPU and simulates that.

func.func @attention(%q: memref<?x?x32x128xf16>, %k: memref<?x?x8x128xf16>,
                     %v: memref<?x?x8x128xf16>, %o: memref<?x?x32x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<?x?x32x128xf16>, memref<?x?x8x128xf16>, memref<?x?x8x128xf16>)
                outs(%o : memref<?x?x32x128xf16>) causal
  return
}
