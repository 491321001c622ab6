// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The proof runs roles in the order of the text. That an arrival comes late there says
// nothing: @c may be quick, and then @a arrives twice before @b has once.

// RUN: split-file %s %t
// RUN: not fa4-opt %t/late.mlir --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s
// RUN: sed -e '/@c warps/,/^  }/d' %t/late.mlir > %t/rest.mlir
// RUN: sed -e '/cta_sync/r %t/c.mlir' %t/rest.mlir | not fa4-opt --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s
// CHECK: error: 'fa4.arrive' op expected the arrival of @a for phase 2 of barrier "z"[0] after phase 1, but it may be counted there: nothing orders it after 128 threads of @b

// Instances of one role meet others at one named barrier, one after another: each for its own phase.
// RUN: not fa4-opt %t/instances.mlir --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: 'fa4.collect' op race: @s (instance 1) reads "x"[0], but nothing orders it after the write by @r
// RUN: sed -e 's/%m\[%c1\]/%m[%c9]/; s/%m\[%c0\]/%m[%c1]/; s/%m\[%c9\]/%m[%c0]/; s/%go\[%c1\]/%go[%c0]/' %t/instances.mlir \
// RUN:   | not fa4-opt --fa4-verify-protocol -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: 'fa4.collect' op race: @s (instance 0) reads "x"[0], but nothing orders it after the write by @r

//--- late.mlir
fa4.kernel @k(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(16) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %z = fa4.barrier "z" slots(1) arrives(@a threads 1, @b threads 128)
  %x = fa4.barrier "x" slots(1) arrives(@a threads 1)
  %y = fa4.barrier "y" slots(1) arrives(@c threads 1)
  %w1 = fa4.barrier "w1" slots(1) arrives(@w threads 128)
  %own = fa4.barrier "own" named slots(1) arrives(@b threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @b warps(0 to 4) regs(48) {
    fa4.arrive %z[%c0]
    fa4.wait %x[%c0]
    fa4.wait %w1[%c0]
    fa4.wait %own[%c0]
    fa4.arrive %z[%c0]
  }
  fa4.role @a warps(4 to 5) regs(48) {
    fa4.arrive %z[%c0]
    fa4.arrive %x[%c0]
    fa4.wait %y[%c0]
    fa4.arrive %z[%c0]
  }
  fa4.role @c warps(5 to 6) regs(48) {
    fa4.arrive %y[%c0]
  }
  fa4.role @i warps(6 to 8) regs(48) {
  }
  fa4.role @w warps(8 to 12) regs(48) {
    fa4.wait %z[%c0]
    fa4.arrive %w1[%c0]
    fa4.wait %z[%c0]
  }
  fa4.role @i2 warps(12 to 16) regs(48) {
  }
}

//--- c.mlir
  fa4.role @c warps(5 to 6) regs(48) {
    fa4.arrive %y[%c0]
  }

//--- instances.mlir
fa4.kernel @k(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(12) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = fa4.alloc "x" : !fa4.ring<1 x 64xf32, smem>
  %named = fa4.barrier "named" named slots(1) arrives(@s threads 128, @r threads 128)
  %m = fa4.barrier "m" slots(2) arrives(@r threads 128)
  %go = fa4.barrier "go" slots(2) arrives(@s threads 128)
  fa4.init_barriers warp(0)
  fa4.cta_sync
  fa4.role @s(%i) warps(0 to 8) regs(48) {
    fa4.wait %m[%i]
    fa4.arrive %go[%i]
    fa4.wait %named[%c0]
    %y = fa4.collect %x[%c0] : !fa4.ring<1 x 64xf32, smem> to !fa4.rows<64xf32>
  }
  fa4.role @r warps(8 to 12) regs(48) {
    %z = fa4.fill 0.0 : !fa4.rows<64xf32, partial>
    fa4.publish %z to %x[%c0] : !fa4.rows<64xf32, partial>, !fa4.ring<1 x 64xf32, smem>
    fa4.arrive %m[%c1]
    fa4.wait %go[%c1]
    fa4.wait %named[%c0]
    fa4.arrive %m[%c0]
    fa4.publish %z to %x[%c0] : !fa4.rows<64xf32, partial>, !fa4.ring<1 x 64xf32, smem>
    fa4.wait %named[%c0]
  }
}
