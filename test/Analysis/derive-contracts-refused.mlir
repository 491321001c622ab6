// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules whose contracts do not follow from their tile ops.

// RUN: split-file %s %t.dir
// RUN: fa4-opt %t.dir/attention.mlir --fa4-schedule-attention -o %t.mlir

// RUN: fa4-opt %t.mlir --pass-pipeline='builtin.module(fa4.kernel(fa4-materialize-phases))' | not fa4-opt --fa4-derive-contracts 2>&1 | FileCheck %s --check-prefix=PHASES
// PHASES: error: 'fa4.wait' op incomplete: expected waits in logical time: derive before --fa4-materialize-phases

// V is loaded where K is needed.
// RUN: sed -e 's/fa4.load %k\[/fa4.load %x[/; s/fa4.load %v\[/fa4.load %k[/; s/fa4.load %x\[/fa4.load %v[/' %t.mlir \
// RUN:   | not fa4-opt --fa4-derive-contracts -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=SWAPPED
// SWAPPED: error: 'fa4.mma' op

// K and V without a cursor.
// RUN: sed -e 's/%%kv\[%%slot[_0-9]*\]/%%kv[%%c0]/' %t.mlir \
// RUN:   | not fa4-opt --fa4-derive-contracts -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: error: 'fa4.mma' op incomplete: expected K or V in a ring that 'fa4.next' moves, in the order of its loads

// No tasks, and mailboxes outside of them.
// RUN: not fa4-opt %t.dir/once.mlir --fa4-derive-contracts -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: error: 'fa4.kernel' op incomplete: expected a loop over tasks, to derive contracts
// RUN: not fa4-opt %t.dir/outside.mlir --fa4-derive-contracts -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: error: 'fa4.collect' op incomplete: expected it in a loop over tasks, to derive contracts
// RUN: not fa4-opt %t.dir/crossed.mlir --fa4-derive-contracts -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=CROSSED
// CROSSED: error: 'fa4.collect' op expected the role to touch a tile in the order of the blocks, and within a block in that of the data
// CROSSED: note: this comes later, but the role does it earlier
// RUN: not fa4-opt %t.dir/cycle.mlir --fa4-derive-contracts -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=CYCLE
// CYCLE: error: 'fa4.collect' op expected roles whose orders of accesses agree, but each waits for another: @r stops here
// CYCLE: note: and @other here
// RUN: not fa4-opt %t.dir/uneven.mlir --fa4-derive-contracts -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: error: 'fa4.publish' op expected an order that one arrival and one wait a phase can give, but found none for "mail"[0] behind @other
// UNEVEN: note: the access that comes before is here

//--- attention.mlir
func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}

//--- once.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(4) scheduler(linear_persistent) {
  fa4.role @r warps(0 to 4) regs(48) {
  }
}

//--- outside.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %mail = fa4.alloc "mail" : !fa4.ring<1 x 128xf32, smem>
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %x = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
    }
    %y = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
    fa4.publish %y to %mail[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

//--- crossed.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %mail = fa4.alloc "mail" : !fa4.ring<1 x 128xf32, smem>
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %x = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.publish %x to %mail[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

//--- cycle.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %there = fa4.alloc "there" : !fa4.ring<1 x 128xf32, smem>
  %back = fa4.alloc "back" : !fa4.ring<1 x 128xf32, smem>
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %x = fa4.collect %back[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.publish %x to %there[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %x = fa4.collect %there[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
      fa4.publish %x to %back[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
    }
  }
}

//--- uneven.mlir
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %mail = fa4.alloc "mail" : !fa4.ring<1 x 128xf32, smem>
  %own = fa4.alloc "own" : !fa4.ring<1 x 128xf32, smem>
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%n, %h, %m) {
      fa4.for_kv %j in all(%m) {
        %x = fa4.collect %own[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
        fa4.publish %x to %mail[%c0] : !fa4.rows<128xf32>, !fa4.ring<1 x 128xf32, smem>
      }
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
    fa4.for_task (%n, %h, %m) {
      %x = fa4.collect %mail[%c0] : !fa4.ring<1 x 128xf32, smem> to !fa4.rows<128xf32>
    }
  }
}
