// RUN: fa4-opt %s -split-input-file -verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the verifier of fa4.attention says about attributes and results. The id
// of the constraint stands above each case.

// attention_c14
func.func @scale_nan(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a finite 'scale', but got nan}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) scale(0x7FC00000)
  return
}

// -----

// attention_c14
func.func @scale_inf(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a finite 'scale', but got inf}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) scale(0x7F800000)
  return
}

// -----

// attention_c14
func.func @scale_minus_inf(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected a finite 'scale', but got -inf}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) scale(0xFF800000)
  return
}

// -----

// A8 attention_c15
func.func @attribute_softcap(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'softcap' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {softcap = 5.0 : f32}
  return
}

// -----

// A7, A8 attention_c15
func.func @attribute_window(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: -1, 0>}
  return
}

// -----

// A8 attention_c15
func.func @attribute_dropout(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'dropout' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {dropout = 0.1 : f32}
  return
}

// -----

// A8 attention_c15
func.func @attribute_bias(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'bias' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {bias = 1.0 : f32}
  return
}

// -----

// A8 attention_c15
func.func @attribute_foo(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'foo' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {foo = unit}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_none(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: -1, 0>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_zero(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: 0, 0>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_wide(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: 16, 0>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_max(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: 2147483647, 2147483647>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_negative(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: -3, 5>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_no_entry(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_two_entries(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: 1, 2>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_four_entries(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = array<i64: 1, 2, 3, 4>}
  return
}

// -----

// A7, V1 attention_c15
func.func @window_int64_max(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'window' is not supported: expected only 'causal' and 'scale'}}
  fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) {window = 9223372036854775807 : i64}
  return
}

// -----

// attention_c17
func.func @tensor_without_result(%q: tensor<1x17x2x64xf16>, %k: tensor<1x17x2x64xf16>, %v: tensor<1x17x2x64xf16>, %o: tensor<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the types of its destinations as result types, ('tensor<1x17x2x64xf16>'), but got ()}}
  fa4.attention ins(%q, %k, %v : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                outs(%o : tensor<1x17x2x64xf16>)
  return
}

// -----

// attention_c17
func.func @tensor_result_type(%q: tensor<1x17x2x64xf16>, %k: tensor<1x17x2x64xf16>, %v: tensor<1x17x2x64xf16>, %o: tensor<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected the types of its destinations as result types, ('tensor<1x17x2x64xf16>'), but got ('tensor<?x17x2x64xf16>')}}
  %r = fa4.attention ins(%q, %k, %v : tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>, tensor<1x17x2x64xf16>)
                outs(%o : tensor<1x17x2x64xf16>) -> tensor<?x17x2x64xf16>
  return
}

// -----

// attention_c17
func.func @memref_with_result(%q: memref<1x17x2x64xf16>, %k: memref<1x17x2x64xf16>, %v: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected no result on memrefs, but got 1}}
  %r = fa4.attention ins(%q, %k, %v : memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>)
                outs(%o : memref<1x17x2x64xf16>) -> tensor<1x17x2x64xf16>
  return
}

// -----

// A8 attention_c15: no unknown key of the properties is dropped.
func.func @generic_property(%m: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{invalid properties {softcap = 5.000000e+00 : f32} for op fa4.attention: attribute 'softcap' is not supported}}
  "fa4.attention"(%m, %m, %m, %o) <{softcap = 5.0 : f32}> : (memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>) -> ()
  return
}

// -----

// A8 attention_c15
func.func @generic_attribute(%m: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'softcap' is not supported: expected only 'causal' and 'scale'}}
  "fa4.attention"(%m, %m, %m, %o) {softcap = 5.0 : f32} : (memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>) -> ()
  return
}

// -----

// V1
func.func @causal_of_wrong_kind(%m: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{invalid properties {causal = 1 : i32} for op fa4.attention: Invalid attribute `causal` in property conversion: 1 : i32}}
  "fa4.attention"(%m, %m, %m, %o) <{causal = 1 : i32}> : (memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>) -> ()
  return
}

// -----

// V1
func.func @scale_of_wrong_type(%m: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op attribute 'scale' failed to satisfy constraint: 32-bit float attribute}}
  "fa4.attention"(%m, %m, %m, %o) <{scale = 1.0 : f64}> : (memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>) -> ()
  return
}

// -----

// V1
func.func @scale_of_wrong_kind(%m: memref<1x17x2x64xf16>, %o: memref<1x17x2x64xf16>) {
  // expected-error @below {{invalid properties {scale = [1.000000e+00 : f32, 2.000000e+00 : f32]} for op fa4.attention: Invalid attribute `scale` in property conversion: [1.000000e+00 : f32, 2.000000e+00 : f32]}}
  "fa4.attention"(%m, %m, %m, %o) <{scale = [1.0 : f32, 2.0 : f32]}> : (memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>) -> ()
  return
}

// -----

// A wrong number of operands.
func.func @three_operands(%m: memref<1x17x2x64xf16>) {
  // expected-error @below {{'fa4.attention' op expected 4 or more operands, but found 3}}
  "fa4.attention"(%m, %m, %m) : (memref<1x17x2x64xf16>, memref<1x17x2x64xf16>, memref<1x17x2x64xf16>) -> ()
  return
}
