// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Loops of a schedule and its launch.
//
#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fa4;

LogicalResult mlir::fa4::verifyInRole(Operation *op) {
  if (op->getParentOfType<RoleOp>())
    return success();
  return op->emitOpError("expected to lie in a 'fa4.role'");
}

//===----------------------------------------------------------------------===//
// What the loops share: values carried from one iteration to the next
//===----------------------------------------------------------------------===//

/// Parses `(iter_args(%a = %x, ...) -> (types))?` and appends the carried
/// region arguments.
static ParseResult
parseIterArgs(OpAsmParser &parser, OperationState &result,
              SmallVectorImpl<OpAsmParser::Argument> &regionArgs) {
  if (failed(parser.parseOptionalKeyword("iter_args")))
    return success();
  SmallVector<OpAsmParser::Argument> carried;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseAssignmentList(carried, operands) ||
      parser.parseArrowTypeList(result.types))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (carried.size() != result.types.size())
    return parser.emitError(loc)
           << "expected " << carried.size()
           << " types of carried values, but got " << result.types.size();
  if (parser.resolveOperands(operands, result.types, loc, result.operands))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(carried, result.types)) {
    argument.type = type;
    regionArgs.push_back(argument);
  }
  return success();
}

static void printIterArgs(OpAsmPrinter &printer,
                          ArrayRef<BlockArgument> carried, OperandRange inits,
                          TypeRange types) {
  if (inits.empty())
    return;
  printer << " iter_args(";
  llvm::interleaveComma(llvm::zip(carried, inits), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ") -> (" << types << ')';
}

/// Checks that initial values, region arguments, yields and results agree.
static LogicalResult verifyCarried(Operation *op, OperandRange inits,
                                   ArrayRef<BlockArgument> carried,
                                   Block &body) {
  auto yield = dyn_cast_or_null<YieldOp>(body.empty() ? nullptr : &body.back());
  if (!yield)
    return op->emitOpError("expected a body that ends with 'fa4.yield'");
  SmallVector<Type> carriedTypes;
  for (BlockArgument argument : carried)
    carriedTypes.push_back(argument.getType());
  TypeRange expected = op->getResultTypes();
  auto check = [&](StringRef what, TypeRange types) -> LogicalResult {
    if (types == expected)
      return success();
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected " << what << " of types (";
    llvm::interleaveComma(expected, diag);
    diag << ") as the results have, but got (";
    llvm::interleaveComma(types, diag);
    return diag << ')';
  };
  if (failed(check("initial values", inits.getTypes())) ||
      failed(check("region arguments", carriedTypes)) ||
      failed(check("yielded values", yield.getOperandTypes())))
    return failure();
  return success();
}

static void printLoopBody(OpAsmPrinter &printer, Operation *op, Region &body,
                          ArrayRef<StringRef> elided, bool carries) {
  printer.printOptionalAttrDictWithKeyword(op->getAttrs(), elided);
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/carries);
}

template <typename LoopOp>
static void buildLoop(OpBuilder &builder, OperationState &state,
                      unsigned indices, ValueRange inits) {
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(state.addRegion());
  for (unsigned i = 0; i < indices; ++i)
    body->addArgument(builder.getIndexType(), state.location);
  for (Value init : inits)
    body->addArgument(init.getType(), init.getLoc());
  if (inits.empty())
    LoopOp::ensureTerminator(*state.regions.front(), builder, state.location);
}

//===----------------------------------------------------------------------===//
// ForTaskOp
//===----------------------------------------------------------------------===//

void ForTaskOp::build(OpBuilder &builder, OperationState &state,
                      ValueRange initArgs) {
  buildLoop<ForTaskOp>(builder, state, 3, initArgs);
}

ParseResult ForTaskOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren))
    return failure();
  if (arguments.size() != 3)
    return parser.emitError(loc)
           << "expected three arguments (batch, tile head, M block), but got "
           << arguments.size();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = parser.getBuilder().getIndexType();
  Region *body = result.addRegion();
  if (parseIterArgs(parser, result, arguments) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void ForTaskOp::print(OpAsmPrinter &printer) {
  printer << " (" << getBatch() << ", " << getHead() << ", " << getMBlock()
          << ')';
  printIterArgs(printer, getRegionIterArgs(), getInitArgs(), getResultTypes());
  printLoopBody(printer, *this, getBody(), {}, !getInitArgs().empty());
}

LogicalResult ForTaskOp::verify() {
  if (!isa_and_nonnull<RoleOp>((*this)->getParentOp()))
    return emitOpError("expected to lie at the top level of a 'fa4.role'");
  if (getBody().getNumArguments() < 3 ||
      llvm::any_of(
          getBody().getArguments().take_front(3),
          [](BlockArgument argument) { return !argument.getType().isIndex(); }))
    return emitOpError("expected three region arguments of type index: batch, "
                       "tile head, M block");
  return verifyCarried(*this, getInitArgs(), getRegionIterArgs(),
                       getBody().front());
}

//===----------------------------------------------------------------------===//
// ForKvOp
//===----------------------------------------------------------------------===//

void ForKvOp::build(OpBuilder &builder, OperationState &state, KvRange range,
                    Value mBlock, ValueRange initArgs) {
  state.addAttribute(getRangeAttrName(state.name),
                     KvRangeAttr::get(builder.getContext(), range));
  state.addOperands(mBlock);
  buildLoop<ForKvOp>(builder, state, 1, initArgs);
}

ParseResult ForKvOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments(1);
  arguments.front().type = parser.getBuilder().getIndexType();
  OpAsmParser::UnresolvedOperand mBlock;
  StringRef rangeName;
  if (parser.parseArgument(arguments.front()) || parser.parseKeyword("in"))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&rangeName))
    return failure();
  std::optional<KvRange> range = symbolizeKvRange(rangeName);
  if (!range)
    return parser.emitError(loc)
           << "expected range 'all', 'rest', 'rest_masked' or 'rest_unmasked', "
              "but got '"
           << rangeName << "'";
  result.addAttribute(getRangeAttrName(result.name),
                      KvRangeAttr::get(parser.getContext(), *range));
  Region *body = result.addRegion();
  if (parser.parseLParen() || parser.parseOperand(mBlock) ||
      parser.parseRParen() ||
      parser.resolveOperand(mBlock, parser.getBuilder().getIndexType(),
                            result.operands) ||
      parseIterArgs(parser, result, arguments) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void ForKvOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getKvBlock() << " in " << stringifyKvRange(getRange())
          << '(' << getMBlock() << ')';
  printIterArgs(printer, getRegionIterArgs(), getInitArgs(), getResultTypes());
  printLoopBody(printer, *this, getBody(), {getRangeAttrName()},
                !getInitArgs().empty());
}

