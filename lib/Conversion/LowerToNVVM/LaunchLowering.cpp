// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// fa4.launch on the host: checks, tensor maps, gpu.launch_func.
//
#include "LaunchLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::fa4;
using ::fa4::Expr;
using ::fa4::ExprKind;

namespace {

class LaunchLowering {
public:
  LaunchLowering(LaunchOp launch, SymbolRefAttr function,
                 const ::fa4::LaunchDescriptor &descriptor)
      : launch(launch), function(function), descriptor(descriptor),
        builder(launch), loc(launch.getLoc()) {}

  LogicalResult run();

private:
  Value constant(int64_t value) {
    return builder.createOrFold<arith::ConstantIndexOp>(loc, value);
  }
  /// An expression as index arithmetic; comparisons give i1.
  Value emit(const Expr &expr);
  Value emitIndex(const Expr &expr);
  Value emitBool(const Expr &expr);
  Value emitBinary(ExprKind kind, Value a, Value b);
  Value getOperandNamed(StringRef name);
  Value getMap(const ::fa4::TensorMapParameter &map);
  Value getLseAddress();
  void checkShapes();
  LogicalResult emitLaunch();

  LaunchOp launch;
  SymbolRefAttr function;
  const ::fa4::LaunchDescriptor &descriptor;
  OpBuilder builder;
  Location loc;
  llvm::StringMap<Value> values;
};

Value LaunchLowering::getOperandNamed(StringRef name) {
  for (auto [index, tensor] : llvm::enumerate(descriptor.tensors))
    if (tensor.name == name)
      return launch->getOperand(index);
  return {};
}

Value LaunchLowering::emitBinary(ExprKind kind, Value a, Value b) {
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  switch (kind) {
  case ExprKind::Add:
    return builder.createOrFold<arith::AddIOp>(loc, a, b);
  case ExprKind::Sub:
    return builder.createOrFold<arith::SubIOp>(loc, a, b);
  case ExprKind::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, a, b);
  case ExprKind::FloorDiv:
    return builder.createOrFold<arith::FloorDivSIOp>(loc, a, b);
  case ExprKind::Mod:
    // Operands of a descriptor's % are not negative.
    return builder.createOrFold<arith::RemSIOp>(loc, a, b);
  case ExprKind::CeilDiv:
    return builder.createOrFold<arith::CeilDivSIOp>(loc, a, b);
  case ExprKind::Min:
    return builder.createOrFold<arith::MinSIOp>(loc, a, b);
  case ExprKind::Max:
    return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
  case ExprKind::Eq:
    return compare(arith::CmpIPredicate::eq);
  case ExprKind::Ne:
    return compare(arith::CmpIPredicate::ne);
  case ExprKind::Lt:
    return compare(arith::CmpIPredicate::slt);
  case ExprKind::Le:
    return compare(arith::CmpIPredicate::sle);
  case ExprKind::Gt:
    return compare(arith::CmpIPredicate::sgt);
  case ExprKind::Ge:
    return compare(arith::CmpIPredicate::sge);
  default:
    return {};
  }
}

