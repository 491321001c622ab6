// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Target/Pipelines.h"
#include "fa4/Conversion/Passes.h"
#include "fa4/IR/FA4.h"
#include "fa4/Target/Passes.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/StringSaver.h"

using namespace mlir;
using namespace mlir::fa4;

void mlir::fa4::addBufferizeStage(OpPassManager &pm) {
  pm.addPass(createBufferizeAttention());
}

LogicalResult mlir::fa4::addScheduleStage(OpPassManager &pm,
                                          StringRef scheduleOptions,
                                          OptionErrorHandler errorHandler) {
  std::unique_ptr<Pass> pass = createScheduleAttention();
  if (failed(pass->initializeOptions(scheduleOptions, errorHandler)))
    return failure();
  pm.addPass(std::move(pass));
  return success();
}

void mlir::fa4::addProofStage(OpPassManager &pm) {
  pm.addPass(createProveKernels());
}

void mlir::fa4::addStorageStage(OpPassManager &pm) {
  pm.addPass(createPrepareKernels());
}

void mlir::fa4::addLoweringStage(OpPassManager &pm, unsigned ptxVersion) {
  pm.addPass(createLowerToNVVMPass(LowerToNVVMPassOptions{ptxVersion}));
}

void mlir::fa4::addDeviceStage(OpPassManager &pm) {
  pm.addPass(createKernelsToLLVM());
}

void mlir::fa4::addBinaryStage(OpPassManager &pm, StringRef format,
                               StringRef ptxas) {
  pm.addPass(createKernelsToBinary({format.str(), ptxas.str()}));
}

LogicalResult mlir::fa4::buildPipeline(OpPassManager &pm, PipelineEnd end,
                                       const PipelineOptions &options,
                                       OptionErrorHandler errorHandler) {
  addBufferizeStage(pm);
  if (failed(addScheduleStage(pm, options.schedule, errorHandler)))
    return failure();
  addProofStage(pm);
  if (end == PipelineEnd::Schedule)
    return success();
  addStorageStage(pm);
  addLoweringStage(pm, options.ptxVersion);
  addDeviceStage(pm);
  if (end == PipelineEnd::NVVM)
    return success();
  addBinaryStage(pm, end == PipelineEnd::PTX ? "isa" : "bin", options.ptxas);
  return success();
}

/// Splits at blanks outside of quotes and brackets.
static SmallVector<StringRef> splitOptions(StringRef text) {
  SmallVector<StringRef> parts;
  size_t start = 0, depth = 0;
  char quote = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ' ';
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth) {
      --depth;
    }
    bool ends = i == text.size() || (c == ' ' && !quote && !depth);
    if (!ends)
      continue;
    if (i > start)
      parts.push_back(text.slice(start, i));
    start = i + 1;
  }
  return parts;
}

/// A pipeline's options and those of --fa4-schedule-attention in one text.
static LogicalResult parseOptions(StringRef text, PipelineOptions &options,
                                  OptionErrorHandler errorHandler) {
  constexpr StringLiteral own[] = {"ptx-version", "ptxas"};
  std::string ownText;
  for (StringRef part : splitOptions(text)) {
    std::string &to = llvm::is_contained(own, part.split('=').first)
                          ? ownText
                          : options.schedule;
    to += (" " + part).str();
  }
  std::string problem;
  llvm::raw_string_ostream os(problem);
  if (failed(options.parseFromString(StringRef(ownText).trim(), os)))
    return errorHandler(StringRef(problem).rtrim());
  return success();
}

static void registerPipeline(StringRef name, StringRef description,
                             PipelineEnd end) {
  std::string text =
      (description + "; takes the options of --fa4-schedule-attention too")
          .str();
  // The registry keeps references to both.
  static llvm::BumpPtrAllocator allocator;
  static llvm::StringSaver saver(allocator);
  registerPassPipeline(
      name, saver.save(text),
      [end](OpPassManager &pm, StringRef text,
            OptionErrorHandler errorHandler) {
        PipelineOptions options;
        if (failed(parseOptions(text, options, errorHandler)))
          return failure();
        return buildPipeline(pm, end, options, errorHandler);
      },
      [](function_ref<void(const ::mlir::detail::PassOptions &)>
             optionHandler) { optionHandler(PipelineOptions()); });
}

void mlir::fa4::registerFA4Pipelines() {
  registerPipeline("fa4-to-schedule", "Attentions to schedules",
                   PipelineEnd::Schedule);
  registerPipeline("fa4-to-nvvm", "Attentions or schedules to the LLVM dialect",
                   PipelineEnd::NVVM);
  registerPipeline("fa4-to-ptx", "Attentions, schedules or NVVM to PTX",
                   PipelineEnd::PTX);
  registerPipeline("fa4-to-binary", "Attentions, schedules or NVVM to cubins",
                   PipelineEnd::Binary);
}
