// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// fa4.row_max: the reference of a row, and the factor that moving it takes.
//
#include "MathPatterns.h"
#include "RowMath.h"

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
    RowReference next = getRowReference(
        b, largest, op.getOld() ? adaptor.getOld().front() : Value(),
        op.getThreshold().convertToFloat());
    rewriter.replaceOp(op, {next.reference, next.factor});
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
};

} // namespace

void mlir::fa4::populateRowMaxPattern(const TypeConverter &converter,
                                      const KernelLowering &kernel,
                                      RewritePatternSet &patterns) {
  patterns.add<RowMaxPattern>(converter, patterns.getContext(), kernel);
}
