// RUN: fa4-opt %s --split-input-file --fa4-lower-to-nvvm --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.read_tile' op expected a fragment with an even number of columns, but got '!fa4.fragment<128x1xf32>'}}
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x1xf32>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}

// -----

fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %os = fa4.alloc "narrow" at(1024) : !fa4.ring<2 x 128x32xf16, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x16xf32>
      %y = fa4.convert %x : !fa4.fragment<128x16xf32> to !fa4.fragment<128x16xf16>
      // expected-error @below {{'fa4.write_tile' op expected a tile in shared memory with rows of whole 128-byte panels, but got '!fa4.ring<2 x 128x32xf16, smem>'}}
      fa4.write_tile %y, %os[%stage] columns(0) : !fa4.fragment<128x16xf16>, !fa4.ring<2 x 128x32xf16, smem>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
