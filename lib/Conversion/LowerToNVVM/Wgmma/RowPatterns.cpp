// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Values of rows that four threads share: row_max, row_sum, row_total.
//
#include "../RowMath.h"
#include "Layout.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

using Combine = llvm::function_ref<Value(Value, Value)>;

/// Combines in four chains, so that one's latency does not add up over a row.
Value combineAll(ArrayRef<Value> values, Combine combine) {
  SmallVector<Value> chains(values.take_front(4));
  for (auto [index, value] :
       llvm::enumerate(values.drop_front(chains.size()))) {
    Value &chain = chains[index % chains.size()];
    chain = combine(chain, value);
  }
  while (chains.size() > 1) {
    Value last = chains.pop_back_val();
    Value &chain = chains[(chains.size() - 1) / 2];
    chain = combine(chain, last);
  }
  return chains.front();
}

/// The elements of row `row` over fragments.
SmallVector<Value> getRow(ArrayRef<ValueRange> fragments, int64_t row) {
  SmallVector<Value> elements;
  for (ValueRange fragment : fragments)
    for (auto [index, value] : llvm::enumerate(fragment))
      if (wgmma::rowOf(index) == row)
        elements.push_back(value);
  return elements;
}

/// Combines what the four threads of a row hold; all of them get the result.
Value combineQuad(ImplicitLocOpBuilder &b, Value value, Combine combine) {
  for (int64_t mask : {1, 2})
    value = combine(value, wgmma::exchange(b, value, mask));
  return value;
}

struct RowMaxPattern : KernelPattern<RowMaxOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RowMaxOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value scale = f32Constant(b, op.getLoc(), op.getScale().convertToFloat());
    auto max = [&](Value lhs, Value rhs) -> Value {
      return LLVM::MaximumOp::create(b, lhs, rhs);
    };
    SmallVector<SmallVector<Value>> results(2);
    for (int64_t row = 0; row < wgmma::kRows; ++row) {
      Value largest = combineQuad(
          b, combineAll(getRow(adaptor.getFragments(), row), max), max);
      largest = LLVM::FMulOp::create(b, largest, scale);
      Value old = op.getOld() ? adaptor.getOld()[row] : Value();
      RowReference next =
          getRowReference(b, largest, old, op.getThreshold().convertToFloat());
      results[0].push_back(next.reference);
      results[1].push_back(next.factor);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct RowSumPattern : KernelPattern<RowSumOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RowSumOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto add = [&](Value lhs, Value rhs) -> Value {
      return LLVM::FAddOp::create(b, lhs, rhs);
    };
    SmallVector<SmallVector<Value>> results(1);
    for (int64_t row = 0; row < wgmma::kRows; ++row) {
      Value sum = combineAll(getRow(adaptor.getFragments(), row), add);
      if (op.getOld())
        sum = LLVM::FMAOp::create(b, adaptor.getOld()[row],
                                  adaptor.getFactor()[row], sum);
      results.front().push_back(sum);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct RowTotalPattern : KernelPattern<RowTotalOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RowTotalOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<SmallVector<Value>> results(1);
    for (Value partial : adaptor.getPartial())
      results.front().push_back(
          combineQuad(b, partial, [&](Value lhs, Value rhs) -> Value {
            return LLVM::FAddOp::create(b, lhs, rhs);
          }));
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void wgmma::populateRowPatterns(const TypeConverter &converter,
                                const KernelLowering &kernel,
                                RewritePatternSet &patterns) {
  patterns.add<RowMaxPattern, RowSumPattern, RowTotalPattern>(
      converter, patterns.getContext(), kernel);
}
