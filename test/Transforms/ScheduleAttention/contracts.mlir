// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contracts of the reference schedules, arrival by arrival. With a causal mask the
// sum stays with softmax, and nobody has to say that the mailbox was read.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @full_attention(
// CHECK-NOT:   fa4.barrier
// CHECK:       = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "s_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "stats" named slots(2) per_warp arrives(@softmax threads 32, @correction threads 32){{$}}
// CHECK-NEXT:  = fa4.barrier "stats_empty" slots(2) arrives(@correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_full" slots(2) arrives(@correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free{{$}}
// CHECK-NOT:   fa4.barrier
// CHECK:       fa4.init_barriers warp(0)

func.func @full(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}

// CHECK-LABEL: fa4.kernel @causal_attention(
// CHECK-NOT:   fa4.barrier
// CHECK:       = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "s_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "stats" named slots(2) per_warp arrives(@softmax threads 32, @correction threads 32){{$}}
// CHECK-NEXT:  = fa4.barrier "o_full" slots(2) arrives(@softmax threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free{{$}}
// CHECK-NOT:   fa4.barrier
// CHECK:       fa4.init_barriers warp(0)

func.func @causal(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x8x128xf16>) lse(%lse : memref<1x8x1024xf32>) causal
  return
}

// Heads of a group share a tile: whole warpgroups meet.
// CHECK-LABEL: fa4.kernel @grouped_attention(
// CHECK-NOT:   fa4.barrier
// CHECK:       = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "s_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "stats_empty" slots(2) arrives(@correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_full" slots(2) arrives(@correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free{{$}}
// CHECK-NOT:   fa4.barrier
// CHECK:       fa4.init_barriers warp(0)

func.func @grouped(%q: memref<1x1024x32x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x32x128xf16>,
    %lse: memref<1x32x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x32x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x32x128xf16>) lse(%lse : memref<1x32x1024xf32>)
  return
}

// CHECK-LABEL: fa4.kernel @grouped_causal_attention(
// CHECK-NOT:   fa4.barrier
// CHECK:       = fa4.barrier "q_full" slots(2) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "kv_full" slots(3) arrives(@load bytes 32768){{$}}
// CHECK-NEXT:  = fa4.barrier "kv_empty" slots(3) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "s_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "stats" named slots(2) arrives(@softmax threads 128, @correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_full" slots(2) arrives(@softmax threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free{{$}}
// CHECK-NOT:   fa4.barrier
// CHECK:       fa4.init_barriers warp(0)

func.func @grouped_causal(%q: memref<1x1024x32x128xf16>, %k: memref<1x1024x8x128xf16>, %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x32x128xf16>,
    %lse: memref<1x32x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x32x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
      outs(%o : memref<1x1024x32x128xf16>) lse(%lse : memref<1x32x1024xf32>) causal
  return
}

// Head dimension 64: half the bytes, twice the slots.
// CHECK-LABEL: fa4.kernel @narrow_attention(
// CHECK-NOT:   fa4.barrier
// CHECK:       = fa4.barrier "q_full" slots(2) arrives(@load bytes 16384){{$}}
// CHECK-NEXT:  = fa4.barrier "q_empty" slots(2) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "kv_full" slots(6) arrives(@load bytes 16384){{$}}
// CHECK-NEXT:  = fa4.barrier "kv_empty" slots(6) arrives(@mma commit) initially_free{{$}}
// CHECK-NEXT:  = fa4.barrier "s_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "p_o_rescale" slots(2) arrives(@softmax threads 128, @correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "p_ready_2" slots(2) arrives(@softmax threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_ready" slots(2) arrives(@mma commit){{$}}
// CHECK-NEXT:  = fa4.barrier "stats" named slots(2) per_warp arrives(@softmax threads 32, @correction threads 32){{$}}
// CHECK-NEXT:  = fa4.barrier "stats_empty" slots(2) arrives(@correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_full" slots(2) arrives(@correction threads 128){{$}}
// CHECK-NEXT:  = fa4.barrier "o_empty" slots(2) arrives(@store threads 32) initially_free{{$}}
// CHECK-NOT:   fa4.barrier
// CHECK:       fa4.init_barriers warp(0)

func.func @narrow(%q: memref<1x1024x8x64xbf16>, %k: memref<1x1024x8x64xbf16>, %v: memref<1x1024x8x64xbf16>, %o: memref<1x1024x8x64xbf16>,
    %lse: memref<1x8x1024xf32>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x64xbf16>, memref<1x1024x8x64xbf16>, memref<1x1024x8x64xbf16>)
      outs(%o : memref<1x1024x8x64xbf16>) lse(%lse : memref<1x8x1024xf32>)
  return
}
