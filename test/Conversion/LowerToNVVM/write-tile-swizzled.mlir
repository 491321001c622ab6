// RUN: fa4-opt %s --fa4-lower-to-nvvm | FileCheck %s

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Chunk c of row r lies at r * 128 + (c ^ r % 8) * 16 of its panel of 64 columns.
// Columns 0 to 16 are chunks 0 and 1 of panel 0; 88 to 104 are chunks 3 and 4 of
// panel 1, which begins 16384 bytes on.
// CHECK-LABEL: llvm.func @k(
// CHECK-COUNT-8: llvm.inline_asm {{.*}}"cvt.rn.f16x2.f32
// The thread is hidden from LLVM: no address is kept from task to task.
// CHECK: %[[THREAD:.*]] = llvm.inline_asm has_side_effects {{.*}}"mov.b32 $0, $1;"
// CHECK: %[[ROW:.*]] = llvm.shl %[[THREAD]], %c7_i32{{.*}} : i32
// CHECK: %[[PHASE:.*]] = llvm.and %[[THREAD]], %c7_i32{{.*}} : i32
// CHECK: %[[SHIFTED:.*]] = llvm.shl %[[PHASE]], %c4_i32{{.*}} : i32
// CHECK: %[[OFFSET:.*]] = llvm.or %[[ROW]], %[[SHIFTED]] : i32
// CHECK: arith.muli %{{.*}}, %c32768_i32
// CHECK: arith.addi %{{.*}}, %[[OFFSET]] : i32
// CHECK: arith.addi %{{.*}}, %c1024_i32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: llvm.xor %[[OFFSET]], %c16_i32{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %c1024_i32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: llvm.xor %{{.*}}, %c48_i32{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %c17408_i32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: llvm.xor %{{.*}}, %c64_i32{{.*}} : i32
// CHECK: arith.addi %{{.*}}, %c17408_i32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT: llvm.store
fa4.kernel @k(%q: memref<1x256x2x64xf16>, %k: memref<1x256x2x64xf16>,
               %v: memref<1x256x2x64xf16>, %o: memref<1x256x2x64xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  %s = fa4.alloc "s" at(0) : !fa4.ring<2 x 128x128xf32, tmem>
  %os = fa4.alloc "o_staging" at(1024) : !fa4.ring<2 x 128x128xf16, smem>
  fa4.tmem_acquire warp(0) columns(512)
  fa4.cta_sync
  fa4.role @r(%stage) warps(0 to 4) regs(128) {
    fa4.for_task (%b, %h, %m) {
      %x = fa4.read_tile %s[%stage] columns(0) : !fa4.ring<2 x 128x128xf32, tmem> to !fa4.fragment<128x16xf32>
      %y = fa4.convert %x : !fa4.fragment<128x16xf32> to !fa4.fragment<128x16xf16>
      fa4.write_tile %y, %os[%stage] columns(0) : !fa4.fragment<128x16xf16>, !fa4.ring<2 x 128x128xf16, smem>
      fa4.write_tile %y, %os[%stage] columns(88) : !fa4.fragment<128x16xf16>, !fa4.ring<2 x 128x128xf16, smem>
    }
  }
  fa4.cta_sync
  fa4.tmem_release warp(0)
}
