// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where kernels and launches go: in loops and branches, and for several attentions.

// RUN: fa4-opt --fa4-schedule-attention %s | FileCheck %s

// CHECK-LABEL: fa4.kernel @nested_attention(
// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        fa4.launch @nested_attention(
// CHECK-NEXT:      } else {
// CHECK-NEXT:        scf.while
// CHECK:             fa4.launch @nested_attention(
func.func @nested(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
          outs(%o : memref<1x64x2x64xf16>)
    } else {
      scf.while : () -> () {
        scf.condition(%c)
      } do {
        fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
            outs(%o : memref<1x64x2x64xf16>)
        scf.yield
      }
    }
  }
  return
}

// Equal types and attributes share a kernel, from whatever function; a mask or a
// scale of its own needs a kernel of its own.
// CHECK-NOT:   fa4.kernel
// CHECK-LABEL: fa4.kernel @several_attention(
// CHECK-SAME:    causal
// CHECK-LABEL: fa4.kernel @several_attention_0(
// CHECK-LABEL: func.func @several(
// CHECK-NEXT:    fa4.launch @nested_attention(%[[Q:[a-z0-9]+]],
// CHECK-NEXT:    fa4.launch @several_attention(%[[Q]],
// CHECK-NEXT:    fa4.launch @several_attention_0(%[[Q]],
// CHECK-NEXT:    fa4.launch @several_attention_0(%[[P:[a-z0-9]+]],
// CHECK-NEXT:    return
func.func @several(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>, %p: memref<1x64x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>)
  fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>) causal
  fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>) scale(2.0)
  fa4.attention ins(%p, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>) scale(2.0)
  return
}

// The default scale, spelled out, is the default scale.
// CHECK-NOT:   fa4.kernel
// CHECK-LABEL: func.func @spelled_out(
// CHECK-NEXT:    fa4.launch @nested_attention(
func.func @spelled_out(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>) scale(0.125)
  return
}

// A name that is taken is not taken again.
func.func private @taken_attention()
// CHECK:       fa4.kernel @[[TAKEN:taken_attention_[0-9]+]](
// CHECK:       func.func @taken(
// CHECK-NEXT:    fa4.launch @[[TAKEN]](
func.func @taken(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>) scale(3.0)
  return
}

// A module's kernels are its own.
// CHECK-LABEL: module @inner
// CHECK-LABEL: fa4.kernel @inside_attention(
// CHECK-LABEL: func.func @inside(
// CHECK-NEXT:    fa4.launch @inside_attention(
module @inner {
func.func @inside(%q: memref<1x64x2x64xf16>, %k: memref<1x64x2x64xf16>, %v: memref<1x64x2x64xf16>, %o: memref<1x64x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x64x2x64xf16>, memref<1x64x2x64xf16>, memref<1x64x2x64xf16>)
      outs(%o : memref<1x64x2x64xf16>)
  return
}
}

// Nothing to write: no kernel, no launch.
// CHECK-LABEL: func.func @empty_result(
// CHECK-NEXT:    return
func.func @empty_result(%q: memref<1x0x2x64xf16>, %k: memref<1x64x2x64xf16>,
    %v: memref<1x64x2x64xf16>, %o: memref<1x0x2x64xf16>) {
  fa4.attention ins(%q, %k, %v : memref<1x0x2x64xf16>, memref<1x64x2x64xf16>,
                    memref<1x64x2x64xf16>)
      outs(%o : memref<1x0x2x64xf16>)
  return
}
