// RUN: fa4-opt %s -split-input-file -verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the verifier of fa4.attention says about shapes and element types. The id
// of the constraint stands above each case.

// attention_c1
func.func @not_shaped(%q: f16, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op operand #0 must be a ranked tensor or memref, but got 'f16'}}
  fa4.attention ins(%q, %k, %v : f16, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c1
func.func @unranked(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<*xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op operand #2 must be a ranked tensor or memref, but got 'memref<*xf16>'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<*xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c1
func.func @mixed_memref_tensor(%q: memref<1x17x2x64xf16>, %k: tensor<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected operands that are all memrefs or all tensors, but 'q' is 'memref<1x17x2x64xf16>' and 'k' is 'tensor<1x17x2x64xf16>'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, tensor<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c2
func.func @rank_of_q(%q: memref<17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' of rank 4 [B, Sq, Hq, D], but got rank 3}}
  fa4.attention ins(%q, %k, %v : memref<17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c2
func.func @rank_of_v(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'v' of rank 4 [B, Skv, Hkv, Dv], but got rank 5}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c2
func.func @rank_of_lse(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>, %l: memref<1x2x17x1xf32>) {
  // expected-error @below {{'fa4.attention' op expected 'lse' of rank 3 [B, Hq, Sq], but got rank 4}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) lse(%l : memref<1x2x17x1xf32>)
  return
}

// -----

// V9, A9 attention_c3
func.func @element_type_f32(%q: memref<1x17x2x64xf32>, %k: memref<1x17x2x64xf32>, %v: memref<1x17x2x64xf32>, %o: memref<1x17x2x64xf32>) {
  // expected-error @below {{'fa4.attention' op expected element type f16 or bf16 of 'q', but got 'f32'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf32>, memref<1x17x2x64xf32>, memref<1x17x2x64xf32>)
                outs(%o : memref<1x17x2x64xf32>)
  return
}

// -----

// V9 attention_c3
func.func @element_type_f64(%q: memref<1x17x2x64xf64>, %k: memref<1x17x2x64xf64>, %v: memref<1x17x2x64xf64>, %o: memref<1x17x2x64xf64>) {
  // expected-error @below {{'fa4.attention' op expected element type f16 or bf16 of 'q', but got 'f64'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf64>, memref<1x17x2x64xf64>, memref<1x17x2x64xf64>)
                outs(%o : memref<1x17x2x64xf64>)
  return
}

// -----

// V9 attention_c3
func.func @element_type_i8(%q: memref<1x17x2x64xi8>, %k: memref<1x17x2x64xi8>, %v: memref<1x17x2x64xi8>, %o: memref<1x17x2x64xi8>) {
  // expected-error @below {{'fa4.attention' op expected element type f16 or bf16 of 'q', but got 'i8'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xi8>, memref<1x17x2x64xi8>, memref<1x17x2x64xi8>)
                outs(%o : memref<1x17x2x64xi8>)
  return
}

// -----

// V9 attention_c3
func.func @element_type_f8e4m3fn(%q: memref<1x17x2x64xf8E4M3FN>, %k: memref<1x17x2x64xf8E4M3FN>, %v: memref<1x17x2x64xf8E4M3FN>, %o: memref<1x17x2x64xf8E4M3FN>) {
  // expected-error @below {{'fa4.attention' op expected element type f16 or bf16 of 'q', but got 'f8E4M3FN'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf8E4M3FN>, memref<1x17x2x64xf8E4M3FN>, memref<1x17x2x64xf8E4M3FN>)
                outs(%o : memref<1x17x2x64xf8E4M3FN>)
  return
}

// -----

// A9 attention_c3
func.func @output_f32(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf32>) {
  // expected-error @below {{'fa4.attention' op expected element type f16 or bf16 of 'o', but got 'f32'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf32>)
  return
}

// -----

// A9 attention_c4
func.func @q_f16_k_bf16(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xbf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' and 'k' of the same element type, but got 'f16' and 'bf16'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xbf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// A9 attention_c4
func.func @v_f16_k_bf16(%q: memref<1x17x2x64xbf16>, %k: memref<1x17x2x64xbf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' and 'v' of the same element type, but got 'bf16' and 'f16'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xbf16>, memref<1x17x2x64xbf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// A1 attention_c5
func.func @head_dim_1(%q: memref<1x33x2x1xf16>, %k: memref<1x65x1x1xf16>, %v: memref<1x65x1x1xf16>, %o: memref<1x33x2x1xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 1}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x1xf16>, memref<1x65x1x1xf16>, memref<1x65x1x1xf16>)
                outs(%o : memref<1x33x2x1xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_8(%q: memref<1x33x2x8xf16>, %k: memref<1x65x1x8xf16>, %v: memref<1x65x1x8xf16>, %o: memref<1x33x2x8xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 8}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x8xf16>, memref<1x65x1x8xf16>, memref<1x65x1x8xf16>)
                outs(%o : memref<1x33x2x8xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_40(%q: memref<1x33x2x40xf16>, %k: memref<1x65x1x40xf16>, %v: memref<1x65x1x40xf16>, %o: memref<1x33x2x40xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 40}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x40xf16>, memref<1x65x1x40xf16>, memref<1x65x1x40xf16>)
                outs(%o : memref<1x33x2x40xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_72(%q: memref<1x33x2x72xf16>, %k: memref<1x65x1x72xf16>, %v: memref<1x65x1x72xf16>, %o: memref<1x33x2x72xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 72}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x72xf16>, memref<1x65x1x72xf16>, memref<1x65x1x72xf16>)
                outs(%o : memref<1x33x2x72xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_80(%q: memref<1x33x2x80xf16>, %k: memref<1x65x1x80xf16>, %v: memref<1x65x1x80xf16>, %o: memref<1x33x2x80xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 80}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x80xf16>, memref<1x65x1x80xf16>, memref<1x65x1x80xf16>)
                outs(%o : memref<1x33x2x80xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_96(%q: memref<1x33x2x96xf16>, %k: memref<1x65x1x96xf16>, %v: memref<1x65x1x96xf16>, %o: memref<1x33x2x96xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 96}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x96xf16>, memref<1x65x1x96xf16>, memref<1x65x1x96xf16>)
                outs(%o : memref<1x33x2x96xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_112(%q: memref<1x33x2x112xf16>, %k: memref<1x65x1x112xf16>, %v: memref<1x65x1x112xf16>, %o: memref<1x33x2x112xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 112}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x112xf16>, memref<1x65x1x112xf16>, memref<1x65x1x112xf16>)
                outs(%o : memref<1x33x2x112xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_136(%q: memref<1x33x2x136xf16>, %k: memref<1x65x1x136xf16>, %v: memref<1x65x1x136xf16>, %o: memref<1x33x2x136xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 136}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x136xf16>, memref<1x65x1x136xf16>, memref<1x65x1x136xf16>)
                outs(%o : memref<1x33x2x136xf16>) causal
  return
}

// -----

// A2 attention_c5
func.func @head_dim_256(%q: memref<1x33x2x256xf16>, %k: memref<1x65x1x256xf16>, %v: memref<1x65x1x256xf16>, %o: memref<1x33x2x256xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 256}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x256xf16>, memref<1x65x1x256xf16>, memref<1x65x1x256xf16>)
                outs(%o : memref<1x33x2x256xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @head_dim_0(%q: memref<1x33x2x0xf16>, %k: memref<1x65x1x0xf16>, %v: memref<1x65x1x0xf16>, %o: memref<1x33x2x0xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'q' dimension 3 (D), but got 0}}
  fa4.attention ins(%q, %k, %v : memref<1x33x2x0xf16>, memref<1x65x1x0xf16>, memref<1x65x1x0xf16>)
                outs(%o : memref<1x33x2x0xf16>) causal
  return
}

// -----

// A1 attention_c5
func.func @value_head_dim_96(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x96xf16>, %o: memref<1x17x2x96xf16>) {
  // expected-error @below {{'fa4.attention' op expected a head dimension of 64 or 128 in 'v' dimension 3 (Dv), but got 96}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x96xf16>)
                outs(%o : memref<1x17x2x96xf16>)
  return
}

// -----

// V5 attention_c5
func.func @dynamic_head_dim(%q: memref<?x?x?x?xf16>, %k: memref<?x?x?x?xf16>, %v: memref<?x?x?x?xf16>, %o: memref<?x?x?x?xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' dimension 3 (D) to be static, 64 or 128, but got ?}}
  fa4.attention ins(%q, %k, %v : memref<?x?x?x?xf16>, memref<?x?x?x?xf16>, memref<?x?x?x?xf16>)
                outs(%o : memref<?x?x?x?xf16>)
  return
}

// -----

// V5 attention_c5
func.func @dynamic_value_dim(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x?xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'v' dimension 3 (Dv) to be static, 64 or 128, but got ?}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x?xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c6
func.func @batch_differs(%q: memref<1x17x2x64xf16>, %k: memref<2x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' dimension 0 (B) and 'k' dimension 0 (B) to be equal, but got 1 and 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<2x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c6
func.func @key_length_differs(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x18x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'k' dimension 1 (Skv) and 'v' dimension 1 (Skv) to be equal, but got 17 and 18}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x18x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c6
func.func @key_heads_differ(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x1x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'k' dimension 2 (Hkv) and 'v' dimension 2 (Hkv) to be equal, but got 2 and 1}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x1x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c6
func.func @query_length_differs(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x16x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' dimension 1 (Sq) and 'o' dimension 1 (Sq) to be equal, but got 17 and 16}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x16x2x64xf16>)
  return
}

// -----

// attention_c6
func.func @query_heads_differ(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x4x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' dimension 2 (Hq) and 'o' dimension 2 (Hq) to be equal, but got 2 and 4}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x4x64xf16>)
  return
}

// -----

// attention_c6
func.func @head_dim_differs(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x128xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'q' dimension 3 (D) and 'k' dimension 3 (D) to be equal, but got 64 and 128}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x128xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c6
func.func @value_dim_differs(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x128xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'v' dimension 3 (Dv) and 'o' dimension 3 (Dv) to be equal, but got 128 and 64}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x128xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// attention_c6
func.func @lse_transposed(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>, %l: memref<1x17x2xf32>) {
  // expected-error @below {{'fa4.attention' op expected 'q' dimension 1 (Sq) and 'lse' dimension 2 (Sq) to be equal, but got 17 and 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) lse(%l : memref<1x17x2xf32>)
  return
}

// -----

// attention_c6: a dynamic extent agrees with any, and does not hide the others.
func.func @batch_differs_past_dynamic(%q: memref<?x17x2x64xf16>, %k: memref<2x17x2x64xf16>, %v: memref<?x17x2x64xf16>, %o: memref<3x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 'k' dimension 0 (B) and 'o' dimension 0 (B) to be equal, but got 2 and 3}}
  fa4.attention ins(%q, %k, %v : memref<?x17x2x64xf16>, memref<2x17x2x64xf16>, memref<?x17x2x64xf16>)
                outs(%o : memref<3x17x2x64xf16>)
  return
}

// -----

// G3 attention_c7
func.func @heads_3_2(%q: memref<1x17x3x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x3x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = 3 and Hkv = 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x3x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x3x64xf16>)
  return
}

// -----

// G3 attention_c7
func.func @heads_33_2(%q: memref<1x17x33x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x33x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = 33 and Hkv = 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x33x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x33x64xf16>)
  return
}

// -----

// G3 attention_c7
func.func @heads_2_3(%q: memref<1x17x2x64xf16>, %k: memref<1x17x3x64xf16>, %v: memref<1x17x3x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = 2 and Hkv = 3}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x3x64xf16>, memref<1x17x3x64xf16>)
                outs(%o : memref<1x17x2x64xf16>)
  return
}

