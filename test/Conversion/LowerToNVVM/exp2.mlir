// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The last of every 4 pairs by polynomial, the others on the special function unit.
// A reference of -inf subtracts nothing; one of +inf or NaN makes the row NaN.
// CHECK-LABEL: llvm.func @mixed(
// CHECK: %[[REFERENCE:.*]] = llvm.load
// CHECK: %[[ZERO_OR_NAN:.*]] = llvm.fsub %[[REFERENCE]], %[[REFERENCE]] : f32
// CHECK: %[[NEGATED:.*]] = llvm.fsub %[[ZERO_OR_NAN]], %[[REFERENCE]] : f32
// CHECK: %[[INFINITE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[NOTHING:.*]] = llvm.fcmp "oeq" %[[REFERENCE]], %[[INFINITE]] : f32
// CHECK: llvm.select %[[NOTHING]], %{{.*}}, %[[NEGATED]] : i1, f32
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK: %[[EXPONENT:.*]] = llvm.intr.fma
// CHECK-NOT: ex2
// CHECK: %[[X:.*]] = llvm.intr.maxnum(%[[EXPONENT]], %{{.*}}) : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>
// CHECK: llvm.inline_asm asm_dialect = att "add.rm.ftz.f32x2 $0, $1, $2;", "=l,l,l"
// CHECK: %[[SHIFTED:.*]] = llvm.bitcast %{{.*}} : i64 to vector<2xf32>
// CHECK: %[[FLOOR:.*]] = llvm.fsub %[[SHIFTED]], %{{.*}} : vector<2xf32>
// CHECK: %[[Y:.*]] = llvm.fsub %[[X]], %[[FLOOR]] : vector<2xf32>
// CHECK-COUNT-3: llvm.intr.fma(%[[Y]]
// CHECK: llvm.shl %{{.*}} : vector<2xi32>
// CHECK: llvm.add %{{.*}} : vector<2xi32>
// CHECK-NOT: ex2
fa4.kernel @mixed(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x8xf32>
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %y = fa4.exp2 %x minus %row scale(0.125) poly(1 of 4) : !fa4.fragment<128x8xf32>, !fa4.rows<128xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

// No special function in the fragment: NaN is carried by the first pair.
// CHECK-LABEL: llvm.func @polynomial(
// CHECK: %[[OFFSET:.*]] = llvm.select
// CHECK-COUNT-2: "add.rm.ftz.f32x2 $0, $1, $2;"
// CHECK: llvm.add %{{.*}} : vector<2xi32>
// CHECK: llvm.fsub %[[OFFSET]], %[[OFFSET]] : f32
// CHECK: llvm.fadd %{{.*}} : vector<2xf32>
fa4.kernel @polynomial(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %mail = fa4.alloc "mail" at(4096) : !fa4.ring<2 x 128xf32, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x4xf32>
      %row = fa4.collect %mail[%stage] : !fa4.ring<2 x 128xf32, smem> to !fa4.rows<128xf32>
      %y = fa4.exp2 %x minus %row scale(0.125) poly(1 of 1) : !fa4.fragment<128x4xf32>, !fa4.rows<128xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