Value LaunchLowering::emit(const Expr &expr) {
  if (std::optional<int64_t> value = expr.getConstant())
    return constant(*value);
  if (expr.getKind() == ExprKind::Symbol)
    return values.lookup(expr.getSymbol());
  ArrayRef<Expr> operands = expr.getOperands();
  switch (expr.getKind()) {
  case ExprKind::Select:
    return arith::SelectOp::create(builder, loc, emitBool(operands[0]),
                                   emitIndex(operands[1]),
                                   emitIndex(operands[2]));
  case ExprKind::And:
  case ExprKind::Or: {
    // Lazily, as the descriptor's language has it: the right side may divide by
    // what the left side rules out.
    bool isAnd = expr.getKind() == ExprKind::And;
    Value left = emitBool(operands[0]);
    auto branch = scf::IfOp::create(builder, loc, builder.getI1Type(), left,
                                    /*withElse=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(isAnd ? branch.thenBlock()
                                           : branch.elseBlock());
    Value right = emitBool(operands[1]);
    scf::YieldOp::create(builder, loc, right);
    builder.setInsertionPointToStart(isAnd ? branch.elseBlock()
                                           : branch.thenBlock());
    scf::YieldOp::create(builder, loc, left);
    return branch.getResult(0);
  }
  default: {
    Value a = emitIndex(operands[0]), b = emitIndex(operands[1]);
    return a && b ? emitBinary(expr.getKind(), a, b) : Value();
  }
  }
}

Value LaunchLowering::emitIndex(const Expr &expr) {
  Value value = emit(expr);
  if (value && value.getType().isInteger(1))
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        value);
  return value;
}

Value LaunchLowering::emitBool(const Expr &expr) {
  Value value = emit(expr);
  if (value && value.getType().isIndex())
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 constant(0));
  return value;
}

/// A memref with the map's dimensions, slowest first, over the same elements,
/// and the descriptor that TMA reads it by.
Value LaunchLowering::getMap(const ::fa4::TensorMapParameter &map) {
  Type element =
      cast<MemRefType>(launch->getOperand(0).getType()).getElementType();
  int64_t rank = map.dims.size();
  SmallVector<OpFoldResult> sizes, strides;
  SmallVector<int64_t> box;
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    sizes.push_back(emitIndex(map.dims[dim]));
    // Map strides are bytes of 16-bit elements.
    strides.push_back(
        dim == 0 ? OpFoldResult(builder.getIndexAttr(1))
                 : OpFoldResult(emitIndex((map.strides[dim - 1] / 2).fold())));
    box.push_back(*map.box[dim].getConstant());
  }
  SmallVector<int64_t> dynamic(rank, ShapedType::kDynamic),
      typeStrides(dynamic);
  typeStrides.back() = 1;
  auto viewType = MemRefType::get(dynamic, element,
                                  StridedLayoutAttr::get(builder.getContext(),
                                                         ShapedType::kDynamic,
                                                         typeStrides));
  auto view = [&](StringRef name) -> Value {
    Value operand = getOperandNamed(name);
    // Views of operands in different spaces, all global, must have one type.
    auto given = cast<MemRefType>(operand.getType());
    auto plain = MemRefType::get(given.getShape(), element, given.getLayout());
    if (given != plain)
      operand = memref::MemorySpaceCastOp::create(builder, loc, plain, operand);
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, operand);
    return memref::ReinterpretCastOp::create(
        builder, loc, viewType, metadata.getBaseBuffer(),
        OpFoldResult(metadata.getOffset()), sizes, strides);
  };
  Value source;
  if (map.base.getKind() == ExprKind::Select)
    source = arith::SelectOp::create(
        builder, loc, emitBool(map.base.getOperands()[0]),
        view(map.base.getOperands()[1].getSymbol()),
        view(map.base.getOperands()[2].getSymbol()));
  else
    source = view(map.base.getSymbol());
  Value unranked = memref::CastOp::create(
      builder, loc, UnrankedMemRefType::get(element, Attribute()), source);
  SmallVector<Value> boxValues;
  for (int64_t extent : box)
    boxValues.push_back(constant(extent));
  auto tile =
      MemRefType::get(box, element, MemRefLayoutAttrInterface(),
                      gpu::AddressSpaceAttr::get(builder.getContext(),
                                                 gpu::AddressSpace::Workgroup));
  auto type = nvgpu::TensorMapDescriptorType::get(
      builder.getContext(), tile, nvgpu::TensorMapSwizzleKind::SWIZZLE_128B,
      nvgpu::TensorMapL2PromoKind::L2PROMO_256B,
      nvgpu::TensorMapOOBKind::OOB_ZERO,
      nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
  return nvgpu::TmaCreateDescriptorOp::create(builder, loc, type, unranked,
                                              boxValues);
}

Value LaunchLowering::getLseAddress() {
  Value lse = launch->getOperand(4);
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, lse);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, lse);
  Value bytes = builder.createOrFold<arith::MulIOp>(loc, metadata.getOffset(),
                                                    constant(4));
  Value address = arith::IndexCastOp::create(
      builder, loc, builder.getI64Type(),
      builder.createOrFold<arith::AddIOp>(loc, base, bytes));
  return LLVM::IntToPtrOp::create(
      builder, loc,
      LLVM::LLVMPointerType::get(builder.getContext(), /*addressSpace=*/1),
      address);
}

/// Dynamic extents that must agree with an extent of another operand.
void LaunchLowering::checkShapes() {
  for (auto [index, tensor] : llvm::enumerate(descriptor.tensors)) {
    auto type = cast<MemRefType>(launch->getOperand(index).getType());
    for (auto [dim, extent] : llvm::enumerate(tensor.shape)) {
      bool isSource = llvm::any_of(
          descriptor.symbols, [&](const ::fa4::LaunchSymbol &symbol) {
            return symbol.source == ::fa4::LaunchSymbol::Source::Dim &&
                   symbol.operand == tensor.name &&
                   symbol.index == static_cast<int64_t>(dim);
          });
      if (!type.isDynamicDim(dim) || isSource)
        continue;
      Value actual =
          memref::DimOp::create(builder, loc, launch->getOperand(index), dim);
      Value agrees = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, actual, emitIndex(extent));
      cf::AssertOp::create(
          builder, loc, agrees,
          llvm::formatv("expected dimension {0} of '{1}' to be {2}", dim,
                        tensor.name, extent.str())
              .str());
    }
  }
}

