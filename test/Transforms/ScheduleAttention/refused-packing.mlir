// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packing that is asked for and cannot be.

// RUN: fa4-opt --fa4-schedule-attention=group-packing=on -split-input-file -verify-diagnostics %s

func.func @three(%q: memref<1x64x6x64xf16>, %k: memref<1x64x2x64xf16>,
    %v: memref<1x64x2x64xf16>, %o: memref<1x64x6x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a group size that divides the 128 rows of a tile to pack query heads, but got 3: pass 'group-packing=auto' or 'off'}}
  fa4.attention ins(%q, %k, %v : memref<1x64x6x64xf16>, memref<1x64x2x64xf16>,
                    memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x6x64xf16>)
  return
}

// -----

func.func @beyond_a_tile(%q: memref<1x64x256x64xf16>, %k: memref<1x64x1x64xf16>,
    %v: memref<1x64x1x64xf16>, %o: memref<1x64x256x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a group size that divides the 128 rows of a tile to pack query heads, but got 256: pass 'group-packing=auto' or 'off'}}
  fa4.attention ins(%q, %k, %v : memref<1x64x256x64xf16>, memref<1x64x1x64xf16>,
                    memref<1x64x1x64xf16>)
      outs(%o : memref<1x64x256x64xf16>)
  return
}

// -----

func.func @dynamic_query_heads(%q: memref<1x64x?x64xf16>, %k: memref<1x64x2x64xf16>,
    %v: memref<1x64x2x64xf16>, %o: memref<1x64x?x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a group size that divides the 128 rows of a tile to pack query heads, but the head count of 'q' is dynamic: make it static, or pass 'group-packing=auto' or 'off'}}
  fa4.attention ins(%q, %k, %v : memref<1x64x?x64xf16>, memref<1x64x2x64xf16>,
                    memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x?x64xf16>)
  return
}

// -----

func.func @dynamic_key_heads(%q: memref<1x64x8x64xf16>, %k: memref<1x64x?x64xf16>,
    %v: memref<1x64x?x64xf16>, %o: memref<1x64x8x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a group size that divides the 128 rows of a tile to pack query heads, but the head count of 'k' is dynamic: make it static, or pass 'group-packing=auto' or 'off'}}
  fa4.attention ins(%q, %k, %v : memref<1x64x8x64xf16>, memref<1x64x?x64xf16>,
                    memref<1x64x?x64xf16>)
      outs(%o : memref<1x64x8x64xf16>)
  return
}
