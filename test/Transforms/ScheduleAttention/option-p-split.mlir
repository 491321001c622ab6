// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments of P: the softmax role announces each, the MMA role multiplies each.
// One segment needs no second barrier.

// RUN: fa4-opt --fa4-schedule-attention="p-split=32" %s | FileCheck %s --check-prefix=THIRTY_TWO
// RUN: fa4-opt --fa4-schedule-attention="p-split=128" %s | FileCheck %s --check-prefix=WHOLE

// THIRTY_TWO: %[[P_O:[a-z0-9_]+]] = fa4.barrier "p_o_rescale"
// THIRTY_TWO: %[[P_2:[a-z0-9_]+]] = fa4.barrier "p_ready_2"
// THIRTY_TWO: fa4.role @softmax
// THIRTY_TWO: fa4.write_tile {{.*}} columns(0)
// THIRTY_TWO-NEXT: fa4.tmem_wait store
// THIRTY_TWO-NEXT: fa4.arrive %[[P_O]][
// THIRTY_TWO-NOT: fa4.arrive
// THIRTY_TWO: fa4.write_tile {{.*}} columns(96)
// THIRTY_TWO-NEXT: fa4.tmem_wait store
// THIRTY_TWO-NEXT: fa4.arrive %[[P_2]][
// THIRTY_TWO: fa4.role @mma
// THIRTY_TWO: fa4.wait %[[P_O]][
// THIRTY_TWO-NEXT: fa4.mma {{.*}} k(0 to 32) :
// THIRTY_TWO-NEXT: fa4.wait %[[P_2]][
// THIRTY_TWO-NEXT: fa4.mma {{.*}} k(32 to 128) :

// WHOLE-NOT: "p_ready_2"
// WHOLE: %[[P_O:[a-z0-9_]+]] = fa4.barrier "p_o_rescale"
// WHOLE-NOT: "p_ready_2"
// WHOLE: fa4.role @softmax
// WHOLE: fa4.write_tile {{.*}} columns(64)
// WHOLE-NOT: fa4.tmem_wait
// WHOLE: fa4.write_tile {{.*}} columns(96)
// WHOLE-NEXT: fa4.tmem_wait store
// WHOLE-NEXT: fa4.arrive %[[P_O]][
// WHOLE: fa4.role @mma
// WHOLE-NOT: k({{[0-9]+}} to
// WHOLE: %[[MORE:[a-z0-9_]+]] = fa4.for_kv
// WHOLE: fa4.wait %[[P_O]][
// WHOLE-NEXT: fa4.mma {{.*}} accumulate(%{{[a-z0-9_]+}}) :
// WHOLE: fa4.wait %[[P_O]][
// WHOLE-NEXT: fa4.mma {{.*}} accumulate(%{{[a-z0-9_]+}}) :
// WHOLE: fa4.wait %[[P_O]][
// WHOLE-NEXT: fa4.mma {{.*}} accumulate(%[[MORE]]) :
// WHOLE: fa4.role @load
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
