// RUN: fa4-opt %s --fa4-to-nvvm --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Z2: what cannot be counted in 32 bits is refused with the limit.
func.func @rows(%q: memref<1x2147483648x1x64xf16>, %o: memref<1x2147483648x1x64xf16>) {
  // expected-error @below {{'fa4.kernel' op cannot be launched: expected at most 2147479552 query rows in a tile head, but got 2147483648}}
  fa4.attention ins(%q, %q, %q : memref<1x2147483648x1x64xf16>, memref<1x2147483648x1x64xf16>, memref<1x2147483648x1x64xf16>)
                outs(%o : memref<1x2147483648x1x64xf16>)
  return
}

// -----

func.func @batches(%q: memref<2147483648x1x1x64xf16>, %o: memref<2147483648x1x1x64xf16>) {
  // expected-error @below {{'fa4.kernel' op cannot be launched: expected at most 1073741824 tasks (M blocks x tile heads x batches), but got 2147483648}}
  fa4.attention ins(%q, %q, %q : memref<2147483648x1x1x64xf16>, memref<2147483648x1x1x64xf16>, memref<2147483648x1x1x64xf16>)
                outs(%o : memref<2147483648x1x1x64xf16>)
  return
}
