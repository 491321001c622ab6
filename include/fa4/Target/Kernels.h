// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowered attention kernels, and what becomes of them: PTX.

#ifndef FA4_TARGET_KERNELS_H
#define FA4_TARGET_KERNELS_H

#include "fa4/IR/FA4.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::fa4 {

/// The attribute of a kernel that says how it is launched.
inline constexpr StringLiteral launchDescriptorName = "fa4.launch";

/// The kernels of a gpu.module that carry a launch descriptor.
SmallVector<LLVM::LLVMFuncOp> getKernels(gpu::GPUModuleOp module);

/// Every gpu.module under `op` that has such a kernel.
SmallVector<gpu::GPUModuleOp> getKernelModules(Operation *op);

/// The one NVVM target of a gpu.module, or an error there.
FailureOr<NVVM::NVVMTargetAttr> getNVVMTarget(gpu::GPUModuleOp module);

/// Whether `target` has what the ops in `module` need, so that the backend does
/// not abort. An error at the op names feature, target and what is required.
LogicalResult checkTargetFeatures(gpu::GPUModuleOp module,
                                  NVVM::NVVMTargetAttr target);

/// The PTX of a gpu.module in the LLVM dialect. The context must know the
/// translations of registerPTXTranslations().
FailureOr<std::string> emitPTX(gpu::GPUModuleOp module);

/// What emitPTX needs to translate to LLVM IR.
void registerPTXTranslations(DialectRegistry &registry);

} // namespace mlir::fa4

#endif // FA4_TARGET_KERNELS_H
