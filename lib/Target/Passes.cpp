// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Target/Passes.h"
#include "fa4/Analysis/Passes.h"
#include "fa4/Target/Assembler.h"
#include "fa4/Target/Kernels.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_PROVEKERNELS
#define GEN_PASS_DEF_PREPAREKERNELS
#define GEN_PASS_DEF_KERNELSTOLLVM
#define GEN_PASS_DEF_KERNELSTOBINARY
#include "fa4/Target/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// Indices in a kernel are 32 bits wide: sizes and offsets fit by the checks of
/// the launch, and 64-bit address arithmetic would cost registers.
constexpr unsigned kIndexBits = 32;

static SmallVector<KernelOp> collectKernels(ModuleOp module) {
  SmallVector<KernelOp> kernels;
  module.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  return kernels;
}

struct ProveKernelsPass : fa4::impl::ProveKernelsBase<ProveKernelsPass> {
  ProveKernelsPass() { pipeline.addPass(createVerifyProtocol()); }
  ProveKernelsPass(const ProveKernelsPass &other) : ProveKernelsBase(other) {
    pipeline.addPass(createVerifyProtocol());
  }

  void runOnOperation() override {
    for (KernelOp kernel : collectKernels(getOperation()))
      if (failed(runPipeline(pipeline, kernel)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  OpPassManager pipeline{KernelOp::getOperationName()};
};

struct PrepareKernelsPass : fa4::impl::PrepareKernelsBase<PrepareKernelsPass> {
  PrepareKernelsPass() { build(); }
  PrepareKernelsPass(const PrepareKernelsPass &other)
      : PrepareKernelsBase(other) {
    build();
  }

  void runOnOperation() override {
    for (KernelOp kernel : collectKernels(getOperation()))
      if (failed(runPipeline(pipeline, kernel)))
        return signalPassFailure();
  }

private:
  void build() {
    pipeline.addPass(createAllocateStorage());
    pipeline.addPass(createMaterializePhases());
  }

  OpPassManager pipeline{KernelOp::getOperationName()};
};

struct KernelsToLLVMPass : fa4::impl::KernelsToLLVMBase<KernelsToLLVMPass> {
  KernelsToLLVMPass() { build(); }
  KernelsToLLVMPass(const KernelsToLLVMPass &other) : KernelsToLLVMBase(other) {
    build();
  }

  void getDependentDialects(DialectRegistry &registry) const override {
    KernelsToLLVMBase::getDependentDialects(registry);
    pipeline.getDependentDialects(registry);
  }

  void runOnOperation() override {
    for (gpu::GPUModuleOp module : getKernelModules(getOperation()))
      if (failed(runPipeline(pipeline, module)))
        return signalPassFailure();
  }

private:
  void build() {
    pipeline.addPass(createSCFToControlFlowPass());
    // arith, cf, vector and the rest in one conversion. convert-cf-to-llvm
    // would run on whole modules only, and so on host code.
    ConvertGpuOpsToNVVMOpsOptions options;
    options.indexBitwidth = kIndexBits;
    pipeline.addPass(createConvertGpuOpsToNVVMOps(options));
    pipeline.addPass(createConvertNVVMToLLVMPass());
    pipeline.addPass(createReconcileUnrealizedCastsPass());
  }

  OpPassManager pipeline{gpu::GPUModuleOp::getOperationName()};
};

struct KernelsToBinaryPass
    : fa4::impl::KernelsToBinaryBase<KernelsToBinaryPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    KernelsToBinaryBase::getDependentDialects(registry);
    registerPTXTranslations(registry);
  }

  void runOnOperation() override {
    if (format != "isa" && format != "bin") {
      emitError(UnknownLoc::get(&getContext()))
          << "expected 'format' to be isa or bin, but got '" << format << "'";
      return signalPassFailure();
    }
    for (gpu::GPUModuleOp module : getKernelModules(getOperation()))
      if (failed(serialize(module)))
        return signalPassFailure();
  }

private:
  LogicalResult serialize(gpu::GPUModuleOp module);
  FailureOr<std::string> assembleModule(gpu::GPUModuleOp module, StringRef ptx,
                                        StringRef chip);
};

} // namespace

FailureOr<std::string>
KernelsToBinaryPass::assembleModule(gpu::GPUModuleOp module, StringRef ptx,
                                    StringRef chip) {
  llvm::Expected<Assembler> assembler = findAssembler(ptxas);
  if (!assembler)
    return module.emitOpError() << "cannot become a cubin: "
                                << llvm::toString(assembler.takeError());
  llvm::Expected<AssembledKernel> kernel = assemble(*assembler, ptx, chip);
  if (!kernel)
    return module.emitOpError()
           << "cannot become a cubin: " << llvm::toString(kernel.takeError());
  for (const std::string &warning : kernel->warnings)
    module.emitWarning() << warning;
  return std::move(kernel->cubin);
}

LogicalResult KernelsToBinaryPass::serialize(gpu::GPUModuleOp module) {
  FailureOr<NVVM::NVVMTargetAttr> target = getNVVMTarget(module);
  if (failed(target))
    return failure();
  FailureOr<std::string> object = emitPTX(module);
  bool isBinary = format == "bin";
  if (succeeded(object) && isBinary)
    object = assembleModule(module, *object, target->getChip());
  if (failed(object))
    return failure();
  OpBuilder builder(module);
  auto kind = isBinary ? gpu::CompilationTarget::Binary
                       : gpu::CompilationTarget::Assembly;
  auto attribute = gpu::ObjectAttr::get(
      &getContext(), *target, kind, builder.getStringAttr(*object),
      /*properties=*/nullptr, /*kernels=*/nullptr);
  auto binary = gpu::BinaryOp::create(
      builder, module.getLoc(), module.getName(), /*offloadingHandler=*/nullptr,
      builder.getArrayAttr({attribute}));
  binary->setAttr(launchDescriptorName,
                  getKernels(module).front()->getAttr(launchDescriptorName));
  module.erase();
  return success();
}
