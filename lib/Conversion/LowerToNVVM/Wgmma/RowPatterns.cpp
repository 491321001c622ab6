// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Values of rows that four threads share: row_max, row_sum, row_total.
//
#include "../RowMath.h"
#include "Layout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
    float threshold = op.getThreshold().convertToFloat();
    SmallVector<Value> largest;
    SmallVector<RowReference> references;
    for (int64_t row = 0; row < wgmma::kRows; ++row) {
      Value value = combineQuad(
          b, combineAll(getRow(adaptor.getFragments(), row), max), max);
      largest.push_back(LLVM::FMulOp::create(b, value, scale));
      if (!op.getVote()) {
        Value old = op.getOld() ? adaptor.getOld()[row] : Value();
        references.push_back(
            getRowReference(b, largest.back(), old, threshold));
      }
    }
    if (op.getVote())
      references = moveReferences(b, largest, adaptor.getOld(), threshold);
    SmallVector<SmallVector<Value>> results(2);
    for (const RowReference &row : references) {
      results[0].push_back(row.reference);
      results[1].push_back(row.factor);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  /// A warp whose rows all keep their references, as in most blocks, computes
  /// no factors. `ptxas` moves no wait for a product across the branch, which
  /// it otherwise does, to before the maximum that runs beside the product.
  static SmallVector<RowReference> moveReferences(ImplicitLocOpBuilder &b,
                                                  ValueRange largest,
                                                  ValueRange old,
                                                  float threshold) {
    Value moved;
    for (auto [value, before] : llvm::zip_equal(largest, old)) {
      Value moves = getReferenceMoves(b, value, before, threshold);
      moved = moved ? LLVM::OrOp::create(b, moved, moves).getResult() : moves;
    }
    Value any = NVVM::VoteSyncOp::create(b, b.getI1Type(),
                                         i32Constant(b, b.getLoc(), -1), moved,
                                         NVVM::VoteSyncKind::any);
    Value one = f32Constant(b, b.getLoc(), 1.0f);
    SmallVector<Type> types(2 * largest.size(), b.getF32Type());
    auto branch = scf::IfOp::create(b, types, any, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    SmallVector<Value> next, kept;
    b.setInsertionPointToStart(branch.thenBlock());
    for (auto [value, before] : llvm::zip_equal(largest, old)) {
      RowReference row = getRowReference(b, value, before, threshold);
      next.append({row.reference, row.factor});
      kept.append({before, one});
    }
    scf::YieldOp::create(b, next);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, kept);
    b.setInsertionPointAfter(branch);
    SmallVector<RowReference> references;
    for (unsigned i = 0; i < branch.getNumResults(); i += 2)
      references.push_back({branch.getResult(i), branch.getResult(i + 1)});
    return references;
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
