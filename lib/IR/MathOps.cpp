// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Tile ops that compute on registers.
//
#include "Extent.h"
#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::fa4;

//===----------------------------------------------------------------------===//
// custom<F32>: a float without its type; custom<Poly>
//===----------------------------------------------------------------------===//

namespace mlir::fa4 {
ParseResult parseF32(OpAsmParser &parser, FloatAttr &attr) {
  Type f32 = parser.getBuilder().getF32Type();
  Attribute parsed;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(parsed, f32))
    return failure();
  attr = dyn_cast<FloatAttr>(parsed);
  if (!attr || attr.getType() != f32)
    return parser.emitError(loc, "expected an f32 number");
  return success();
}

void printF32(OpAsmPrinter &printer, Operation *, FloatAttr attr) {
  printer.printAttributeWithoutType(attr);
}

/// Parses `(poly(n of m))?`.
ParseResult parsePoly(OpAsmParser &parser, IntegerAttr &poly, IntegerAttr &of) {
  int64_t n = 0, m = 1;
  if (succeeded(parser.parseOptionalKeyword("poly")) &&
      (parser.parseLParen() || parser.parseInteger(n) ||
       parser.parseKeyword("of") || parser.parseInteger(m) ||
       parser.parseRParen()))
    return failure();
  poly = parser.getBuilder().getI64IntegerAttr(n);
  of = parser.getBuilder().getI64IntegerAttr(m);
  return success();
}

void printPoly(OpAsmPrinter &printer, Operation *, IntegerAttr poly,
               IntegerAttr of) {
  if (poly.getInt() != 0 || of.getInt() != 1)
    printer << "poly(" << poly.getInt() << " of " << of.getInt() << ')';
}
} // namespace mlir::fa4

static LogicalResult verifyF32(Operation *op, FragmentType fragment) {
  if (fragment.getElementType().isF32())
    return success();
  return op->emitOpError() << "expected an f32 fragment, but got " << fragment;
}

/// Row values go with fragments of as many rows. `partial` ones are sums that
/// four threads hold parts of, and stand for no row alone.
static LogicalResult verifyRows(Operation *op, FragmentType fragment,
                                Value values, bool partial = false) {
  if (!values)
    return success();
  auto rows = cast<RowsType>(values.getType());
  if (rows.getRows() == fragment.getRows() && rows.getPartial() == partial)
    return success();
  auto expected =
      RowsType::get(fragment.getRows(), rows.getElementType(), partial);
  return op->emitOpError() << "expected row values of " << expected << " with "
                           << fragment << ", but got " << rows;
}

/// Whether sums of the fragment's rows are spread over threads.
static bool sumsArePartial(FragmentType fragment) {
  return fragment.getLayout() == FragmentLayout::WGMMA;
}

static LogicalResult verifyFragments(Operation *op, OperandRange fragments) {
  if (fragments.empty())
    return op->emitOpError("expected at least one fragment");
  auto type = cast<FragmentType>(fragments.front().getType());
  for (Value fragment : fragments)
    if (fragment.getType() != type)
      return op->emitOpError() << "expected fragments of one type, but got "
                               << type << " and " << fragment.getType();
  return verifyF32(op, type);
}

static LogicalResult verifyScale(Operation *op, const APFloat &scale) {
  if (scale.isFinite() && !scale.isNegative() && !scale.isZero())
    return success();
  SmallString<16> text;
  scale.toString(text);
  return op->emitOpError() << "expected a finite positive 'scale', but got "
                           << text;
}

LogicalResult MaskOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  int64_t begin = getColumn();
  int64_t end = getEndOf(begin, getInput().getType().getColumns());
  if (begin < 0 || end > kernel.getTileKeys())
    return emitOpError() << "expected columns within the K/V block's "
                         << kernel.getTileKeys() << " keys, but got " << begin
                         << " to " << end;
  return verifyF32(*this, getInput().getType());
}

LogicalResult ScaleOp::verify() {
  return verifyF32(*this, getInput().getType());
}

//===----------------------------------------------------------------------===//
// RowMaxOp
//===----------------------------------------------------------------------===//

/// Parses `%f0, %f1, ...`.
static ParseResult
parseFragments(OpAsmParser &parser,
               SmallVectorImpl<OpAsmParser::UnresolvedOperand> &fragments) {
  return parser.parseOperandList(fragments);
}

/// Parses `(number)` after a keyword into an f32 attribute.
static ParseResult parseNumber(OpAsmParser &parser, StringRef keyword,
                               StringAttr name, OperationState &result) {
  FloatAttr attr;
  if (parser.parseKeyword(keyword) || parser.parseLParen() ||
      parseF32(parser, attr) || parser.parseRParen())
    return failure();
  result.addAttribute(name, attr);
  return success();
}

ParseResult RowMaxOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> fragments, old;
  FragmentType type;
  if (parseFragments(parser, fragments))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("against")) &&
      parser.parseOperand(old.emplace_back()))
    return failure();
  if (parseNumber(parser, "scale", getScaleAttrName(result.name), result) ||
      parseNumber(parser, "threshold", getThresholdAttrName(result.name),
                  result))
    return failure();
  Builder &builder = parser.getBuilder();
  if (succeeded(parser.parseOptionalKeyword("vote")))
    result.addAttribute(getVoteAttrName(result.name), builder.getUnitAttr());
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  auto rows = RowsType::get(type.getRows(), builder.getF32Type());
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      static_cast<int32_t>(fragments.size()), static_cast<int32_t>(old.size())};
  result.addTypes({rows, rows});
  return failure(parser.resolveOperands(fragments, type, result.operands) ||
                 parser.resolveOperands(old, rows, result.operands));
}

void RowMaxOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFragments();
  if (getOld())
    printer << " against " << getOld();
  printer << " scale(";
  printF32(printer, *this, getScaleAttr());
  printer << ") threshold(";
  printF32(printer, *this, getThresholdAttr());
  printer << (getVote() ? ") vote" : ")");
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getScaleAttrName(), getThresholdAttrName(),
                                 getVoteAttrName(),
                                 getOperandSegmentSizesAttrName()});
  printer << " : " << getFragments().front().getType();
}

LogicalResult RowMaxOp::verify() {
  if (failed(verifyFragments(*this, getFragments())) ||
      failed(verifyScale(*this, getScale())))
    return failure();
  auto type = cast<FragmentType>(getFragments().front().getType());
  for (Value rows :
       {Value(getReference()), Value(getFactor()), Value(getOld())})
    if (failed(verifyRows(*this, type, rows)))
      return failure();
  double threshold = getThreshold().convertToFloat();
  if (!(threshold >= 0 && threshold <= 15))
    return emitOpError() << "expected a 'threshold' from 0 to 15, beyond which "
                            "P overflows f16, but got "
                         << threshold;
  if (getVote() && (!getOld() || type.getLayout() != FragmentLayout::WGMMA))
    return emitOpError() << "expected 'vote' only against an old reference and "
                            "with fragments in "
                            "'wgmma' layout, but got "
                         << type;
  return success();
}

//===----------------------------------------------------------------------===//
// RowSumOp
//===----------------------------------------------------------------------===//

ParseResult RowSumOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> fragments, old, factor;
  FragmentType type;
  if (parseFragments(parser, fragments))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("plus")) &&
      (parser.parseOperand(old.emplace_back()) ||
       parser.parseKeyword("times") ||
       parser.parseOperand(factor.emplace_back())))
    return failure();
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColonType(type))
    return failure();
  Type f32 = parser.getBuilder().getF32Type();
  auto rows = RowsType::get(type.getRows(), f32, sumsArePartial(type));
  auto factors = RowsType::get(type.getRows(), f32);
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      static_cast<int32_t>(fragments.size()), static_cast<int32_t>(old.size()),
      static_cast<int32_t>(factor.size())};
  result.addTypes(rows);
  return failure(parser.resolveOperands(fragments, type, result.operands) ||
                 parser.resolveOperands(old, rows, result.operands) ||
                 parser.resolveOperands(factor, factors, result.operands));
}

void RowSumOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFragments();
  if (getOld())
    printer << " plus " << getOld() << " times " << getFactor();
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getOperandSegmentSizesAttrName()});
  printer << " : " << getFragments().front().getType();
}

LogicalResult RowSumOp::verify() {
  if (bool(getOld()) != bool(getFactor()))
    return emitOpError("expected an old sum and its factor together");
  if (failed(verifyFragments(*this, getFragments())))
    return failure();
  auto type = cast<FragmentType>(getFragments().front().getType());
  bool partial = sumsArePartial(type);
  return failure(failed(verifyRows(*this, type, getSum(), partial)) ||
                 failed(verifyRows(*this, type, getOld(), partial)) ||
                 failed(verifyRows(*this, type, getFactor())));
}

//===----------------------------------------------------------------------===//
// ExponentsOp, Exp2Op, ConvertOp, NormalizeOp
//===----------------------------------------------------------------------===//

LogicalResult ExponentsOp::verify() {
  FragmentType type = getInput().getType();
  return failure(failed(verifyF32(*this, type)) ||
                 failed(verifyScale(*this, getScale())) ||
                 failed(verifyRows(*this, type, getReference())));
}

LogicalResult Exp2Op::verify() {
  FragmentType type = getInput().getType();
  if (bool(getReference()) != getScale().has_value())
    return emitOpError("expected a reference and its 'scale' together");
  if (failed(verifyF32(*this, type)) ||
      failed(verifyRows(*this, type, getReference())))
    return failure();
  if (getScale() && failed(verifyScale(*this, *getScale())))
    return failure();
  int64_t pairs = type.getColumns() / 2, poly = getPoly();
  int64_t of = getOf();
  if (type.getColumns() % 2 != 0)
    return emitOpError() << "expected an even number of columns, but got "
                         << type.getColumns();
  if (of < 1 || pairs % of != 0 || poly < 0 || poly > of)
    return emitOpError() << "expected n of m pairs by polynomial with n from 0 "
                            "to m and m dividing the "
                         << pairs << " pairs, but got " << poly << " of " << of;
  if (!getReference() && poly == of)
    return emitOpError("expected fewer than all pairs by polynomial without a "
                       "reference, which "
                       "would pass NaN on");
  return success();
}

LogicalResult ConvertOp::verify() {
  FragmentType from = getInput().getType(), to = getResult().getType();
  if (!from.getElementType().isF32() ||
      !(to.getElementType().isF16() || to.getElementType().isBF16()))
    return emitOpError()
           << "expected a conversion from f32 to f16 or bf16, but got "
           << from.getElementType() << " to " << to.getElementType();
  if (from.getShape() != to.getShape() || from.getLayout() != to.getLayout())
    return emitOpError() << "expected one shape and layout, but got " << from
                         << " and " << to;
  if (from.getColumns() % 2 != 0)
    return emitOpError() << "expected an even number of columns, but got "
                         << from.getColumns();
  return success();
}

LogicalResult NormalizeOp::verify() {
  FragmentType type = getInput().getType();
  return failure(failed(verifyF32(*this, type)) ||
                 failed(verifyRows(*this, type, getSum())));
}
