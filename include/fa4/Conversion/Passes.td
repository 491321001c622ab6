// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// From the schedule level to what each thread does.

#ifndef FA4_CONVERSION_PASSES_TD
#define FA4_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToNVVMPass : Pass<"fa4-lower-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Lower schedules to NVVM, and their launches to gpu.launch_func";
  let description = [{
    Every `fa4.kernel` becomes a `gpu.module` with one `llvm.func`: roles are
    branches on the warp, schedule loops are scf loops, and each op becomes the
    NVVM, LLVM and arith ops that one thread runs. The kernel's parameters are the
    tensor maps of Q, K, V and O by value, the address of LSE when it is written,
    and the sizes that are not static, as 32-bit integers; the attribute
    `fa4.launch` describes them (see docs/abi.md).

    Every `fa4.launch` becomes run-time checks, `nvgpu.tma.create.descriptor` and
    `gpu.launch_func`. Nothing is launched for an empty result.

    Needs allocated storage and materialised phases. Indices in the kernel are 32
    bits wide: lower on with `index-bitwidth=32`, as `--fa4-to-nvvm` does.
  }];
  let options = [
    Option<"ptxVersion", "ptx-version", "unsigned", "88",
           "PTX version to write, ten times: 88 is 8.8">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::fa4::FA4Dialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::nvgpu::NVGPUDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

#endif // FA4_CONVERSION_PASSES_TD
