// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Register budgets of the roles.

// RUN: fa4-opt --fa4-schedule-attention="softmax-registers=192 correction-registers=80 other-registers=48" %s | FileCheck %s --check-prefix=CHECK

// CHECK: fa4.role @softmax({{.*}}) warps(0 to 8) regs(192)
// CHECK: fa4.role @correction warps(8 to 12) regs(80)
// CHECK: fa4.role @mma warps(12 to 13) regs(48)
// CHECK: fa4.role @load warps(13 to 14) regs(48)
// CHECK: fa4.role @store warps(14 to 15) regs(48)
// CHECK: fa4.role @idle warps(15 to 16) regs(48)
func.func @f(%q: memref<1x256x8x64xf16>, %k: memref<1x256x8x64xf16>, %v: memref<1x256x8x64xf16>,
    %o: memref<1x256x8x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x256x8x64xf16>, memref<1x256x8x64xf16>, memref<1x256x8x64xf16>)
      outs(%o : memref<1x256x8x64xf16>)
  return
}
