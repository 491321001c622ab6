// RUN: fa4-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Types and attributes.

// ring_c1
// expected-error @below {{expected a ring of at least one slot, but got 0}}
func.func private @f(!fa4.ring<0 x 128x128xf16, smem>)

// -----

// ring_c1
// expected-error @below {{expected a ring of at least one slot, but got -1}}
func.func private @f(!fa4.ring<-1 x 128x128xf16, smem>)

// -----

// ring_c1
// expected-error @below {{expected at most 1048576 slots, but got 1048577}}
func.func private @f(!fa4.ring<1048577 x 128x128xf16, smem>)

// -----

// ring_c1
// expected-error @below {{expected a ring's tile of rank 1 or 2, but got rank 0}}
func.func private @f(!fa4.ring<1 x f16, smem>)

// -----

// ring_c1
// expected-error @below {{expected a ring's tile of rank 1 or 2, but got rank 3}}
func.func private @f(!fa4.ring<1 x 2x2x2xf16, smem>)

// -----

// ring_c1
// expected-error @below {{expected extents from 1 to 1048576 in a ring's tile, but got 0}}
func.func private @f(!fa4.ring<1 x 0x2xf16, smem>)

// -----

// ring_c1
// expected-error @below {{expected extents from 1 to 1048576 in a ring's tile, but got 1048577}}
func.func private @f(!fa4.ring<1 x 2x1048577xf16, smem>)

// -----

// ring_c1
// expected-error @below {{expected a ring of f16, bf16 or f32, but got 'i32'}}
func.func private @f(!fa4.ring<1 x 128x128xi32, smem>)

// -----

// expected-error @below {{expected static shape}}
func.func private @f(!fa4.ring<1 x ?x128xf16, smem>)

// -----

// expected-error @below {{expected memory 'smem', 'tmem' or 'rmem', but got 'gmem'}}
func.func private @f(!fa4.ring<1 x 128x128xf16, gmem>)

// -----

// expected-error @below {{integer value too large}}
func.func private @f(!fa4.ring<99999999999999999999 x 128x128xf16, smem>)

// -----

// fragment_c1
// expected-error @below {{expected a fragment of rank 2, but got rank 1}}
func.func private @f(!fa4.fragment<128xf32>)

// -----

// fragment_c1
// expected-error @below {{expected extents from 1 to 256 in a fragment, but got 0}}
func.func private @f(!fa4.fragment<128x0xf32>)

// -----

// fragment_c1
// expected-error @below {{expected extents from 1 to 256 in a fragment, but got 512}}
func.func private @f(!fa4.fragment<128x512xf32>)

// -----

// fragment_c1
// expected-error @below {{expected a fragment of f16, bf16 or f32, but got 'f64'}}
func.func private @f(!fa4.fragment<128x32xf64>)

// -----

// fragment_c1
// expected-error @below {{expected 128 rows in a fragment with one row a thread, but got 64}}
func.func private @f(!fa4.fragment<64x32xf32>)

// -----

// expected-error @below {{expected layout 'row_per_thread' or 'wgmma', but got 'diagonal'}}
func.func private @f(!fa4.fragment<64x32xf32, diagonal>)

// -----

// rows_c1
// expected-error @below {{expected 128 or 64 row values, but got 32}}
func.func private @f(!fa4.rows<32xf32>)

// -----

// rows_c1
// expected-error @below {{expected row values of f32, but got 'f16'}}
func.func private @f(!fa4.rows<128xf16>)

// -----

// rows_c1
// expected-error @below {{expected row values of rank 1, but got rank 2}}
func.func private @f(!fa4.rows<128x1xf32>)

// -----

// target_c1
// expected-error @below {{unknown chip 'sm_80', expected one of sm_100a, sm_90a}}
"test.op"() {a = #fa4.target<sm_80>} : () -> ()

// -----

// expected-error @below {{expected 'sms' from 1 to 65535 in a target, but got 0}}
"test.op"() {a = #fa4.target<sm_100a, sms = 0>} : () -> ()

// -----

// expected-error @below {{expected 'l2' from 0 to 1099511627776 in a target, but got -1}}
"test.op"() {a = #fa4.target<sm_100a, l2 = -1>} : () -> ()

// -----

// expected-error @below {{expected 'smem' from 1024 to 1048576 in a target, but got 1}}
"test.op"() {a = #fa4.target<sm_100a, smem = 1>} : () -> ()

// -----

// expected-error @below {{expected 'tmem' from 0 to 512 in a target, but got 1024}}
"test.op"() {a = #fa4.target<sm_100a, tmem = 1024>} : () -> ()

// -----

// expected-error @below {{expected 'registers' from 1024 to 1048576 in a target, but got 5}}
"test.op"() {a = #fa4.target<sm_100a, registers = 5>} : () -> ()

// -----

// expected-error @below {{expected 'tcgen05' or 'wgmma' for 'mma', but got 'hmma'}}
"test.op"() {a = #fa4.target<sm_100a, mma = hmma>} : () -> ()

// -----

// expected-error @below {{unknown key 'cores' in a target, expected one of sms, l2, smem, tmem, registers, mma}}
"test.op"() {a = #fa4.target<sm_100a, cores = 1>} : () -> ()

// -----

// expected-error @below {{expected engine 'threads', 'commit' or 'bytes', but got 'warps'}}
"test.op"() {a = #fa4.arrival<@r warps 4>} : () -> ()
