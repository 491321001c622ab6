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
    // By NVVM's name: upstream lowers the generic one to a libdevice call.
    Value rounded =
        callIntrinsic(b, "llvm.nvvm.ceil.f", b.getF32Type(), largest);
    Value one = f32Constant(b, loc, 1.0f);
    if (!op.getOld()) {
      rewriter.replaceOp(op, {rounded, one});
      return success();
    }
    Value old = adaptor.getOld().front();
    Value limit = LLVM::FAddOp::create(
        b, old, f32Constant(b, loc, op.getThreshold().convertToFloat()));
    // Ordered: NaN does not keep the reference, and so becomes the reference.
    Value keep =
        LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::ole, largest, limit);
    Value reference = LLVM::SelectOp::create(b, keep, old, rounded);
    Value factor =
        LLVM::SelectOp::create(b, keep, one, getPowerOfTwo(b, old, reference));
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

  /// 2^(old - reference), both integers and old < reference, made out of the
  /// bits: the special function unit is what a row waits for most. Adding 1.5 *
  /// 2^23 puts an integer into the low mantissa bits; 127 more, moved into the
  /// exponent, make the power. From 2^-127 down, and for an old reference of
  /// -inf, the bits come out as 0, that is 0.0.
  static Value getPowerOfTwo(ImplicitLocOpBuilder &b, Value old,
                             Value reference) {
    Location loc = b.getLoc();
    Value difference = LLVM::FSubOp::create(b, old, reference);
    difference =
        LLVM::MaxNumOp::create(b, difference, f32Constant(b, loc, -127.0f));
    Value shifted =
        LLVM::FAddOp::create(b, difference, f32Constant(b, loc, 12582912.0f));
    Value bits = LLVM::BitcastOp::create(b, b.getI32Type(), shifted);
    bits = LLVM::AddOp::create(b, bits, i32Constant(b, loc, 127));
    bits = LLVM::ShlOp::create(b, bits, i32Constant(b, loc, 23));
    return LLVM::BitcastOp::create(b, b.getF32Type(), bits);
  }
};

} // namespace

void mlir::fa4::populateRowMaxPattern(const TypeConverter &converter,
                                      const KernelLowering &kernel,
                                      RewritePatternSet &patterns) {
  patterns.add<RowMaxPattern>(converter, patterns.getContext(), kernel);
}
