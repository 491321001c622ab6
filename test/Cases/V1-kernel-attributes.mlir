// RUN: fa4-opt %s --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// V1: a kernel's sizes are single numbers; arrays of any length, other kinds of
// attributes and numbers out of range are errors, and nothing crashes on them.

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = [], tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = array<i64: 128, 64>, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = [128, 128, 1, 1], pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = "128", pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op attribute 'tile_rows' failed to satisfy constraint: 64-bit integer}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i32, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op expected 'stages' from 1 to 65536, but got -1}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = -1 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op expected 'tile_keys' from 1 to 65536, but got 9223372036854775807}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 9223372036854775807 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op expected 'tile_rows' from 1 to 65536, but got 0}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 0 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = unit, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op attribute 'warps' failed to satisfy constraint: 64-bit integer whose value is positive}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 0 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = dense<1> : tensor<4xi64>}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op expected 'pack' from 1 to 65536, but got -9223372036854775808}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = -9223372036854775808 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = "linear_persistent", stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = "sm_100a", warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64, causal = true}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op attribute 'smem_bytes' failed to satisfy constraint: 64-bit integer whose value is non-negative}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64, smem_bytes = -1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"fa4.kernel"() <{sym_name = "f", function_type = f16, target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{invalid properties}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, warps = 4 : i64, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64, tile_shape = [128, 128]}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()

// -----

// expected-error @below {{'fa4.kernel' op requires attribute 'warps'}}
"fa4.kernel"() <{sym_name = "f", function_type = (memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>, memref<1x256x8x128xf16>) -> (), target = #fa4.target<sm_100a>, scheduler = #fa4<scheduler linear_persistent>, stages = 2 : i64, tile_rows = 128 : i64, tile_keys = 128 : i64, pack = 1 : i64}> ({
^bb0(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>):
}) : () -> ()
