// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that end in PTX or a binary.

#ifndef FA4_TARGET_PASSES_TD
#define FA4_TARGET_PASSES_TD

include "mlir/Pass/PassBase.td"

def BufferizeAttention : Pass<"fa4-bufferize", "::mlir::ModuleOp"> {
  let summary = "turns attention on tensors into attention on buffers";
  let description = [{
    Runs upstream's one-shot bufferization on each function that holds a
    `fa4.attention` on tensors. The function keeps its signature, and ops on tensors
    that do not know how to bufferize stay. Functions without one are left alone, so
    that IR can be lowered on from any level.
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

def ProveKernels : Pass<"fa4-prove-kernels", "::mlir::ModuleOp"> {
  let summary = "proves the handoffs of every kernel";
  let description = [{
    Runs `--fa4-verify-protocol` on each `fa4.kernel`, in modules inside the module too,
    whether `--fa4-materialize-phases` has given its waits their parities or not.
  }];
}

def PrepareKernels : Pass<"fa4-prepare-kernels", "::mlir::ModuleOp"> {
  let summary = "places the storage and the phases of every kernel";
  let description = [{
    Runs `--fa4-allocate-storage` and `--fa4-materialize-phases` on each `fa4.kernel`,
    in modules inside the module too.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::fa4::FA4Dialect"];
}

def KernelsToLLVM : Pass<"fa4-kernels-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lowers the device code of attention kernels to the LLVM dialect";
  let description = [{
    Runs the upstream conversions of scf, vector, arith, index, cf and NVVM on each
    `gpu.module` that holds a kernel of `--fa4-lower-to-nvvm`, with 32-bit indices.
    Host code and other GPU modules stay as they are.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def KernelsToBinary : Pass<"fa4-kernels-to-binary", "::mlir::ModuleOp"> {
  let summary = "turns the GPU modules of attention kernels into PTX or cubins";
  let description = [{
    Replaces each `gpu.module` that holds a kernel in the LLVM dialect by a
    `gpu.binary` with one object; the launch descriptor moves to the `gpu.binary`.
    Other GPU modules stay as they are.

    Unlike `--gpu-module-to-binary` it runs LLVM without the SLP vectorizer, which
    takes most of the time and finds nothing in code that has its vectors already;
    marks inline assembly with side effects convergent; and says which feature needs
    which target before the backend would abort.

    `format=bin` needs ptxas, which is looked for on the PATH and in
    `/usr/local/cuda/bin` unless `ptxas` names it. What ptxas warns of, spills and
    stack use included, becomes a warning at the module.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"isa\"", "isa (PTX) or bin (cubin)">,
    Option<"ptxas", "ptxas", "std::string", "\"\"", "path of ptxas">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif // FA4_TARGET_PASSES_TD
