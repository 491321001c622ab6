// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// fa4.mask: -inf for the logits of hidden keys.
//
// The visible keys of a row are a prefix, in the causal case too. The prefix
// becomes a bit mask of 32 columns at a time, because one instruction then
// turns 7 or 8 of its bits into predicates, where a comparison makes one.
//
#include "InlineAsm.h"
#include "MathPatterns.h"
#include "RowMath.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

struct MaskPattern : KernelPattern<MaskOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MaskOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Location loc = op.getLoc();
    Value first =
        LLVM::MulOp::create(b, toI32(b, loc, adaptor.getKvBlock().front()),
                            i32Constant(b, loc, kernel.tileKeys));
    Value limit = LLVM::SubOp::create(b, getVisible(b, adaptor), first);
    SmallVector<SmallVector<Value>> results(1);
    ValueRange pairs = adaptor.getInput();
    for (size_t index = 0; index < pairs.size(); index += 16) {
      size_t count = std::min<size_t>(16, pairs.size() - index);
      int64_t column = op.getColumn() + 2 * index;
      Value visible = limit;
      if (column != 0)
        visible = LLVM::AddOp::create(b, limit, i32Constant(b, loc, -column));
      maskColumns(b, pairs.slice(index, count), visible, results.front());
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  Value getVisible(ImplicitLocOpBuilder &b, OneToNOpAdaptor adaptor) const {
    Location loc = b.getLoc();
    Value position;
    if (kernel.causal)
      position =
          getPosition(b, kernel, toI32(b, loc, adaptor.getMBlock().front()),
                      toI32(b, loc, adaptor.getStage().front()));
    return getVisibleKeys(b, kernel, position);
  }

  /// Masks at most 32 columns, of which the first `visible` (any i32) stay.
  void maskColumns(ImplicitLocOpBuilder &b, ValueRange pairs, Value visible,
                   SmallVectorImpl<Value> &results) const {
    Location loc = b.getLoc();
    Value zero = i32Constant(b, loc, 0);
    Value minusInf =
        f32Constant(b, loc, -std::numeric_limits<float>::infinity());
    Value ones = i32Constant(b, loc, -1);
    Value hidden =
        createShiftLeft(b, ones, LLVM::SMaxOp::create(b, visible, zero));
    Value bits = LLVM::XOrOp::create(b, hidden, ones);
    auto select = [&](Value element, int64_t column) -> Value {
      Value bit = LLVM::AndOp::create(
          b, bits, i32Constant(b, loc, int64_t(1) << column));
      Value keep = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, bit, zero);
      return LLVM::SelectOp::create(b, keep, element, minusInf);
    };
    for (auto [index, pair] : llvm::enumerate(pairs)) {
      Value low = select(getLow(b, pair), 2 * index);
      Value high = select(getHigh(b, pair), 2 * index + 1);
      results.push_back(createPair(b, low, high));
    }
  }
};

} // namespace

void mlir::fa4::populateMaskPattern(const TypeConverter &converter,
                                    const KernelLowering &kernel,
                                    RewritePatternSet &patterns) {
  patterns.add<MaskPattern>(converter, patterns.getContext(), kernel);
}
