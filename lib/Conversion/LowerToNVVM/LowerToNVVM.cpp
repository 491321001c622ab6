// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// --fa4-lower-to-nvvm: every kernel to a gpu.module, every launch to
// gpu.launch_func.
//
#include "KernelToFunction.h"
#include "LaunchLowering.h"
#include "StructureLowering.h"
#include "fa4/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_LOWERTONVVMPASS
#include "fa4/Conversion/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// PTX versions: tcgen05 needs 8.6 (PTX ISA), LLVM 22 writes up to 9.0.
constexpr unsigned oldestPtx = 86, newestPtx = 90;

struct LowerToNVVM : mlir::fa4::impl::LowerToNVVMPassBase<LowerToNVVM> {
  using LowerToNVVMPassBase::LowerToNVVMPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOp> kernels;
    module.walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    if (kernels.empty())
      return;
    if (ptxVersion < oldestPtx || ptxVersion > newestPtx) {
      kernels.front().emitOpError()
          << "needs a PTX version from " << oldestPtx / 10 << '.'
          << oldestPtx % 10 << ", for tcgen05, to " << newestPtx / 10 << '.'
          << newestPtx % 10 << ", the newest that LLVM " << LLVM_VERSION_STRING
          << " writes, but 'ptx-version' is " << ptxVersion / 10 << '.'
          << ptxVersion % 10;
      return signalPassFailure();
    }
    for (KernelOp kernel : kernels)
      if (failed(lower(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult lower(KernelOp kernel) {
    if (!isa_and_nonnull<ModuleOp>(kernel->getParentOp()))
      return kernel.emitOpError("expected to lie in a module");
    if (failed(checkReadyToLower(kernel)))
      return failure();
    std::string version =
        llvm::formatv("{0}.{1}", ptxVersion / 10, ptxVersion % 10);
    FailureOr<LaunchPlan> plan = planLaunch(kernel, version);
    if (failed(plan))
      return failure();
    auto module = kernel->getParentOfType<ModuleOp>();
    SmallVector<LaunchOp> launches;
    module.walk([&](LaunchOp launch) {
      if (SymbolTable::lookupNearestSymbolFrom(
              launch, launch.getKernelAttr()) == kernel)
        launches.push_back(launch);
    });
    FailureOr<SymbolRefAttr> function =
        lowerKernel(kernel, *plan, llvm::formatv("+ptx{0}", ptxVersion).str());
    if (failed(function))
      return failure();
    StringRef container = gpu::GPUDialect::getContainerModuleAttrName();
    module->setAttr(container, UnitAttr::get(&getContext()));
    for (LaunchOp launch : launches)
      launch->getParentOfType<ModuleOp>()->setAttr(
          container, UnitAttr::get(&getContext()));
    for (LaunchOp launch : launches)
      if (failed(lowerLaunch(launch, *function, plan->descriptor)))
        return failure();
    kernel.erase();
    return success();
  }
};

} // namespace
