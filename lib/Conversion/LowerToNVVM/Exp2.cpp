// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// fa4.exp2: 2^(scale * x - reference), on two pipes.
//
#include "InlineAsm.h"
#include "MathPatterns.h"
#include "RowMath.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

struct Exp2Pattern : KernelPattern<Exp2Op> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(Exp2Op op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t poly = op.getPoly(), of = op.getOf();
    Value offset = getExp2Offset(b, adaptor.getReference().front());
    Value offsets = createSplat(b, offset);
    Value scale = createPairConstant(b, op.getScale()->convertToFloat());
    SmallVector<SmallVector<Value>> results(1);
    for (auto [index, pair] : llvm::enumerate(adaptor.getInput())) {
      Value exponent = LLVM::FMAOp::create(b, pair, scale, offsets);
      bool onFma = static_cast<int64_t>(index) % of >= of - poly;
      results.front().push_back(onFma ? createExp2Polynomial(b, exponent)
                                      : callSpecialFunction(b, exponent));
    }
    if (poly == of)
      spreadNaN(b, results.front().front(), offset);
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }

private:
  static Value callSpecialFunction(ImplicitLocOpBuilder &b, Value exponent) {
    auto exp2 = [&](Value value) {
      return callIntrinsic(b, "llvm.nvvm.ex2.approx.ftz.f32", b.getF32Type(),
                           value);
    };
    Value low = exp2(getLow(b, exponent));
    Value high = exp2(getHigh(b, exponent));
    return createPair(b, low, high);
  }

  /// Without a special function in the fragment, a row's NaN needs one element
  /// to travel in: `offset` - `offset` is 0 unless it is NaN.
  static void spreadNaN(ImplicitLocOpBuilder &b, Value &pair, Value offset) {
    Value zeroOrNaN = LLVM::FSubOp::create(b, offset, offset);
    pair = LLVM::FAddOp::create(b, pair, createSplat(b, zeroOrNaN));
  }
};

} // namespace

/// 2^x = 2^floor(x) * 2^y with y in [0, 1): adding 1.5 * 2^23 rounded down
/// leaves floor(x) in the low mantissa bits, a polynomial gives 2^y, and an
/// integer addition puts floor(x) into its exponent. Below -127 the result is
/// 0. NaN does not survive the clamp; a row with one has a reference of NaN,
/// which the elements that the special function unit computes carry on.
Value mlir::fa4::createExp2Polynomial(ImplicitLocOpBuilder &b, Value exponent) {
  Type type = exponent.getType();
  bool isPair = isa<VectorType>(type);
  auto constant = [&](float value) {
    return isPair ? createPairConstant(b, value)
                  : f32Constant(b, b.getLoc(), value);
  };
  Value shift = constant(12582912.0f);
  Value x = LLVM::MaxNumOp::create(b, exponent, constant(-127.0f));
  Value shifted = createAddRoundDown(b, x, shift);
  Value floor = LLVM::FSubOp::create(b, shifted, shift);
  Value y = LLVM::FSubOp::create(b, x, floor);
  // Least relative error of degree 3 on [0, 1) with a constant term of
  // exactly 1.
  Value power =
      LLVM::FMAOp::create(b, y, constant(0.077119089663028717041015625f),
                          constant(0.227564394474029541015625f));
  power =
      LLVM::FMAOp::create(b, y, power, constant(0.695146143436431884765625f));
  power = LLVM::FMAOp::create(b, y, power, constant(1.0f));
  Type bits = b.getI32Type();
  if (isPair)
    bits = VectorType::get({2}, bits);
  TypedAttr mantissa =
      isPair ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(bits), 23))
             : TypedAttr(b.getI32IntegerAttr(23));
  Value scaled =
      LLVM::ShlOp::create(b, LLVM::BitcastOp::create(b, bits, shifted),
                          LLVM::ConstantOp::create(b, bits, mantissa));
  scaled =
      LLVM::AddOp::create(b, scaled, LLVM::BitcastOp::create(b, bits, power));
  return LLVM::BitcastOp::create(b, type, scaled);
}

void mlir::fa4::populateExp2Pattern(const TypeConverter &converter,
                                    const KernelLowering &kernel,
                                    RewritePatternSet &patterns) {
  patterns.add<Exp2Pattern>(converter, patterns.getContext(), kernel);
}
