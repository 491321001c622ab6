// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// fa4.row_max: the reference of a row, and the factor that moving it takes.
//
#include "MathPatterns.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

struct RowMaxPattern : KernelPattern<RowMaxOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RowMaxOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Location loc = op.getLoc();
    SmallVector<Value> elements;
    for (ValueRange fragment : adaptor.getFragments())
      for (Value pair : fragment)
        elements.append({getLow(b, pair), getHigh(b, pair)});
    Value largest = LLVM::FMulOp::create(
        b, getLargest(b, elements),
        f32Constant(b, loc, op.getScale().convertToFloat()));
    Value one = f32Constant(b, loc, 1.0f);
    if (!op.getOld()) {
      rewriter.replaceOp(op, {largest, one});
      return success();
    }
    Value old = adaptor.getOld().front();
    Value limit = LLVM::FAddOp::create(
        b, old, f32Constant(b, loc, op.getThreshold().convertToFloat()));
    // Ordered: NaN does not keep the reference, and so becomes the reference.
    Value keep =
        LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::ole, largest, limit);
    Value reference = LLVM::SelectOp::create(b, keep, old, largest);
    Value power = getPower(b, LLVM::FSubOp::create(b, old, largest));
    Value factor = LLVM::SelectOp::create(b, keep, one, power);
    rewriter.replaceOp(op, {reference, factor});
    return success();
  }

private:
  /// The largest element, NaN if one is. Two nested maxima become one
  /// instruction of three operands; four chains keep the latency of one off the
  /// row.
  static Value getLargest(ImplicitLocOpBuilder &b, ArrayRef<Value> elements) {
    constexpr size_t chains = 4;
    auto max = [&](Value lhs, Value rhs) -> Value {
      return LLVM::MaximumOp::create(b, lhs, rhs);
    };
    SmallVector<Value> largest;
    size_t each = llvm::divideCeil(elements.size(), chains);
    for (; !elements.empty();
         elements = elements.drop_front(std::min(each, elements.size()))) {
      ArrayRef<Value> rest = elements.take_front(each);
      Value chain = rest.front();
      rest = rest.drop_front();
      if (rest.size() % 2 != 0) {
        chain = max(chain, rest.front());
        rest = rest.drop_front();
      }
      for (; !rest.empty(); rest = rest.drop_front(2))
        chain = max(max(rest[0], rest[1]), chain);
      largest.push_back(chain);
    }
    Value result = largest.front();
    for (Value chain : ArrayRef(largest).drop_front())
      result = max(result, chain);
    return result;
  }

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
    bits = LLVM::AddOp::create(
        b, bits, LLVM::BitcastOp::create(b, b.getI32Type(), power));
    return LLVM::BitcastOp::create(b, b.getF32Type(), bits);
  }
};

} // namespace

void mlir::fa4::populateRowMaxPattern(const TypeConverter &converter,
                                      const KernelLowering &kernel,
                                      RewritePatternSet &patterns) {
  patterns.add<RowMaxPattern>(converter, patterns.getContext(), kernel);
}
