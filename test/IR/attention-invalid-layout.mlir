// RUN: fa4-opt %s -split-input-file -verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the verifier of fa4.attention says about layouts, memory and aliasing. The id
// of the constraint stands above each case.

// A9 attention_c13
func.func @lse_f16(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>, %l: memref<1x2x17xf16>) {
  // expected-error @below {{'fa4.attention' op expected element type f32 of 'lse', but got 'f16'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) lse(%l : memref<1x2x17xf16>)
  return
}

// -----

// L7 attention_c8
func.func @inner_stride_q(%q: memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected stride 1 in 'q' dimension 3 (D), the innermost one, but got 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// L7 attention_c8
func.func @inner_stride_k(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected stride 1 in 'k' dimension 3 (D), the innermost one, but got 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// L7 attention_c8
func.func @inner_stride_v(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected stride 1 in 'v' dimension 3 (Dv), the innermost one, but got 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// L7 attention_c8
func.func @inner_stride_o(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>) {
  // expected-error @below {{'fa4.attention' op expected stride 1 in 'o' dimension 3 (Dv), the innermost one, but got 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16, strided<[4352, 256, 128, 2]>>)
  return
}

// -----

// L7 attention_c8
func.func @d_major_k(%q: memref<1x17x2x64xf16>, %k: memref<1x24x2x64xf16, strided<[3072, 1, 1536, 24]>>, %v: memref<1x24x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected stride 1 in 'k' dimension 3 (D), the innermost one, but got 24}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x24x2x64xf16, strided<[3072, 1, 1536, 24]>>, memref<1x24x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// L7 attention_c8
func.func @dynamic_inner_stride(%q: memref<1x17x2x64xf16, strided<[?, ?, ?, ?], offset: ?>>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected stride 1 in 'q' dimension 3 (D), the innermost one, but got ?}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16, strided<[?, ?, ?, ?], offset: ?>>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c8
func.func @not_strided(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16, affine_map<(a, b, c, d) -> (a, b floordiv 2, c, d)>>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'k' with a strided layout, but got 'memref<1x17x2x64xf16, affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 2, d2, d3)>>'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16, affine_map<(a, b, c, d) -> (a, b floordiv 2, c, d)>>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// L11 attention_c9
func.func @output_is_q(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'o' in memory of its own, but it is the same memref as 'q'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%q : memref<1x17x2x64xf16>)
  return
}

// -----

// L11 attention_c9
func.func @output_is_k(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'o' in memory of its own, but it is the same memref as 'k'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%k : memref<1x17x2x64xf16>)
  return
}

// -----

// L11 attention_c9
func.func @output_is_v(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'o' in memory of its own, but it is the same memref as 'v'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%v : memref<1x17x2x64xf16>)
  return
}

// -----

// L8 attention_c10
func.func @output_stride_zero(%q: memref<4x17x2x64xf16>, %k: memref<4x17x2x64xf16>, %v: memref<4x17x2x64xf16>, %o: memref<4x17x2x64xf16, strided<[0, 128, 64, 1]>>) {
  // expected-error @below {{'fa4.attention' op expected a stride other than 0 in 'o' dimension 0 (B), because its elements are written, but got 0}}
  fa4.attention ins(%q, %k, %v : memref<4x17x2x64xf16>, memref<4x17x2x64xf16>, memref<4x17x2x64xf16>)
                outs(%o : memref<4x17x2x64xf16, strided<[0, 128, 64, 1]>>)
  return
}

// -----

// L8 attention_c10
func.func @output_stride_zero_dynamic_extent(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x?x64xf16, strided<[1088, 64, 0, 1]>>) {
  // expected-error @below {{'fa4.attention' op expected a stride other than 0 in 'o' dimension 2 (Hq), because its elements are written, but got 0}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x?x64xf16, strided<[1088, 64, 0, 1]>>)
  return
}

// -----

// L5 attention_c11
func.func @token_pitch_65(%q: memref<1x17x1x64xf16>, %k: memref<1x17x1x64xf16, strided<[1105, 65, 65, 1]>>, %v: memref<1x17x1x64xf16>, %o: memref<1x17x1x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a byte stride of 'k' dimension 1 (Skv) that is a multiple of 16, as TMA requires, but got 130 bytes (65 elements)}}
  fa4.attention ins(%q, %k, %v : memref<1x17x1x64xf16>, memref<1x17x1x64xf16, strided<[1105, 65, 65, 1]>>, memref<1x17x1x64xf16>)
                outs(%o : memref<1x17x1x64xf16>)
  return
}

// -----

// L5 attention_c11
func.func @token_pitch_1733(%q: memref<1x17x2x64xf16, strided<[29461, 1733, 64, 1]>>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a byte stride of 'q' dimension 1 (Sq) that is a multiple of 16, as TMA requires, but got 3466 bytes (1733 elements)}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16, strided<[29461, 1733, 64, 1]>>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// L5 attention_c11
func.func @output_pitch(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16, strided<[2312, 136, 68, 1]>>) {
  // expected-error @below {{'fa4.attention' op expected a byte stride of 'o' dimension 2 (Hq) that is a multiple of 16, as TMA requires, but got 136 bytes (68 elements)}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16, strided<[2312, 136, 68, 1]>>)
  return
}

// -----

// attention_c11
func.func @negative_stride(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16, strided<[2176, -128, 64, 1], offset: 2048>>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a byte stride of 'v' dimension 1 (Skv) that is not negative, as TMA requires, but got -256}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16, strided<[2176, -128, 64, 1], offset: 2048>>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c11
func.func @stride_over_limit(%q: memref<1x17x2x64xf16, strided<[128, 549755813888, 64, 1]>>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a byte stride of 'q' dimension 1 (Sq) below 2^40, as TMA requires, but got 549755813888 elements of 2 bytes}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16, strided<[128, 549755813888, 64, 1]>>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// V1 attention_c11: nothing overflows.
func.func @stride_int64_max(%q: memref<1x17x2x64xf16, strided<[128, 9223372036854775807, 64, 1]>>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a byte stride of 'q' dimension 1 (Sq) below 2^40, as TMA requires, but got 9223372036854775807 elements of 2 bytes}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16, strided<[128, 9223372036854775807, 64, 1]>>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// L3 attention_c12
func.func @offset_unaligned(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16, strided<[2176, 128, 64, 1], offset: 4>>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected an offset of 'v' that is a multiple of 16 bytes, as TMA requires, but got 4 elements of 2 bytes}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16, strided<[2176, 128, 64, 1], offset: 4>>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c13
func.func @lse_strided(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>, %l: memref<1x2x17xf32, strided<[34, 1, 2]>>) {
  // expected-error @below {{'fa4.attention' op expected 'lse' with the identity layout, but got 'memref<1x2x17xf32, strided<[34, 1, 2]>>'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) lse(%l : memref<1x2x17xf32, strided<[34, 1, 2]>>)
  return
}

// -----

// attention_c16
func.func @shared_memory(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16, #gpu.address_space<workgroup>>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'k' in global memory (no memory space, 0, 1 or #gpu.address_space<global>), but got #gpu.address_space<workgroup>}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16, #gpu.address_space<workgroup>>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c16
func.func @shared_memory_lse(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>, %l: memref<1x2x17xf32, 3 : i64>) {
  // expected-error @below {{'fa4.attention' op expected 'lse' in global memory (no memory space, 0, 1 or #gpu.address_space<global>), but got 3 : i64}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) lse(%l : memref<1x2x17xf32, 3 : i64>)
  return
}
