// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loops over the lanes of a warp. Registers of a warp lie side by side, so a
// full mask becomes one vectorised loop.

#ifndef PTXSIM_LIB_LANEWISE_H
#define PTXSIM_LIB_LANEWISE_H

#include "Decoder.h"
#include "Machine.h"

namespace ptxsim {

// A destination is either one of the sources or disjoint from it, so the
// iterations are independent.
#if defined(__clang__)
#define PTXSIM_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define PTXSIM_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

template <class D, class A, class F>
Step unary(Warp &w, const Op &op, uint32_t mask) {
  D *d = w.reg<D>(op.d);
  const A *a = w.reg<A>(op.a);
  if (mask == ~0u) {
    PTXSIM_VECTOR_LOOP
    for (unsigned i = 0; i < 32; ++i)
      d[i] = F::apply(a[i]);
  } else {
    forLanes(mask, [&](unsigned i) { d[i] = F::apply(a[i]); });
  }
  return Step::Next;
}

template <class D, class A, class B, class F>
Step binary(Warp &w, const Op &op, uint32_t mask) {
  D *d = w.reg<D>(op.d);
  const A *a = w.reg<A>(op.a);
  const B *b = w.reg<B>(op.b);
  if (mask == ~0u) {
    PTXSIM_VECTOR_LOOP
    for (unsigned i = 0; i < 32; ++i)
      d[i] = F::apply(a[i], b[i]);
  } else {
    forLanes(mask, [&](unsigned i) { d[i] = F::apply(a[i], b[i]); });
  }
  return Step::Next;
}

template <class D, class A, class B, class C, class F>
Step ternary(Warp &w, const Op &op, uint32_t mask) {
  D *d = w.reg<D>(op.d);
  const A *a = w.reg<A>(op.a);
  const B *b = w.reg<B>(op.b);
  const C *c = w.reg<C>(op.c);
  if (mask == ~0u) {
    PTXSIM_VECTOR_LOOP
    for (unsigned i = 0; i < 32; ++i)
      d[i] = F::apply(a[i], b[i], c[i]);
  } else {
    forLanes(mask, [&](unsigned i) { d[i] = F::apply(a[i], b[i], c[i]); });
  }
  return Step::Next;
}

/// Takes operands d, a, ... of one type.
inline bool takeOperands(Decoder &d, Type type, unsigned sources) {
  if (!d.expectOps(1 + sources))
    return false;
  d.op.d = d.dst(d.operand(0), type);
  d.op.a = d.src(d.operand(1), type);
  if (sources > 1)
    d.op.b = d.src(d.operand(2), type);
  if (sources > 2)
    d.op.c = d.src(d.operand(3), type);
  return d.ok();
}

/// Offset of the carry flag, a predicate below the first register.
constexpr uint32_t kCarry = 512;

enum class FloatOp : uint8_t { Add, Sub, Mul, Fma, Neg, Abs, Min, Max };
/// Floating-point forms of mnemonics that integers share (FloatOps.cpp).
bool decodeFloatArithmetic(Decoder &d, Type type, FloatOp what);

} // namespace ptxsim

#endif // PTXSIM_LIB_LANEWISE_H