/// Fails unless `mBlock` is the M block of the task loop around `op`.
static LogicalResult verifyMBlock(Operation *op, Value mBlock) {
  auto task = op->getParentOfType<ForTaskOp>();
  if (!task)
    return op->emitOpError("expected to lie in a 'fa4.for_task'");
  if (task.getBody().getNumArguments() < 3 || mBlock != task.getMBlock())
    return op->emitOpError(
        "expected 'm_block' to be the M block of the enclosing 'fa4.for_task'");
  return success();
}

LogicalResult ForKvOp::verify() {
  if (getBody().getNumArguments() < 1 ||
      !getBody().getArgument(0).getType().isIndex())
    return emitOpError(
        "expected a first region argument of type index: the K/V block");
  if (failed(verifyMBlock(*this, getMBlock())))
    return failure();
  return verifyCarried(*this, getInitArgs(), getRegionIterArgs(),
                       getBody().front());
}

LogicalResult FirstKvOp::verify() { return verifyMBlock(*this, getMBlock()); }

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

/// Fails unless `warp` is a warp of the kernel around `op`.
static LogicalResult verifyWarp(Operation *op, int64_t warp) {
  auto kernel = dyn_cast_or_null<KernelOp>(op->getParentOp());
  if (!kernel || (warp >= 0 && warp < kernel.getWarps()))
    return success();
  return op->emitOpError() << "expected a warp below " << kernel.getWarps()
                           << ", the kernel's, but got " << warp;
}

LogicalResult InitBarriersOp::verify() { return verifyWarp(*this, getWarp()); }

LogicalResult TmemReleaseOp::verify() { return verifyWarp(*this, getWarp()); }

LogicalResult TmemAcquireOp::verify() {
  if (std::optional<int64_t> columns = getColumns())
    if (*columns < 32 || *columns > 512 || !llvm::isPowerOf2_64(*columns))
      return emitOpError() << "expected 'columns' to be a power of two from 32 "
                              "to 512, but got "
                           << *columns;
  if (std::optional<int64_t> at = getAt())
    if (*at < 0 || *at % 16 != 0)
      return emitOpError() << "expected 'at' to be a multiple of 16, but got "
                           << *at;
  return verifyWarp(*this, getWarp());
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel =
      symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "expected " << getKernelAttr()
                         << " to name a 'fa4.kernel'";
  if (TypeRange(getOperandTypes()) !=
      TypeRange(kernel.getFunctionType().getInputs())) {
    InFlightDiagnostic diag = emitOpError()
                              << "expected operands of the kernel's types";
    diag.attachNote(kernel.getLoc()) << "the kernel is here";
    return diag;
  }
  return success();
}
