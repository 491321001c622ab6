// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// One fa4.kernel to a gpu.module with an llvm.func.
//
#include "KernelToFunction.h"
#include "FragmentConversion.h"
#include "StructureLowering.h"
#include "TmemLoadResults.h"
#include "Wgmma/Layout.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

class KernelToFunction {
public:
  KernelToFunction(KernelOp kernel, const LaunchPlan &plan,
                   StringRef ptxFeature)
      : kernel(kernel), plan(plan), ptxFeature(ptxFeature),
        builder(kernel.getContext()), loc(kernel.getLoc()) {}

  FailureOr<SymbolRefAttr> run();

private:
  gpu::GPUModuleOp createModule();
  LLVM::LLVMFuncOp createFunction(gpu::GPUModuleOp module);
  void defineShared(LLVM::LLVMFuncOp function);
  LogicalResult convertOps(LLVM::LLVMFuncOp function);
  Value getSize(LLVM::LLVMFuncOp function, const PlannedSize &size) {
    return size.constant ? i32Constant(builder, loc, *size.constant)
                         : Value(function.getArgument(size.parameter));
  }

  KernelOp kernel;
  const LaunchPlan &plan;
  StringRef ptxFeature;
  OpBuilder builder;
  Location loc;
  KernelLowering lowering;
};

gpu::GPUModuleOp KernelToFunction::createModule() {
  builder.setInsertionPoint(kernel);
  SymbolTable table(kernel->getParentOfType<ModuleOp>());
  auto module = gpu::GPUModuleOp::create(
      builder, loc, (kernel.getSymName() + "_module").str());
  // The kernel goes: its name is free for others, this one need not avoid it.
  table.insert(module);
  auto target = NVVM::NVVMTargetAttr::get(
      kernel.getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda",
      kernel.getTarget().getChip(), ptxFeature);
  module.setTargetsAttr(builder.getArrayAttr(target));
  builder.setInsertionPointToStart(module.getBody());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, loc, bytes, /*isConstant=*/false,
                         LLVM::Linkage::External, "smem", Attribute(),
                         /*alignment=*/1024, sharedSpace);
  return module;
}

LLVM::LLVMFuncOp KernelToFunction::createFunction(gpu::GPUModuleOp module) {
  MLIRContext *context = kernel.getContext();
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (const ::fa4::LaunchParameter &parameter : plan.descriptor.parameters)
    types.push_back(parameter.kind == ::fa4::LaunchParameter::Kind::TensorMap
                        ? Type(LLVM::LLVMPointerType::get(context))
                    : parameter.kind == ::fa4::LaunchParameter::Kind::Pointer
                        ? Type(LLVM::LLVMPointerType::get(context, globalSpace))
                        : Type(builder.getI32Type()));
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  auto function =
      LLVM::LLVMFuncOp::create(builder, loc, kernel.getSymName(), type);
  auto map = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (auto [index, parameter] : llvm::enumerate(plan.descriptor.parameters)) {
    if (parameter.kind != ::fa4::LaunchParameter::Kind::TensorMap)
      continue;
    function.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(map));
    function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(64));
    function.setArgAttr(index, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
  }
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    builder.getDenseI32ArrayAttr(
                        {static_cast<int32_t>(kernel.getWarps() * 32)}));
  // Both bounds: without, ptxas ignores setmaxnreg (warning C7508).
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(1));
  function->setAttr("fa4.launch", LaunchDescriptorAttr::get(
                                      context, plan.descriptor.toJSON()));
  function.addEntryBlock(builder);
  return function;
}

/// The values that every role uses, at the top of the function. Nothing else
/// belongs here: a value that lives across all roles costs each a register.
void KernelToFunction::defineShared(LLVM::LLVMFuncOp function) {
  lowering.target = kernel.getTarget();
  lowering.scheduler = kernel.getScheduler();
  lowering.causal = kernel.getCausal();
  lowering.stages = kernel.getStages();
  lowering.tileRows = kernel.getTileRows();
  lowering.tileKeys = kernel.getTileKeys();
  lowering.pack = kernel.getPack();
  lowering.elementType = kernel.getElementType();

  auto i32 = [&](int64_t value) { return i32Constant(builder, loc, value); };
  builder.setInsertionPointToStart(&function.getBody().front());
  lowering.seqQ = getSize(function, plan.seqQ);
  lowering.seqKv = getSize(function, plan.seqKv);
  lowering.queryHeads = getSize(function, plan.queryHeads);
  lowering.tileHeads = getSize(function, plan.tileHeads);
  lowering.tileHeadsPerKv = getSize(function, plan.tileHeadsPerKv);
  lowering.mBlocks = getSize(function, plan.mBlocks);
  lowering.tasks = getSize(function, plan.tasks);
  lowering.headsPerSection = getSize(function, plan.headsPerSection);
  lowering.blocks = getSize(function, plan.blocks);

  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  lowering.smem = LLVM::AddressOfOp::create(builder, loc, pointer, "smem");
  lowering.smemAddress = LLVM::PtrToIntOp::create(
      builder, loc, builder.getI32Type(), lowering.smem);
  Value thread = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  lowering.warp = getWarp(builder, loc);
  lowering.thread = arith::AndIOp::create(builder, loc, thread, i32(127));
  Value warpOfGroup =
      arith::AndIOp::create(builder, loc, lowering.warp, i32(3));
  lowering.tmemLane = arith::ShLIOp::create(builder, loc, warpOfGroup, i32(21));
  lowering.elected =
      NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value());
}

