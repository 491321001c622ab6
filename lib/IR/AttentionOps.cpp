// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionVerifier.h"
#include "fa4/IR/FA4.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fa4;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The first static extent among dimensions that are equal by attention_c6.
static int64_t
getExtent(std::initializer_list<std::pair<Value, unsigned>> dims) {
  for (auto [value, dim] : dims) {
    if (!value)
      continue;
    int64_t extent = cast<ShapedType>(value.getType()).getDimSize(dim);
    if (ShapedType::isStatic(extent))
      return extent;
  }
  return ShapedType::kDynamic;
}

int64_t AttentionOp::getBatch() {
  return getExtent(
      {{getQ(), 0}, {getK(), 0}, {getV(), 0}, {getO(), 0}, {getLse(), 0}});
}

int64_t AttentionOp::getQueryLength() {
  return getExtent({{getQ(), 1}, {getO(), 1}, {getLse(), 2}});
}

int64_t AttentionOp::getKeyLength() {
  return getExtent({{getK(), 1}, {getV(), 1}});
}

int64_t AttentionOp::getQueryHeads() {
  return getExtent({{getQ(), 2}, {getO(), 2}, {getLse(), 1}});
}

int64_t AttentionOp::getKeyHeads() {
  return getExtent({{getK(), 2}, {getV(), 2}});
}

int64_t AttentionOp::getHeadDim() { return getExtent({{getQ(), 3}}); }

int64_t AttentionOp::getValueDim() { return getExtent({{getV(), 3}}); }

int64_t AttentionOp::getGroupSize() {
  int64_t queryHeads = getQueryHeads(), keyHeads = getKeyHeads();
  if (ShapedType::isDynamic(queryHeads) || ShapedType::isDynamic(keyHeads))
    return ShapedType::kDynamic;
  return queryHeads / keyHeads;
}

float AttentionOp::getScaleValue() {
  if (std::optional<APFloat> scale = getScale())
    return scale->convertToFloat();
  return 1.0 / std::sqrt(static_cast<double>(getHeadDim()));
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

MutableOperandRange AttentionOp::getDpsInitsMutable() {
  // `o` and `lse` are the last operands.
  unsigned first = getODSOperandIndexAndLength(3).first;
  return MutableOperandRange(getOperation(), first, getNumOperands() - first);
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value q,
                        Value k, Value v, Value o, Value lse, bool causal,
                        FloatAttr scale) {
  SmallVector<Type> results;
  for (Value init : {o, lse})
    if (init && isa<RankedTensorType>(init.getType()))
      results.push_back(init.getType());
  build(builder, state, results, q, k, v, o, lse, causal, scale);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  Type lseType = getLse() ? getLse().getType() : Type();
  if (std::optional<std::string> problem =
          checkAttentionTypes({getQ().getType(), getK().getType(),
                               getV().getType(), getO().getType(), lseType}))
    return emitOpError(*problem);

  // attention_c17
  SmallVector<Type> expected;
  for (Value init : getDpsInits())
    if (isa<RankedTensorType>(init.getType()))
      expected.push_back(init.getType());
  if (llvm::to_vector(getResultTypes()) != expected) {
    if (expected.empty())
      return emitOpError("expected no result on memrefs, but got ")
             << getNumResults();
    return emitOpError("expected the types of its destinations as result "
                       "types, (")
           << expected << "), but got (" << getResultTypes() << ")";
  }

  // attention_c9
  if (hasPureBufferSemantics())
    for (auto [index, input] :
         llvm::enumerate(ValueRange{getQ(), getK(), getV()}))
      if (getO() == input)
        return emitOpError("expected 'o' in memory of its own, but it is the "
                           "same memref as '")
               << StringRef("qkv").substr(index, 1) << "'";

  // attention_c14
  if (std::optional<APFloat> scale = getScale(); scale && !scale->isFinite())
    return emitOpError("expected a finite 'scale', but got ")
           << (scale->isNaN()        ? "nan"
               : scale->isNegative() ? "-inf"
                                     : "inf");

  // attention_c15
  for (NamedAttribute attr : getOperation()->getDiscardableAttrs())
    if (!attr.getName().strref().contains('.'))
      return emitOpError("attribute '")
             << attr.getName().strref()
             << "' is not supported: expected only 'causal' and 'scale'";
  return success();
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Reads through memref.cast where the op is still legal on the source: a cast
/// may have hidden an extent or a stride that the op refuses, and that is left
/// for the check at run time that the dynamic type asks for.
static LogicalResult foldMemRefCasts(AttentionOp op) {
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<memref::CastOp>();
    if (!cast || !memref::CastOp::canFoldIntoConsumerOp(cast))
      continue;
    SmallVector<Type> types = llvm::to_vector(op->getOperandTypes());
    types[operand.getOperandNumber()] = cast.getSource().getType();
    types.resize(5);
    if (checkAttentionTypes({types[0], types[1], types[2], types[3], types[4]}))
      continue;
    // Nor may the fold lead to a destination that is an input (attention_c9).
    if (llvm::is_contained(op->getOperands(), cast.getSource()) &&
        (op.isDpsInit(&operand) || cast.getSource() == op.getO()))
      continue;
    operand.set(cast.getSource());
    changed = true;
  }
  return success(changed);
}

LogicalResult AttentionOp::fold(FoldAdaptor adaptor,
                                SmallVectorImpl<OpFoldResult> &results) {
  return foldMemRefCasts(*this);
}

namespace {

/// Nothing to write: no batch, no query or no query head.
struct EraseEmptyAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getBatch() != 0 && op.getQueryLength() != 0 &&
        op.getQueryHeads() != 0)
      return failure();
    SmallVector<Value> destinations;
    if (op->getNumResults() != 0)
      llvm::append_range(destinations, op.getDpsInits());
    rewriter.replaceOp(op, destinations);
    return success();
  }
};

/// The mask is aligned to the bottom right: a single query sees every key.
struct DropCausalOfSingleQuery : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getCausal() || op.getQueryLength() != 1)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setCausal(false); });
    return success();
  }
};

} // namespace

void AttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<EraseEmptyAttention, DropCausalOfSingleQuery>(context);
}
