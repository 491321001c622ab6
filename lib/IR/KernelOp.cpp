// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// fa4.kernel and fa4.role: who runs, with what budget.
//
#include "AttentionVerifier.h"
#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::fa4;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

static constexpr StringLiteral operandNames[] = {"q", "k", "v", "o", "lse"};

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  TargetAttr target;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("target") || parser.parseLParen() ||
      parser.parseAttribute(target, getTargetAttrName(result.name),
                            result.attributes) ||
      parser.parseRParen())
    return failure();
  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, {})));

  auto integer = [&](StringAttr attrName) -> ParseResult {
    int64_t value;
    if (parser.parseLParen() || parser.parseInteger(value) ||
        parser.parseRParen())
      return failure();
    result.addAttribute(attrName, builder.getI64IntegerAttr(value));
    return success();
  };
  if (parser.parseKeyword("warps") || integer(getWarpsAttrName(result.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("stages")) &&
      integer(getStagesAttrName(result.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("tile_rows")) &&
      integer(getTileRowsAttrName(result.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("tile_keys")) &&
      integer(getTileKeysAttrName(result.name)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("pack")) &&
      integer(getPackAttrName(result.name)))
    return failure();
  if (parser.parseKeyword("scheduler") || parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef schedulerName;
  if (parser.parseKeyword(&schedulerName) || parser.parseRParen())
    return failure();
  std::optional<Scheduler> scheduler = symbolizeScheduler(schedulerName);
  if (!scheduler)
    return parser.emitError(loc) << "expected scheduler 'linear_persistent' or "
                                    "'longest_first', but got '"
                                 << schedulerName << "'";
  result.addAttribute(getSchedulerAttrName(result.name),
                      SchedulerAttr::get(parser.getContext(), *scheduler));
  if (succeeded(parser.parseOptionalKeyword("causal")))
    result.addAttribute(getCausalAttrName(result.name), builder.getUnitAttr());
  if (succeeded(parser.parseOptionalKeyword("smem")) &&
      integer(getSmemBytesAttrName(result.name)))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") target(" << getTarget() << ") warps(" << getWarps() << ')';
  if (getStages() != 2)
    printer << " stages(" << getStages() << ')';
  if (getTileRows() != 128)
    printer << " tile_rows(" << getTileRows() << ')';
  if (getTileKeys() != 128)
    printer << " tile_keys(" << getTileKeys() << ')';
  if (getPack() != 1)
    printer << " pack(" << getPack() << ')';
  printer << " scheduler(" << stringifyScheduler(getScheduler()) << ')';
  if (getCausal())
    printer << " causal";
  if (std::optional<int64_t> bytes = getSmemBytes())
    printer << " smem(" << *bytes << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getTargetAttrName(),
       getWarpsAttrName(), getStagesAttrName(), getTileRowsAttrName(),
       getTileKeysAttrName(), getPackAttrName(), getSchedulerAttrName(),
       getCausalAttrName(), getSmemBytesAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult KernelOp::verify() {
  ArrayRef<Type> types = getFunctionType().getInputs();
  if (types.size() != 4 && types.size() != 5)
    return emitOpError() << "expected arguments 'q', 'k', 'v', 'o' and "
                            "possibly 'lse', but got "
                         << types.size();
  if (TypeRange(getBody().getArgumentTypes()) != TypeRange(types))
    return emitOpError(
        "expected a body whose arguments have the types of 'function_type'");
  for (auto [index, type] : llvm::enumerate(types)) {
    auto memref = dyn_cast<MemRefType>(type);
    int64_t rank = index == 4 ? 3 : 4;
    if (!memref || memref.getRank() != rank)
      return emitOpError() << "expected '" << operandNames[index]
                           << "' to be a memref of rank " << rank
                           << ", but got " << type;
    Type element = memref.getElementType();
    bool fits =
        index == 4 ? element.isF32() : element.isF16() || element.isBF16();
    if (!fits)
      return emitOpError() << "expected '" << operandNames[index]
                           << "' to hold "
                           << (index == 4 ? "f32" : "f16 or bf16")
                           << ", but got " << element;
    if (index < 4 && element != getElementType())
      return emitOpError() << "expected '" << operandNames[index]
                           << "' to hold " << getElementType()
                           << " as 'q' does, but got " << element;
    if (index < 4 && memref.isDynamicDim(3))
      return emitOpError() << "expected a static head dimension of '"
                           << operandNames[index] << "'";
  }
  if (std::optional<std::string> problem =
          checkAttentionTypes({types[0], types[1], types[2], types[3],
                               types.size() > 4 ? types[4] : Type()}))
    return emitOpError() << *problem;
  if (getWarps() % 4 != 0 || getWarps() > 32)
    return emitOpError()
           << "expected 'warps' to be a multiple of 4 up to 32, but got "
           << getWarps();
  for (auto [name, value] :
       {std::pair<StringRef, int64_t>{"stages", getStages()},
        {"tile_rows", getTileRows()},
        {"tile_keys", getTileKeys()},
        {"pack", getPack()}})
    if (value < 1 || value > 65536)
      return emitOpError() << "expected '" << name
                           << "' from 1 to 65536, but got " << value;
  if (getTileRows() % getPack() != 0)
    return emitOpError() << "expected 'pack' to divide the " << getTileRows()
                         << " rows of a tile, but got " << getPack();
  int64_t queryHeads = cast<MemRefType>(types[0]).getDimSize(2);
  int64_t kvHeads = cast<MemRefType>(types[1]).getDimSize(2);
  if (getPack() != 1 &&
      (ShapedType::isDynamic(queryHeads) || ShapedType::isDynamic(kvHeads)))
    return emitOpError()
           << "expected static head counts of 'q' and 'k' to pack " << getPack()
           << " heads in a tile";
  if (!ShapedType::isDynamic(queryHeads) && !ShapedType::isDynamic(kvHeads) &&
      kvHeads > 0 && (queryHeads / kvHeads) % getPack() != 0)
    return emitOpError() << "expected 'pack' to divide the group size "
                         << queryHeads / kvHeads << ", but got " << getPack();
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  SmallVector<RoleOp> owners(getWarps());
  for (RoleOp role : getBody().getOps<RoleOp>()) {
    if (role.getEndWarp() > getWarps())
      return role.emitOpError()
             << "expected warps below " << getWarps()
             << ", the kernel's, but got " << role.getFirstWarp() << " to "
             << role.getEndWarp();
    for (int64_t warp = role.getFirstWarp(); warp < role.getEndWarp(); ++warp) {
      if (owners[warp]) {
        InFlightDiagnostic diag = role.emitOpError()
                                  << "expected warps of its own, but warp "
                                  << warp << " also runs '"
                                  << owners[warp].getSymName() << "'";
        diag.attachNote(owners[warp].getLoc()) << "the other role is here";
        return diag;
      }
      owners[warp] = role;
    }
  }
  bool hasRoles = llvm::any_of(owners, [](RoleOp role) { return bool(role); });
  if (!hasRoles)
    return success();
  for (auto [warp, role] : llvm::enumerate(owners))
    if (!role)
      return emitOpError()
             << "expected the roles to share out all " << getWarps()
             << " warps, but warp " << warp
             << " has none: give it to a role, an empty one if it idles";
  int64_t total = 0;
  for (int64_t first = 0; first < getWarps(); first += 4) {
    int64_t budget = owners[first].getRegisters();
    for (int64_t warp = first + 1; warp < first + 4; ++warp)
      if (owners[warp].getRegisters() != budget) {
        InFlightDiagnostic diag =
            owners[warp].emitOpError()
            << "expected " << budget << " registers, the budget of '"
            << owners[first].getSymName() << "' in the same warpgroup, but got "
            << owners[warp].getRegisters();
        diag.attachNote(owners[first].getLoc()) << "the other role is here";
        return diag;
      }
    total += budget * 128;
  }
  // A launch gives every thread the same multiple of 8; setmaxnreg only moves
  // registers between warpgroups inside that pool (PTX ISA, setmaxnreg).
  int64_t atLaunch = std::min<int64_t>(
      getTarget().getRegisters() / (getWarps() * 32) / 8 * 8, 255);
  int64_t pool = atLaunch * getWarps() * 32;
  if (total > pool)
    return emitOpError() << "expected register budgets of at most " << pool
                         << " registers in all, but got " << total << ", "
                         << total - pool << " too many";
  return success();
}

//===----------------------------------------------------------------------===//
// RoleOp
//===----------------------------------------------------------------------===//

ParseResult RoleOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  int64_t first, end, registers;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalLParen())) {
    OpAsmParser::Argument instance;
    if (parser.parseArgument(instance) || parser.parseRParen())
      return failure();
    instance.type = builder.getIndexType();
    arguments.push_back(instance);
  }
  if (parser.parseKeyword("warps") || parser.parseLParen() ||
      parser.parseInteger(first) || parser.parseKeyword("to") ||
      parser.parseInteger(end) || parser.parseRParen() ||
      parser.parseKeyword("regs") || parser.parseLParen() ||
      parser.parseInteger(registers) || parser.parseRParen())
    return failure();
  result.addAttribute(getFirstWarpAttrName(result.name),
                      builder.getI64IntegerAttr(first));
  result.addAttribute(getEndWarpAttrName(result.name),
                      builder.getI64IntegerAttr(end));
  result.addAttribute(getRegistersAttrName(result.name),
                      builder.getI64IntegerAttr(registers));
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty()) {
    Block &block = body->emplaceBlock();
    for (const OpAsmParser::Argument &argument : arguments)
      block.addArgument(argument.type, result.location);
  }
  return success();
}

void RoleOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  if (Value instance = getInstance()) {
    printer << '(';
    printer.printOperand(instance);
    printer << ')';
  }
  printer << " warps(" << getFirstWarp() << " to " << getEndWarp() << ") regs("
          << getRegisters() << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getSymNameAttrName(), getFirstWarpAttrName(),
                            getEndWarpAttrName(), getRegistersAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult RoleOp::verify() {
  if (getFirstWarp() < 0 || getEndWarp() <= getFirstWarp() || getEndWarp() > 64)
    return emitOpError() << "expected a non-empty range of warps, but got "
                         << getFirstWarp() << " to " << getEndWarp();
  unsigned arguments = getBody().getNumArguments();
  if (arguments > 1 || (arguments == 1 && !getInstance().getType().isIndex()))
    return emitOpError(
        "expected at most one argument of type index, the instance");
  if (hasInstance()) {
    if (getFirstWarp() % 4 != 0 || getEndWarp() % 4 != 0)
      return emitOpError() << "expected whole warpgroups for a role with "
                              "instances, but got warps "
                           << getFirstWarp() << " to " << getEndWarp();
  } else if (getFirstWarp() / 4 != (getEndWarp() - 1) / 4) {
    return emitOpError() << "expected warps of one warpgroup for a role "
                            "without instances, but got warps "
                         << getFirstWarp() << " to " << getEndWarp();
  }
  if (getRegisters() % 8 != 0 || getRegisters() < 24 || getRegisters() > 256)
    return emitOpError() << "expected a register budget that is a multiple of "
                            "8 from 24 to 256, but got "
                         << getRegisters();
  return success();
}
