// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipelines from fa4.attention to a kernel, made of registered passes only.
// Each also takes IR that is lowered part of the way already.

#ifndef FA4_TARGET_PIPELINES_H
#define FA4_TARGET_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::fa4 {

struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<unsigned> ptxVersion{
      *this, "ptx-version",
      llvm::cl::desc("PTX version to write, ten times: 88 is 8.8"),
      llvm::cl::init(88)};
  Option<std::string> ptxas{
      *this, "ptxas",
      llvm::cl::desc("path of ptxas; else looked for on the PATH")};
  /// Options of --fa4-schedule-attention, as text: "kv-stages=2 p-split=64".
  /// In the text of a pipeline they stand beside the others.
  std::string schedule;
};

using OptionErrorHandler = function_ref<LogicalResult(const Twine &)>;

/// Tensors to buffers; a function keeps its signature.
void addBufferizeStage(OpPassManager &pm);
/// fa4.attention to fa4.kernel and fa4.launch. Fails on an option that
/// --fa4-schedule-attention does not have.
LogicalResult addScheduleStage(OpPassManager &pm, StringRef scheduleOptions,
                               OptionErrorHandler errorHandler);
/// The proof of the handoffs between roles.
void addProofStage(OpPassManager &pm);
/// Places and parities.
void addStorageStage(OpPassManager &pm);
/// fa4.kernel to a gpu.module, fa4.launch to gpu.launch_func.
void addLoweringStage(OpPassManager &pm, unsigned ptxVersion);
/// The kernels' gpu.modules to the LLVM dialect.
void addDeviceStage(OpPassManager &pm);
/// The kernels' gpu.modules to gpu.binary: "isa" or "bin".
void addBinaryStage(OpPassManager &pm, StringRef format, StringRef ptxas);

/// How far a pipeline goes.
enum class PipelineEnd { Schedule, NVVM, PTX, Binary };

/// All stages up to `end`.
LogicalResult buildPipeline(OpPassManager &pm, PipelineEnd end,
                            const PipelineOptions &options,
                            OptionErrorHandler errorHandler);

/// --fa4-to-schedule, --fa4-to-nvvm, --fa4-to-ptx and --fa4-to-binary.
void registerFA4Pipelines();

} // namespace mlir::fa4

#endif // FA4_TARGET_PIPELINES_H