// -----

// G3 attention_c7
func.func @heads_4_0(%q: memref<1x17x4x64xf16>, %k: memref<1x17x0x64xf16>, %v: memref<1x17x0x64xf16>, %o: memref<1x17x4x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = 4 and Hkv = 0}}
  fa4.attention ins(%q, %k, %v : memref<1x17x4x64xf16>, memref<1x17x0x64xf16>, memref<1x17x0x64xf16>)
                outs(%o : memref<1x17x4x64xf16>)
  return
}

// -----

// G3 attention_c7
func.func @heads_0_0(%q: memref<1x17x0x64xf16>, %k: memref<1x17x0x64xf16>, %v: memref<1x17x0x64xf16>, %o: memref<1x17x0x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = 0 and Hkv = 0}}
  fa4.attention ins(%q, %k, %v : memref<1x17x0x64xf16>, memref<1x17x0x64xf16>, memref<1x17x0x64xf16>)
                outs(%o : memref<1x17x0x64xf16>)
  return
}

// -----

// G3 attention_c7: the counts come from whichever operand has them.
func.func @heads_from_other_operands(%q: memref<1x17x?x64xf16>, %k: memref<1x17x?x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x3x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = 3 and Hkv = 2}}
  fa4.attention ins(%q, %k, %v : memref<1x17x?x64xf16>, memref<1x17x?x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x3x64xf16>)
  return
}

// -----

// G3 attention_c7
func.func @no_key_heads_dynamic_query_heads(%q: memref<1x17x?x64xf16>, %k: memref<1x17x0x64xf16>, %v: memref<1x17x0x64xf16>, %o: memref<1x17x?x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the number of query heads to be a multiple of the number of key/value heads, but got Hq = ? and Hkv = 0}}
  fa4.attention ins(%q, %k, %v : memref<1x17x?x64xf16>, memref<1x17x0x64xf16>, memref<1x17x0x64xf16>)
                outs(%o : memref<1x17x?x64xf16>)
  return
}
