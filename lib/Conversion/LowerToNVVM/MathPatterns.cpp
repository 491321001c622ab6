// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Math on fragments that is short: scale, row_sum, convert, normalize.
//
#include "MathPatterns.h"
#include "InlineAsm.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

struct ScalePattern : KernelPattern<ScaleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScaleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value factor = createPairConstant(b, op.getFactor().convertToFloat());
    SmallVector<SmallVector<Value>> results(1);
    for (Value pair : adaptor.getInput())
      results.front().push_back(LLVM::FMulOp::create(b, pair, factor));
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
    SmallVector<Value> pairs;
    for (ValueRange fragment : adaptor.getFragments())
      llvm::append_range(pairs, fragment);
    // Four chains: an addition takes four cycles before the next can use it.
    SmallVector<Value> chains(ArrayRef(pairs).take_front(4));
    for (auto [index, pair] :
         llvm::enumerate(ArrayRef(pairs).drop_front(chains.size()))) {
      Value &chain = chains[index % chains.size()];
      chain = LLVM::FAddOp::create(b, chain, pair);
    }
    while (chains.size() > 1) {
      Value last = chains.pop_back_val();
      Value &chain = chains[(chains.size() - 1) / 2];
      chain = LLVM::FAddOp::create(b, chain, last);
    }
    Value sum = LLVM::FAddOp::create(b, getLow(b, chains.front()),
                                     getHigh(b, chains.front()));
    if (op.getOld())
      sum = LLVM::FMAOp::create(b, adaptor.getOld().front(),
                                adaptor.getFactor().front(), sum);
    rewriter.replaceOp(op, sum);
    return success();
  }
};

struct ConvertPattern : KernelPattern<ConvertOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ConvertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = op.getResult().getType().getElementType();
    SmallVector<SmallVector<Value>> results(1);
    for (Value pair : adaptor.getInput())
      results.front().push_back(
          createConvertPair(b, getHigh(b, pair), getLow(b, pair), element));
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct NormalizePattern : KernelPattern<NormalizeOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(NormalizeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value sum = adaptor.getSum().front();
    Value zero = f32Constant(b, op.getLoc(), 0.0f);
    Value nothing =
        LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::oeq, sum, zero);
    Value inverse = NVVM::RcpApproxFtzF32Op::create(b, b.getF32Type(), sum);
    Value inverses = createSplat(b, inverse);
    // An accumulator of a row without a key may hold NaN: choose, do not
    // multiply.
    Value zeros = createPairConstant(b, 0.0f);
    SmallVector<SmallVector<Value>> results(1);
    for (Value pair : adaptor.getInput()) {
      Value quotient = LLVM::FMulOp::create(b, pair, inverses);
      results.front().push_back(
          LLVM::SelectOp::create(b, nothing, zeros, quotient));
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void mlir::fa4::populateMathPatterns(const TypeConverter &converter,
                                     const KernelLowering &kernel,
                                     RewritePatternSet &patterns) {
  populateMaskPattern(converter, kernel, patterns);
  populateRowMaxPattern(converter, kernel, patterns);
  populateExp2Pattern(converter, kernel, patterns);
  patterns.add<ScalePattern, RowSumPattern, ConvertPattern, NormalizePattern>(
      converter, patterns.getContext(), kernel);
}
