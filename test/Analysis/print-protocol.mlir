// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What contracts order, and one steady iteration of the roles.

// RUN: fa4-opt %s --fa4-schedule-attention -o %t.mlir
// RUN: fa4-opt %t.mlir --fa4-print-protocol -o %t.out.mlir > %t.txt
// RUN: diff %t.mlir %t.out.mlir
// RUN: FileCheck %s --input-file=%t.txt
// RUN: fa4-opt %t.mlir --pass-pipeline='builtin.module(fa4.kernel(fa4-materialize-phases))' | fa4-opt --fa4-print-protocol -o %t.out.mlir | diff %t.txt -
// RUN: fa4-opt %t.mlir --fa4-print-protocol=format=dot -o %t.out.mlir | FileCheck %s --check-prefix=DOT
// RUN: fa4-opt %t.mlir --fa4-print-protocol=format=svg -o %t.out.mlir > %t.1.svg
// RUN: fa4-opt %t.mlir --fa4-print-protocol=format=svg -o %t.out.mlir > %t.2.svg
// RUN: diff %t.1.svg %t.2.svg
// RUN: FileCheck %s --check-prefix=SVG --input-file=%t.1.svg
// RUN: sed 's/^ *outs.*/& causal/' %s | fa4-opt --fa4-schedule-attention --fa4-print-protocol=format=svg -o %t.out.mlir > %t.causal.svg
// RUN: %python %fa4_src/test/Docs/Inputs/check_picture.py %t.causal.svg

// CHECK: kernel @attention_attention: 12 contracts with 26 slots
// CHECK: {{^}}barrier "kv_empty": 3 slots, free at first
// CHECK-NEXT: phases 2n in a task of n blocks
// CHECK-NEXT: arrives @mma by commit
// CHECK-NEXT: waits @load
// CHECK-NEXT: orders @mma reads "kv" before @load writes it
// CHECK: {{^}}barrier "p_o_rescale": 2 slots
// CHECK-NEXT: phases 2n in a task of n blocks
// CHECK-NEXT: arrives @softmax 128 threads, @correction 128 threads
// CHECK-NEXT: waits @mma
// CHECK-NEXT: orders @softmax writes columns 64 to 112 of "s" before @mma reads it
// CHECK: @correction writes "o" before @mma writes it
// CHECK: {{^}}barrier "p_ready_2": 2 slots
// CHECK: orders @softmax writes columns 112 to 128 of "s" before @mma reads it
// CHECK: {{^}}barrier "stats": 2 slots, named, a pair of warps each
// CHECK-NEXT: phases 2n + 2 in a task of n blocks
// CHECK-NEXT: arrives @softmax 32 threads, @correction 32 threads
// CHECK-NEXT: waits @correction
// CHECK-NEXT: orders @softmax writes "mail_factor" before @correction reads it
// CHECK-NEXT: @mma writes "o" before @correction writes it, behind "s_ready"
// CHECK: {{^}}barrier "o_empty": 2 slots, free at first
// CHECK-NEXT: phases 2 in a task of n blocks

// Copies go to where those of earlier blocks have been used up.
// DOT: digraph "@attention_attention" {
// DOT: label="@load";
// DOT-NEXT: {{n[0-9]+}} [label="wait kv_empty[2]", shape=ellipse];
// DOT: label="TMA";
// DOT: [[COPY:n[0-9]+]] [label="load kv[2]"
// DOT: label="@mma";
// DOT: [[WAIT:n[0-9]+]] [label="wait kv_full[2]"
// DOT: label="tensor core";
// DOT: [label="o[0] += s[0] 64:112 * kv[1]"
// DOT: label="@softmax (instance 0)";
// DOT: [[COPY]] -> [[WAIT]] [label="kv_full", constraint=false];
// DOT: {{^}}}

// SVG: <svg xmlns="http://www.w3.org/2000/svg"
// SVG: >@attention_attention: one K/V block in the steady state</text>
// SVG: >tensor core</text>
// SVG: >commit s_ready[0]</text>
// SVG: </svg>

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
