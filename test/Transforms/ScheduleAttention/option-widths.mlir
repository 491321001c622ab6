// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many columns a role handles at a time.

// RUN: fa4-opt --fa4-schedule-attention="fragment-width=16" %s | FileCheck %s --check-prefix=SIXTEEN
// RUN: fa4-opt --fa4-schedule-attention="fragment-width=64 p-split=64" %s | FileCheck %s --check-prefix=SIXTY_FOUR
// RUN: fa4-opt --fa4-schedule-attention="epilogue-chunk=16 rescale-chunk=8" %s | FileCheck %s --check-prefix=CHUNKS

// SIXTEEN: fa4.role @softmax
// SIXTEEN-COUNT-8: fa4.read_tile {{.*}} to !fa4.fragment<128x16xf32>
// SIXTEEN-NEXT: fa4.tmem_wait load
// SIXTEEN: fa4.write_tile {{.*}} columns(80)
// SIXTEEN-NEXT: fa4.tmem_wait store
// SIXTEEN: fa4.write_tile {{.*}} columns(112)
// SIXTEEN-NEXT: fa4.tmem_wait store

// SIXTY_FOUR: fa4.role @softmax
// SIXTY_FOUR-COUNT-2: fa4.read_tile {{.*}} to !fa4.fragment<128x64xf32>
// SIXTY_FOUR-NEXT: fa4.tmem_wait load
// SIXTY_FOUR: fa4.row_max %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} scale(

// CHUNKS: fa4.role @correction
// CHUNKS-COUNT-2: fa4.rescale {{.*}} chunk(8) :
// CHUNKS-COUNT-8: fa4.read_tile {{.*}} to !fa4.fragment<128x16xf32>
// CHUNKS-NOT: fa4.read_tile
// CHUNKS: fa4.role @mma
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
