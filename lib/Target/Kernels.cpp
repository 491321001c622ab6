// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Target/Kernels.h"

using namespace mlir;
using namespace mlir::fa4;

SmallVector<LLVM::LLVMFuncOp> mlir::fa4::getKernels(gpu::GPUModuleOp module) {
  SmallVector<LLVM::LLVMFuncOp> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (isa_and_nonnull<LaunchDescriptorAttr>(
            function->getAttr(launchDescriptorName)))
      kernels.push_back(function);
  return kernels;
}

SmallVector<gpu::GPUModuleOp> mlir::fa4::getKernelModules(Operation *op) {
  SmallVector<gpu::GPUModuleOp> modules;
  op->walk([&](gpu::GPUModuleOp module) {
    if (!getKernels(module).empty())
      modules.push_back(module);
  });
  return modules;
}

FailureOr<NVVM::NVVMTargetAttr>
mlir::fa4::getNVVMTarget(gpu::GPUModuleOp module) {
  ArrayAttr targets = module.getTargetsAttr();
  if (targets && targets.size() == 1)
    if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(targets[0]))
      return target;
  return module.emitOpError() << "expected one '#nvvm.target' to emit PTX for, "
                                 "but got "
                              << (targets ? targets.size() : 0) << " targets";
}