LogicalResult LaunchLowering::emitLaunch() {
  SmallVector<Value> arguments;
  for (const ::fa4::LaunchParameter &parameter : descriptor.parameters) {
    switch (parameter.kind) {
    case ::fa4::LaunchParameter::Kind::TensorMap:
      arguments.push_back(getMap(parameter.tensorMap));
      break;
    case ::fa4::LaunchParameter::Kind::Pointer:
      arguments.push_back(getLseAddress());
      break;
    case ::fa4::LaunchParameter::Kind::I32:
      arguments.push_back(arith::IndexCastOp::create(
          builder, loc, builder.getI32Type(), emitIndex(parameter.value)));
      break;
    case ::fa4::LaunchParameter::Kind::F32:
      return launch.emitOpError()
             << "cannot pass the f32 parameter '" << parameter.name << "'";
    }
  }
  gpu::KernelDim3 grid{emitIndex(descriptor.grid[0]),
                       emitIndex(descriptor.grid[1]),
                       emitIndex(descriptor.grid[2])};
  gpu::KernelDim3 block{constant(descriptor.block[0]),
                        constant(descriptor.block[1]),
                        constant(descriptor.block[2])};
  Value bytes =
      arith::ConstantOp::create(builder, loc,
                                builder.getI32IntegerAttr(static_cast<int32_t>(
                                    descriptor.dynamicSharedBytes)));
  gpu::LaunchFuncOp::create(builder, loc, function, grid, block, bytes,
                            arguments);
  return success();
}

LogicalResult LaunchLowering::run() {
  for (const ::fa4::LaunchSymbol &symbol : descriptor.symbols) {
    Value operand = getOperandNamed(symbol.operand);
    if (symbol.source == ::fa4::LaunchSymbol::Source::Dim) {
      values[symbol.name] =
          memref::DimOp::create(builder, loc, operand, symbol.index);
    } else {
      auto metadata =
          memref::ExtractStridedMetadataOp::create(builder, loc, operand);
      values[symbol.name] = metadata.getStrides()[symbol.index];
    }
  }
  // In the order of a launcher (docs/abi.md). No derived value of an attention
  // divides by zero, whatever the sizes.
  for (const ::fa4::LaunchDerived &derived : descriptor.derived)
    values[derived.name] = emitIndex(derived.value);
  Expr skip = descriptor.skipIf.fold();
  if (std::optional<int64_t> constant = skip.getConstant()) {
    if (*constant) {
      launch.erase();
      return success();
    }
  } else {
    Value work = arith::XOrIOp::create(
        builder, loc, emitBool(skip),
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    auto branch = scf::IfOp::create(builder, loc, work, /*withElse=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  checkShapes();
  for (const ::fa4::LaunchCheck &check : descriptor.checks)
    cf::AssertOp::create(builder, loc, emitBool(check.require), check.message);
  if (failed(emitLaunch()))
    return failure();
  launch.erase();
  return success();
}

} // namespace

LogicalResult
mlir::fa4::lowerLaunch(LaunchOp launch, SymbolRefAttr function,
                       const ::fa4::LaunchDescriptor &descriptor) {
  return LaunchLowering(launch, function, descriptor).run();
}