/// What no op of fa4 or scf handed on has no registers.
static LogicalResult checkAllConverted(LLVM::LLVMFuncOp function) {
  auto isLeft = [](Type type) {
    return isa<FragmentType, PendingType, RowsType>(type);
  };
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (isa<UnrealizedConversionCastOp>(op) &&
        !llvm::any_of(op->getOperandTypes(), isLeft))
      // Says nothing where it is: its users do.
      if (llvm::any_of(op->getUsers(), [](Operation *user) {
            return !isa<UnrealizedConversionCastOp>(user);
          }))
        return WalkResult::advance();
    if (llvm::none_of(op->getOperandTypes(), isLeft) &&
        llvm::none_of(op->getResultTypes(), isLeft))
      return WalkResult::advance();
    return op->emitOpError("expected fragments and row values in ops of fa4, "
                           "scf.for, scf.if, scf.while and "
                           "scf.index_switch only");
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelToFunction::convertOps(LLVM::LLVMFuncOp function) {
  MLIRContext *context = kernel.getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) -> std::optional<Type> {
    // Of the schedule level only what places storage stays, until its last use.
    if (isa<FragmentType, PendingType, RowsType>(type))
      return std::nullopt;
    return type;
  });
  converter.addConversion([context](MemRefType type) -> Type {
    // Q, K, V and O are tensor maps in parameter space; LSE is in global
    // memory.
    if (type.getRank() == 3)
      return LLVM::LLVMPointerType::get(context, globalSpace);
    return LLVM::LLVMPointerType::get(context);
  });
  auto cast = [](OpBuilder &builder, Type type, ValueRange inputs,
                 Location loc) -> Value {
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
        .getResult(0);
  };
  converter.addTargetMaterialization(cast);
  converter.addSourceMaterialization(cast);
  addFragmentConversions(converter);

  RewritePatternSet patterns(context);
  ConversionTarget target(*context);
  target.addIllegalDialect<FA4Dialect>();
  target.addLegalOp<AllocOp, AliasOp, mlir::fa4::BarrierOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  populateBarrierPatterns(converter, lowering, patterns);
  populateIssuePatterns(converter, lowering, patterns);
  if (lowering.target.getMma() == MMAFlavour::WGMMA) {
    wgmma::populateMmaPatterns(converter, lowering, patterns);
    wgmma::populateMathPatterns(converter, lowering, patterns);
    wgmma::populateRowPatterns(converter, lowering, patterns);
    wgmma::populateStorePatterns(converter, lowering, patterns);
  } else {
    populateMemoryPatterns(converter, lowering, patterns);
    populateMathPatterns(converter, lowering, patterns);
  }
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  if (failed(applyPartialConversion(function, target, std::move(patterns))))
    return failure();

  Block &entry = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isa<AllocOp, AliasOp, mlir::fa4::BarrierOp>(op))
      op.erase();
  SmallVector<UnrealizedConversionCastOp> casts;
  function.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  reconcileUnrealizedCasts(casts);
  tieTmemLoadsToWaits(function);
  return checkAllConverted(function);
}

FailureOr<SymbolRefAttr> KernelToFunction::run() {
  recordSynchronization(kernel, lowering);
  gpu::GPUModuleOp module = createModule();
  LLVM::LLVMFuncOp function = createFunction(module);
  defineShared(function);

  // The body moves over; arguments come back as memrefs until patterns turn
  // them into the parameters that they are.
  Block &entry = function.getBody().front();
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto cast = UnrealizedConversionCastOp::create(
        builder, loc, argument.getType(),
        function.getArgument(argument.getArgNumber()));
    argument.replaceAllUsesWith(cast.getResult(0));
  }
  entry.getOperations().splice(entry.end(),
                               kernel.getBodyBlock()->getOperations());
  builder.setInsertionPointToEnd(&entry);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});

  if (failed(lowerStructure(entry, lowering, kernel.getWarps(),
                            plan.descriptor.dynamicSharedBytes)) ||
      failed(convertOps(function)))
    return failure();
  return SymbolRefAttr::get(
      module.getSymNameAttr(),
      {FlatSymbolRefAttr::get(function.getSymNameAttr())});
}

} // namespace

FailureOr<SymbolRefAttr> mlir::fa4::lowerKernel(KernelOp kernel,
                                                const LaunchPlan &plan,
                                                StringRef ptxFeature) {
  return KernelToFunction(kernel, plan, ptxFeature).run();
}
