// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first block is masked where it may be partial; whole blocks never are.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @whole_attention(
// CHECK:         fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// CHECK:           fa4.for_task (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[M:[a-z0-9_]+]])
// CHECK-NOT:         fa4.mask
// CHECK:         fa4.role @correction
func.func @whole(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @one_block_attention(
// CHECK:         fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// CHECK:           fa4.for_task (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[M:[a-z0-9_]+]])
// CHECK-NOT:         fa4.mask
// CHECK:         fa4.role @correction
func.func @one_block(%q: memref<1x256x8x64xf16>, %k: memref<1x128x8x64xf16>, %v: memref<1x128x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x128x8x64xf16>, memref<1x128x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @tail_attention(
// CHECK:         fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// CHECK:           fa4.for_task (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[M:[a-z0-9_]+]])
// CHECK-NEXT:        %[[FIRST:[a-z0-9_]+]] = fa4.first_kv %[[M]]
// CHECK:             fa4.tmem_wait load
// CHECK-NEXT:        %[[X0:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(0) :
// CHECK-NEXT:        %[[X1:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(32) :
// CHECK-NEXT:        %[[X2:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(64) :
// CHECK-NEXT:        %[[X3:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(96) :
// CHECK-NEXT:        fa4.row_max %[[X0]], %[[X1]], %[[X2]], %[[X3]] scale(
// CHECK:             in rest(%[[M]])
// CHECK-NOT:         fa4.mask
// CHECK:         fa4.role @correction
func.func @tail(%q: memref<1x256x8x64xf16>, %k: memref<1x1000x8x64xf16>, %v: memref<1x1000x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x1000x8x64xf16>, memref<1x1000x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @one_key_attention(
// CHECK:         fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// CHECK:           fa4.for_task (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[M:[a-z0-9_]+]])
// CHECK-NEXT:        %[[FIRST:[a-z0-9_]+]] = fa4.first_kv %[[M]]
// CHECK:             fa4.tmem_wait load
// CHECK-NEXT:        %[[X0:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(0) :
// CHECK-NEXT:        %[[X1:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(32) :
// CHECK-NEXT:        %[[X2:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(64) :
// CHECK-NEXT:        %[[X3:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(96) :
// CHECK-NEXT:        fa4.row_max %[[X0]], %[[X1]], %[[X2]], %[[X3]] scale(
// CHECK:             in rest(%[[M]])
// CHECK-NOT:         fa4.mask
// CHECK:         fa4.role @correction
func.func @one_key(%q: memref<1x256x8x64xf16>, %k: memref<1x1x8x64xf16>, %v: memref<1x1x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x1x8x64xf16>, memref<1x1x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @no_key_attention(
// CHECK:         fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// CHECK:           fa4.for_task (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[M:[a-z0-9_]+]])
// CHECK-NEXT:        %[[FIRST:[a-z0-9_]+]] = fa4.first_kv %[[M]]
// CHECK:             fa4.tmem_wait load
// CHECK-NEXT:        %[[X0:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(0) :
// CHECK-NEXT:        %[[X1:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(32) :
// CHECK-NEXT:        %[[X2:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(64) :
// CHECK-NEXT:        %[[X3:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(96) :
// CHECK-NEXT:        fa4.row_max %[[X0]], %[[X1]], %[[X2]], %[[X3]] scale(
// CHECK:             in rest(%[[M]])
// CHECK-NOT:         fa4.mask
// CHECK:         fa4.role @correction
func.func @no_key(%q: memref<1x256x8x64xf16>, %k: memref<1x0x8x64xf16>, %v: memref<1x0x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x0x8x64xf16>, memref<1x0x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// CHECK-LABEL: fa4.kernel @dynamic_attention(
// CHECK:         fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// CHECK:           fa4.for_task (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[M:[a-z0-9_]+]])
// CHECK-NEXT:        %[[FIRST:[a-z0-9_]+]] = fa4.first_kv %[[M]]
// CHECK:             fa4.tmem_wait load
// CHECK-NEXT:        %[[X0:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(0) :
// CHECK-NEXT:        %[[X1:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(32) :
// CHECK-NEXT:        %[[X2:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(64) :
// CHECK-NEXT:        %[[X3:[a-z0-9_]+]] = fa4.mask %{{[a-z0-9_]+}}[%[[M]], %[[STAGE]], %[[FIRST]]] columns(96) :
// CHECK-NEXT:        fa4.row_max %[[X0]], %[[X1]], %[[X2]], %[[X3]] scale(
// CHECK:             in rest(%[[M]])
// CHECK-NOT:         fa4.mask
// CHECK:         fa4.role @correction
func.func @dynamic(%q: memref<1x256x8x64xf16>, %k: memref<1x?x8x64xf16>, %v: memref<1x?x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x?x8x64xf16>, memref<1x?x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// Known from V alone.
// CHECK-LABEL: fa4.kernel @known_by_v_attention(
// CHECK:         fa4.role @softmax(%[[STAGE:[a-z0-9_]+]])
// CHECK:           fa4.for_task (%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[M:[a-z0-9_]+]])
// CHECK-NOT:         fa4.mask
// CHECK:         fa4.role @correction
func.func @known_by_v(%q: memref<1x256x8x64xf16>, %k: memref<1x?x8x64xf16>,
    %v: memref<1x256x8x64xf16>, %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x?x8x64xf16>,
                    memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}

// Under a causal mask whatever the length: the diagonal crosses the first block.
// CHECK-LABEL: fa4.kernel @causal_attention(
// CHECK:         fa4.role @softmax
// CHECK-COUNT-4:   fa4.mask
// CHECK-NOT:       fa4.mask
// CHECK:           in rest_masked(
// CHECK-COUNT-4:   fa4.mask
// CHECK-NOT:       fa4.mask
// CHECK:           in rest_unmasked(
// CHECK-NOT:       fa4.mask
// CHECK:         fa4.role @correction
func.func @causal(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>) causal
  return
}
