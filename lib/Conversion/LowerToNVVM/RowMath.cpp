// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowMath.h"

using namespace mlir;
using namespace mlir::fa4;

/// 2^exponent, exponent < 0, on the FMA pipe: the special function unit is
/// what a row waits for most. Adding 1.5 * 2^23 rounds the exponent to an
/// integer in the low mantissa bits, which an integer addition puts into the
/// exponent of a polynomial in the rest. From 2^-127 down, for an old
/// reference of -inf too, the bits come out as 0, that is 0.0.
static Value getPower(ImplicitLocOpBuilder &b, Value exponent) {
  Location loc = b.getLoc();
  auto constant = [&](float value) { return f32Constant(b, loc, value); };
  Value shift = constant(12582912.0f);
  Value x = LLVM::MaxNumOp::create(b, exponent, constant(-127.0f));
  Value shifted = LLVM::FAddOp::create(b, x, shift);
  Value rest =
      LLVM::FSubOp::create(b, x, LLVM::FSubOp::create(b, shifted, shift));
  // Least relative error of degree 5 on [-1/2, 1/2] with a constant term of
  // exactly 1: below 1.6e-07.
  Value power = constant(0.0013264664448797703f);
  for (float coefficient : {0.009671512059867382f, 0.05550733953714371f,
                            0.24022242426872253f, 0.6931470036506653f, 1.0f})
    power = LLVM::FMAOp::create(b, rest, power, constant(coefficient));
  Value bits = LLVM::ShlOp::create(
      b, LLVM::BitcastOp::create(b, b.getI32Type(), shifted),
      i32Constant(b, loc, 23));
  bits = LLVM::AddOp::create(b, bits,
                             LLVM::BitcastOp::create(b, b.getI32Type(), power));
  return LLVM::BitcastOp::create(b, b.getF32Type(), bits);
}

Value mlir::fa4::getReferenceMoves(ImplicitLocOpBuilder &b, Value largest,
                                   Value old, float threshold) {
  Value limit =
      LLVM::FAddOp::create(b, old, f32Constant(b, b.getLoc(), threshold));
  // Unordered: NaN does not keep the reference, and so becomes the reference.
  return LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::ugt, largest, limit);
}

RowReference mlir::fa4::getRowReference(ImplicitLocOpBuilder &b, Value largest,
                                        Value old, float threshold) {
  Location loc = b.getLoc();
  Value one = f32Constant(b, loc, 1.0f);
  if (!old)
    return {largest, one};
  Value limit = LLVM::FAddOp::create(b, old, f32Constant(b, loc, threshold));
  // Ordered: NaN does not keep the reference, and so becomes the reference.
  Value keep =
      LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::ole, largest, limit);
  Value reference = LLVM::SelectOp::create(b, keep, old, largest);
  Value power = getPower(b, LLVM::FSubOp::create(b, old, largest));
  return {reference, LLVM::SelectOp::create(b, keep, one, power)};
}

Value mlir::fa4::getExp2Offset(ImplicitLocOpBuilder &b, Value reference) {
  Location loc = b.getLoc();
  Value zeroOrNaN = LLVM::FSubOp::create(b, reference, reference);
  Value negated = LLVM::FSubOp::create(b, zeroOrNaN, reference);
  Value nothing = LLVM::FCmpOp::create(
      b, LLVM::FCmpPredicate::oeq, reference,
      f32Constant(b, loc, -std::numeric_limits<float>::infinity()));
  return LLVM::SelectOp::create(b, nothing, f32Constant(b, loc, 0.0f), negated);
}

/// All but the last Sq - 1 - position. Neither the difference (a position is at
/// most a task's rows past Sq) nor the result leaves 32 bits. Rows past Sq see
/// what the last one sees.
Value mlir::fa4::getVisibleKeys(ImplicitLocOpBuilder &b,
                                const KernelLowering &kernel, Value position) {
  if (!position)
    return kernel.seqKv;
  Location loc = b.getLoc();
  Value zero = i32Constant(b, loc, 0);
  Value last = LLVM::AddOp::create(b, kernel.seqQ, i32Constant(b, loc, -1));
  Value hidden = LLVM::SubOp::create(b, last, position);
  hidden = LLVM::SMaxOp::create(b, hidden, zero);
  return LLVM::SMaxOp::create(b, LLVM::SubOp::create(b, kernel.seqKv, hidden),
                              zero);
}

Value mlir::fa4::getLogSumExp(ImplicitLocOpBuilder &b, Value reference,
                              Value sum) {
  Location loc = b.getLoc();
  Value log2 =
      callIntrinsic(b, "llvm.nvvm.lg2.approx.ftz.f", b.getF32Type(), sum);
  Value lse = LLVM::FMulOp::create(b, LLVM::FAddOp::create(b, reference, log2),
                                   f32Constant(b, loc, 0.693147180559945309f));
  Value nothing = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::oeq, sum,
                                       f32Constant(b, loc, 0.0f));
  Value minusInf = f32Constant(b, loc, -std::numeric_limits<float>::infinity());
  return LLVM::SelectOp::create(b, nothing, minusInf, lse);
}

Value mlir::fa4::getLsePointer(ImplicitLocOpBuilder &b,
                               const KernelLowering &kernel, Value base,
                               Value batch, Value tileHead, Value row,
                               Value position) {
  Location loc = b.getLoc();
  Value pack = i32Constant(b, loc, kernel.pack);
  Value inPack = LLVM::URemOp::create(b, row, pack);
  Value head =
      LLVM::AddOp::create(b, LLVM::MulOp::create(b, tileHead, pack), inPack);
  auto widen = [&](Value value) {
    return LLVM::ZExtOp::create(b, b.getI64Type(), value);
  };
  Value line = LLVM::MulOp::create(b, widen(batch), widen(kernel.queryHeads));
  line = LLVM::AddOp::create(b, line, widen(head));
  line = LLVM::MulOp::create(b, line, widen(kernel.seqQ));
  line = LLVM::AddOp::create(b, line, widen(position));
  auto global = LLVM::LLVMPointerType::get(b.getContext(), globalSpace);
  if (base.getType() != global)
    base = LLVM::AddrSpaceCastOp::create(b, global, base);
  return LLVM::GEPOp::create(b, global, b.getF32Type(), base,
                             ArrayRef<LLVM::GEPArg>{line});
}
