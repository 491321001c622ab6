// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contracts that others imply get a remark, where it is asked for.

// The schedule without a causal mask does without nothing.
// RUN: fa4-opt %s --fa4-schedule-attention -o %t.mlir
// RUN: fa4-opt %t.mlir --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// NONE-NOT: {{.+}}

// With one, and contracts written by hand, the next scores are committed behind the product that waits for the
// correction role, which has read the mailbox by then.
// RUN: fa4-opt %S/Inputs/by-hand-causal.mlir --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=CAUSAL
// CAUSAL: remark: 'fa4.barrier' op redundant: the other contracts order all that barrier "stats_empty" orders
// CAUSAL-NOT: remark

// A second commit for the end of O: either of the two would do.
// RUN: sed -e 's/^\( *\)%o_ready = .*/&\n\1%o_done = fa4.barrier "o_done" slots(2) arrives(@mma commit)/' \
// RUN:   -e 's/^\( *fa4.\(wait\|arrive\)\) %o_ready\(.*\)/&\n\1 %o_done\3/' %t.mlir \
// RUN:   | fa4-opt --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: remark: 'fa4.barrier' op redundant: the other contracts order all that barrier "o_ready" orders
// TWICE: remark: 'fa4.barrier' op redundant: the other contracts order all that barrier "o_done" orders
// TWICE-NOT: remark

// Who waits for P knows that S was read.
// RUN: sed -e 's/^\( *\)%o_ready = .*/&\n\1%%free = fa4.barrier "s_free" slots(2) arrives(@softmax threads 128) initially_free/' \
// RUN:   -e 's/^\( *\)fa4.mma .* into %%s\[\(%c[01]\)\].*/\1fa4.wait %%free[\2]\n&/' \
// RUN:   -e 's/^\( *\)fa4.tmem_wait load/&\n\1fa4.arrive %%free[%%stage]/' \
// RUN:   -e '/@correction warps/,$ s/ *fa4.arrive %%free.*//' %t.mlir \
// RUN:   | fa4-opt --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=READ
// READ: remark: 'fa4.barrier' op redundant: the other contracts order all that barrier "s_free" orders
// READ-NOT: remark

// Another role that waits learns nothing.
// RUN: sed -e '/@correction warps/,/fa4.rescale .*c1/ s/^\( *\)fa4.wait %%stats\(.*\)/\1fa4.wait %%s_ready\2\n&/' %t.mlir \
// RUN:   | fa4-opt --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=WAITS
// WAITS: remark: 'fa4.wait' op redundant: the other contracts order all that the waits of @correction on barrier "s_ready" order
// WAITS: note: the barrier is here
// WAITS-NOT: remark

// Another role that arrives tells nothing.
// RUN: sed -e 's/"o_full" slots(2) arrives(/&@softmax threads 128, /' \
// RUN:   -e '/@softmax/,/@correction warps/ s/^\(    *\)fa4.publish %last.*/\1fa4.arrive %o_full[%%stage]\n&/' %t.mlir \
// RUN:   | fa4-opt --fa4-verify-protocol=redundancy -o %t.out.mlir 2>&1 | FileCheck %s --check-prefix=ARRIVALS
// ARRIVALS: remark: 'fa4.arrive' op redundant: the other contracts order all that the arrivals of @softmax on barrier "o_full" order
// ARRIVALS-NOT: remark

// Nothing is said unasked.
// RUN: fa4-opt %S/Inputs/by-hand-causal.mlir --fa4-verify-protocol -o %t.out.mlir 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE

func.func @attention(%q: memref<1x1024x8x128xf16>, %k: memref<1x1024x8x128xf16>,
                     %v: memref<1x1024x8x128xf16>, %o: memref<1x1024x8x128xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>, memref<1x1024x8x128xf16>)
                outs(%o : memref<1x1024x8x128xf16>)
  return
}
