// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Element by element: scale, exp2, convert, normalize, scale_rows, fill, mask.
//
#include "../InlineAsm.h"
#include "../RowMath.h"
#include "Layout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// Replaces an op by one value a register of its fragment.
template <typename Op, typename Element>
LogicalResult replaceElements(Op op, ConversionPatternRewriter &rewriter,
                              ValueRange input, Element element) {
  SmallVector<SmallVector<Value>> results(1);
  for (auto [index, value] : llvm::enumerate(input))
    results.front().push_back(element(index, value));
  rewriter.replaceOpWithMultiple(op, std::move(results));
  return success();
}

struct ScalePattern : KernelPattern<ScaleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScaleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value factor = f32Constant(b, op.getLoc(), op.getFactor().convertToFloat());
    return replaceElements(op, rewriter, adaptor.getInput(),
                           [&](size_t, Value value) -> Value {
                             return LLVM::FMulOp::create(b, value, factor);
                           });
  }
};

/// A warp whose rows all have the factor 1, as in most blocks, multiplies
/// nothing.
struct ScaleRowsPattern : KernelPattern<ScaleRowsOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ScaleRowsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    ValueRange input = adaptor.getInput(), factors = adaptor.getFactor();
    Value one = f32Constant(b, op.getLoc(), 1.0f);
    Value needed;
    for (Value factor : factors) {
      // Unordered, so that a NaN factor is spread.
      Value other =
          LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::une, factor, one);
      needed =
          needed ? LLVM::OrOp::create(b, needed, other).getResult() : other;
    }
    Value any = NVVM::VoteSyncOp::create(b, b.getI1Type(),
                                         i32Constant(b, op.getLoc(), -1),
                                         needed, NVVM::VoteSyncKind::any);
    auto branch =
        scf::IfOp::create(b, input.getTypes(), any,
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> scaled;
    for (auto [index, value] : llvm::enumerate(input))
      scaled.push_back(
          LLVM::FMulOp::create(b, value, factors[wgmma::rowOf(index)]));
    scf::YieldOp::create(b, scaled);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, input);
    SmallVector<SmallVector<Value>> results;
    results.push_back(llvm::to_vector_of<Value>(branch.getResults()));
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct FillPattern : KernelPattern<FillOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(FillOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value value =
        f32Constant(rewriter, op.getLoc(), op.getValue().convertToFloat());
    SmallVector<Type> types;
    if (failed(
            getTypeConverter()->convertType(op.getResult().getType(), types)))
      return failure();
    SmallVector<SmallVector<Value>> results(1);
    results.front().assign(types.size(), value);
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

/// What an element's exponent is: scale * x - reference.
class Exponents {
public:
  Exponents(ImplicitLocOpBuilder &b, const APFloat &scale, ValueRange reference)
      : scale(f32Constant(b, b.getLoc(), scale.convertToFloat())) {
    for (Value row : reference)
      offsets.push_back(getExp2Offset(b, row));
  }

  Value get(ImplicitLocOpBuilder &b, size_t index, Value value) const {
    return LLVM::FMAOp::create(b, value, scale, offsets[wgmma::rowOf(index)]);
  }

  SmallVector<Value> offsets;

private:
  Value scale;
};

struct ExponentsPattern : KernelPattern<ExponentsOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ExponentsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Exponents exponents(b, op.getScale(), adaptor.getReference());
    return replaceElements(op, rewriter, adaptor.getInput(),
                           [&](size_t index, Value value) {
                             return exponents.get(b, index, value);
                           });
  }
};

struct Exp2Pattern : KernelPattern<Exp2Op> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(Exp2Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t poly = op.getPoly(), of = op.getOf();
    std::optional<Exponents> exponents;
    if (op.getReference())
      exponents.emplace(b, *op.getScale(), adaptor.getReference());
    return replaceElements(
        op, rewriter, adaptor.getInput(),
        [&](size_t index, Value value) -> Value {
          Value exponent = exponents ? exponents->get(b, index, value) : value;
          // A thread's pairs of columns, of each of its rows.
          int64_t pair = static_cast<int64_t>(index) / 4;
          if (pair % of < of - poly)
            return callIntrinsic(b, "llvm.nvvm.ex2.approx.ftz.f32",
                                 b.getF32Type(), exponent);
          Value power = createExp2Polynomial(b, exponent);
          // Without a special function in the row, its NaN needs an element to
          // travel in.
          if (poly != of || index >= 4)
            return power;
          Value offset = exponents->offsets[wgmma::rowOf(index)];
          return LLVM::FAddOp::create(b, power,
                                      LLVM::FSubOp::create(b, offset, offset));
        });
  }
};

