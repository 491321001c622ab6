// RUN: fa4-opt %s --allow-unregistered-dialect --fa4-materialize-phases --split-input-file --verify-diagnostics

// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The phase of a cursor is right for one wait on a barrier with every move.

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    // expected-note @below {{the other wait is here}}
    fa4.wait %full[%s]
    // expected-error @below {{'fa4.wait' op expected one wait on barrier "full" for each 'fa4.next' on ring "kv", but got another}}
    fa4.wait %full[%s]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %full[%s]
    }
    // expected-error @below {{'fa4.next' op expected a wait on barrier "full" in this block, as role @r waits for other slots of ring "kv"}}
    %t = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      // expected-note @below {{the 'fa4.next' is here}}
      %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.for_kv %j in rest(%m) {
        // expected-error @below {{'fa4.wait' op expected the wait on barrier "full" in the block of its 'fa4.next' on ring "kv"}}
        fa4.wait %full[%s]
      }
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// A wait before the loop does not excuse another in it.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      // expected-note @below {{the 'fa4.next' is here}}
      %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      fa4.wait %full[%s]
      fa4.for_kv %j in rest(%m) {
        // expected-error @below {{'fa4.wait' op expected the wait on barrier "full" in the block of its 'fa4.next' on ring "kv"}}
        fa4.wait %full[%s]
      }
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    fa4.for_task (%b, %h, %m) {
      // expected-error @below {{'fa4.next' op expected its wait on barrier "full" before a loop moves ring "kv" on}}
      %s = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
      // expected-note @below {{the loop is here}}
      fa4.for_kv %j in rest(%m) {
        %t = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
        fa4.wait %full[%t]
      }
      fa4.wait %full[%s]
    }
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}

// -----

// The fourth move gives the first slot again.
fa4.kernel @f(%q: memref<1x256x8x128xf16>, %k: memref<1x256x8x128xf16>, %v: memref<1x256x8x128xf16>, %o: memref<1x256x8x128xf16>)
    target(#fa4.target<sm_100a>) warps(8) scheduler(linear_persistent) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kv = fa4.alloc "kv" : !fa4.ring<3 x 128x128xf16, smem>
  %full = fa4.barrier "full" slots(3) arrives(@other commit)
  fa4.role @r warps(0 to 4) regs(48) {
    // expected-note @below {{an earlier 'fa4.next' that gave the slot is here}}
    %s0 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    %s1 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    %s2 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    %s3 = fa4.next %kv : !fa4.ring<3 x 128x128xf16, smem>
    fa4.wait %full[%s1]
    fa4.wait %full[%s2]
    // expected-error @below {{'fa4.wait' op expected waits on one slot of barrier "full" in the order of 'fa4.next' on ring "kv"}}
    fa4.wait %full[%s3]
    fa4.wait %full[%s0]
  }
  fa4.role @other warps(4 to 8) regs(48) {
  }
}
