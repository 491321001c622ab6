// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The odd column goes into the upper half, which is the first operand.
// CHECK-LABEL: llvm.func @k(
// CHECK: %[[PAIR:.*]] = llvm.shufflevector
// CHECK: %[[ODD:.*]] = llvm.extractelement %[[PAIR]][%c1_i32{{.*}} : i32]
// CHECK: %[[EVEN:.*]] = llvm.extractelement %[[PAIR]][%c0_i32{{.*}} : i32]
// CHECK: llvm.inline_asm asm_dialect = att "cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f" %[[ODD]], %[[EVEN]] : (f32, f32) -> i32
// CHECK: llvm.inline_asm asm_dialect = att "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f"
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x2xf32>
      %y = fa4.convert %x : !fa4.fragment<128x2xf32> to !fa4.fragment<128x2xf16>
      %z = fa4.convert %x : !fa4.fragment<128x2xf32> to !fa4.fragment<128x2xbf16>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