struct ConvertPattern : KernelPattern<ConvertOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ConvertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = op.getResult().getType().getElementType();
    ValueRange input = adaptor.getInput();
    SmallVector<SmallVector<Value>> results(1);
    for (size_t index = 0; index < input.size(); index += 2)
      results.front().push_back(
          createConvertPair(b, input[index + 1], input[index], element));
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
    Value zero = f32Constant(b, op.getLoc(), 0.0f);
    SmallVector<Value> nothing, inverses;
    for (Value sum : adaptor.getSum()) {
      nothing.push_back(
          LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::oeq, sum, zero));
      inverses.push_back(
          NVVM::RcpApproxFtzF32Op::create(b, b.getF32Type(), sum));
    }
    // An accumulator of a row without a key may hold NaN: choose, do not
    // multiply.
    return replaceElements(
        op, rewriter, adaptor.getInput(),
        [&](size_t index, Value value) -> Value {
          int64_t row = wgmma::rowOf(index);
          Value quotient = LLVM::FMulOp::create(b, value, inverses[row]);
          return LLVM::SelectOp::create(b, nothing[row], zero, quotient);
        });
  }
};

/// The visible keys of a row are a prefix. Of every 8 columns a thread holds 2,
/// so that its 32 elements of a row in 128 columns have a bit each in a mask.
struct MaskPattern : KernelPattern<MaskOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(MaskOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Location loc = op.getLoc();
    Value zero = i32Constant(b, loc, 0);
    Value minusInf =
        f32Constant(b, loc, -std::numeric_limits<float>::infinity());
    // Keys of the block before the thread's first column.
    Value first =
        LLVM::MulOp::create(b, toI32(b, loc, adaptor.getKvBlock().front()),
                            i32Constant(b, loc, kernel.tileKeys));
    first = LLVM::AddOp::create(b, first, i32Constant(b, loc, op.getColumn()));
    first =
        LLVM::AddOp::create(b, first,
                            LLVM::ShlOp::create(b, wgmma::getInQuad(b, kernel),
                                                i32Constant(b, loc, 1)));
    constexpr size_t bits = 32;
    ValueRange input = adaptor.getInput();
    size_t perRow = input.size() / wgmma::kRows;
    SmallVector<SmallVector<Value>> masks;
    for (int64_t row = 0; row < wgmma::kRows; ++row) {
      Value visible =
          LLVM::SubOp::create(b, getVisible(b, adaptor, row), first);
      SmallVector<Value> &words = masks.emplace_back();
      for (size_t begin = 0; begin < perRow; begin += bits)
        words.push_back(getMask(b, visible, static_cast<int64_t>(begin) * 4));
    }
    return replaceElements(
        op, rewriter, input, [&](size_t index, Value value) -> Value {
          // The element's number in its row.
          size_t element = index / 4 * 2 + index % 2;
          Value bit = LLVM::AndOp::create(
              b, masks[wgmma::rowOf(index)][element / bits],
              i32Constant(b, loc, int64_t(1) << element % bits));
          Value keep =
              LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, bit, zero);
          return LLVM::SelectOp::create(b, keep, value, minusInf);
        });
  }

private:
  Value getVisible(ImplicitLocOpBuilder &b, OneToNOpAdaptor adaptor,
                   int64_t row) const {
    if (!kernel.causal)
      return kernel.seqKv;
    Location loc = b.getLoc();
    Value position = wgmma::getPosition(
        b, kernel, toI32(b, loc, adaptor.getMBlock().front()),
        toI32(b, loc, adaptor.getStage().front()), row);
    return getVisibleKeys(b, kernel, position);
  }

  /// Bit 2 q + r of the mask stands for column `column` + 8 q + r, r = 0 or 1,
  /// and is set where that is below `visible` (any i32).
  static Value getMask(ImplicitLocOpBuilder &b, Value visible, int64_t column) {
    Location loc = b.getLoc();
    auto constant = [&](int64_t value) { return i32Constant(b, loc, value); };
    Value rest = LLVM::SMaxOp::create(
        b, LLVM::AddOp::create(b, visible, constant(-column)), constant(0));
    Value whole = LLVM::AndOp::create(
        b, LLVM::LShrOp::create(b, rest, constant(2)), constant(~1));
    Value part = LLVM::UMinOp::create(
        b, LLVM::AndOp::create(b, rest, constant(7)), constant(2));
    Value count = LLVM::AddOp::create(b, whole, part);
    Value ones = constant(-1);
    return LLVM::XOrOp::create(b, createShiftLeft(b, ones, count), ones);
  }
};

} // namespace

void wgmma::populateMathPatterns(const TypeConverter &converter,
                                 const KernelLowering &kernel,
                                 RewritePatternSet &patterns) {
  patterns.add<ScalePattern, ScaleRowsPattern, FillPattern, ExponentsPattern,
               Exp2Pattern, ConvertPattern, NormalizePattern, MaskPattern>(
      converter, patterns.getContext(), kernel);
}
