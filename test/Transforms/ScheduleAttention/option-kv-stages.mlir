// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slots of the K/V ring: storage, contracts and the load role's last waits agree.

// RUN: fa4-opt --fa4-schedule-attention="kv-stages=2" %s | FileCheck %s --check-prefix=TWO
// RUN: fa4-opt --fa4-schedule-attention="kv-stages=8" %s | FileCheck %s --check-prefix=EIGHT

// TWO: fa4.alloc "kv" : !fa4.ring<2 x 128x64xf16, smem>
// TWO: fa4.barrier "kv_full" slots(2)
// TWO: fa4.barrier "kv_empty" slots(2)
// TWO: fa4.role @load
// TWO: in rest(
// TWO: {{^      }}}
// TWO-COUNT-2: fa4.next
// TWO-NOT: fa4.next
// TWO: fa4.role @store

// EIGHT: fa4.alloc "kv" : !fa4.ring<8 x 128x64xf16, smem>
// EIGHT: fa4.barrier "kv_full" slots(8)
// EIGHT: fa4.barrier "kv_empty" slots(8)
// EIGHT: fa4.role @load
// EIGHT: in rest(
// EIGHT: {{^      }}}
// EIGHT-COUNT-8: fa4.next
// EIGHT-NOT: fa4.next
// EIGHT: fa4.role @store
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
