// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compilation.h"
#include "KernelFolder.h"
#include "fa4/IR/FA4.h"
#include "fa4/Launch/LaunchDescriptor.h"
#include "fa4/Target/Assembler.h"
#include "fa4/Target/Kernels.h"
#include "fa4/Target/Pipelines.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include <chrono>

using namespace mlir;
using namespace mlir::fa4;

LogicalResult mlir::fa4::reportError(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "fa4-compile") << message << '\n';
  return failure();
}

void mlir::fa4::reportWarning(const Twine &message) {
  llvm::WithColor::warning(llvm::errs(), "fa4-compile") << message << '\n';
}

namespace {
/// Notes which pass fails, under the name that --help lists it by.
struct FailureNote : PassInstrumentation {
  explicit FailureNote(std::string &failedPass) : failedPass(failedPass) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    // Inside out: the first one is the pass itself, the others hold it.
    if (failedPass.empty() && !pass->getArgument().empty())
      failedPass = pass->getArgument().str();
  }
  std::string &failedPass;
};
} // namespace

Compilation::Compilation(const CompileOptions &options, MLIRContext &context)
    : options(options), context(context),
      sources(std::make_shared<llvm::SourceMgr>()) {}

LogicalResult Compilation::stage(StringRef name, Step step) {
  auto start = std::chrono::steady_clock::now();
  failedPass.clear();
  LogicalResult result = step();
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  times.emplace_back(name.str(), elapsed.count());
  if (succeeded(result))
    return success();
  std::string where = failedPass.empty() ? "" : " in --" + failedPass;
  return reportError("stage '" + name + "' failed" + where + " on '" +
                     options.input + "'");
}

LogicalResult
Compilation::passes(StringRef name,
                    function_ref<LogicalResult(OpPassManager &)> build) {
  return stage(name, [&]() -> LogicalResult {
    PassManager pm(&context, ModuleOp::getOperationName());
    pm.addInstrumentation(std::make_unique<FailureNote>(failedPass));
    if (failed(build(pm)))
      return failure();
    return pm.run(*module);
  });
}

LogicalResult Compilation::parse() {
  std::string problem;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      openInputFile(options.input, &problem);
  if (!buffer)
    return reportError(problem);
  sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
  module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  return success(bool(module));
}

/// The chip that a kernel is made for already; empty for other operations.
static StringRef getChipOf(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op))
    return kernel.getTarget().getChip();
  if (auto gpuModule = dyn_cast<gpu::GPUModuleOp>(op))
    if (ArrayAttr targets = gpuModule.getTargetsAttr())
      for (auto target : targets.getAsRange<NVVM::NVVMTargetAttr>())
        return target.getChip();
  return "";
}

/// Without --chip, kernels of the input say which chip attentions are for.
LogicalResult Compilation::chooseChip() {
  if (!options.chip.empty()) {
    chip = options.chip;
    return success();
  }
  Operation *attention = nullptr, *other = nullptr;
  module->walk([&](Operation *op) {
    if (isa<AttentionOp>(op))
      attention = op;
    StringRef own = getChipOf(op);
    if (chip.empty())
      chip = own.str();
    else if (!own.empty() && own != chip)
      other = op;
  });
  if (chip.empty())
    chip = "sm_100a";
  if (attention && other)
    return attention->emitOpError()
           << "expected a chip to be named with --chip, as kernels beside it "
              "are for "
           << chip << " and " << getChipOf(other);
  return success();
}

/// Kernels that are scheduled already stay for the chip that they are for.
LogicalResult Compilation::checkChips() {
  if (options.chip.empty())
    return success();
  WalkResult result = module->walk([&](Operation *op) -> WalkResult {
    StringRef own = getChipOf(op);
    if (own.empty() || own == options.chip)
      return WalkResult::advance();
    return op->emitOpError() << "is for " << own << ", but --chip asks for "
                             << options.chip << ": expected the same, or none";
  });
  return failure(result.wasInterrupted());
}

LogicalResult Compilation::schedule() {
  if (failed(passes("bufferize", [](OpPassManager &pm) {
        addBufferizeStage(pm);
        return success();
      })))
    return failure();
  auto onBadOption = [](const Twine &message) { return reportError(message); };
  if (failed(passes("schedule", [&](OpPassManager &pm) {
        return addScheduleStage(pm, "chip=" + chip + " " + options.schedule,
                                onBadOption);
      })))
    return failure();
  if (failed(stage("check", [&] { return checkChips(); })))
    return failure();
  return passes("proof", [](OpPassManager &pm) {
    addProofStage(pm);
    return success();
  });
}

LogicalResult Compilation::lower() {
  if (failed(passes("storage", [](OpPassManager &pm) {
        addStorageStage(pm);
        return success();
      })))
    return failure();
  if (failed(passes("lowering", [&](OpPassManager &pm) {
        addLoweringStage(pm, options.ptxVersion);
        return success();
      })))
    return failure();
  return passes("device", [](OpPassManager &pm) {
    addDeviceStage(pm);
    return success();
  });
}

LogicalResult Compilation::writeSchedules() {
  KernelFolder folder(options.folder);
  WalkResult result = module->walk([&](KernelOp kernel) -> WalkResult {
    return folder.writeModule(kernel.getSymName(), "schedule.mlir", kernel);
  });
  return failure(result.wasInterrupted());
}

namespace {

/// Writes what is asked for of one gpu.module.
class KernelWriter {
public:
  KernelWriter(const CompileOptions &options, KernelFolder &folder,
               const std::optional<Assembler> &assembler)
      : options(options), folder(folder), assembler(assembler) {}

  LogicalResult writeNVVM(gpu::GPUModuleOp module);
  LogicalResult writePTX(gpu::GPUModuleOp module, StringRef ptx);
  LogicalResult writeCubin(gpu::GPUModuleOp module, StringRef ptx);
  LogicalResult writeDescriptors(gpu::GPUModuleOp module);

private:
  const CompileOptions &options;
  KernelFolder &folder;
  const std::optional<Assembler> &assembler;
};

} // namespace

LogicalResult KernelWriter::writeNVVM(gpu::GPUModuleOp module) {
  for (LLVM::LLVMFuncOp kernel : getKernels(module))
    if (failed(folder.writeModule(kernel.getName(), "nvvm.mlir", module)))
      return failure();
  return success();
}

LogicalResult KernelWriter::writePTX(gpu::GPUModuleOp module, StringRef ptx) {
  for (LLVM::LLVMFuncOp kernel : getKernels(module))
    if (failed(folder.write(kernel.getName(), "ptx", ptx)))
      return failure();
  return success();
}

LogicalResult KernelWriter::writeCubin(gpu::GPUModuleOp module, StringRef ptx) {
  FailureOr<NVVM::NVVMTargetAttr> target = getNVVMTarget(module);
  if (failed(target))
    return failure();
  llvm::Expected<AssembledKernel> assembled =
      assemble(*assembler, ptx, target->getChip());
  if (!assembled)
    return reportError(llvm::toString(assembled.takeError()));
  for (LLVM::LLVMFuncOp kernel : getKernels(module)) {
    for (const std::string &warning : assembled->warnings) {
      std::string text = (kernel.getName() + ": " + warning).str();
      if (options.werror)
        (void)reportError(text);
      else
        reportWarning(text);
    }
    if (options.timing)
      llvm::errs() << "ptxas " << kernel.getName() << ": registers "
                   << assembled->registers << ", stack "
                   << assembled->stackBytes << " bytes, spilled "
                   << assembled->spillBytes << " bytes, "
                   << assembled->warnings.size() << " warnings\n";
    if (options.werror && !assembled->warnings.empty())
      return reportError("--werror makes what ptxas warns of an error");
    if (failed(folder.write(kernel.getName(), "cubin", assembled->cubin)))
      return failure();
  }
  return success();
}

LogicalResult KernelWriter::writeDescriptors(gpu::GPUModuleOp module) {
  for (LLVM::LLVMFuncOp kernel : getKernels(module)) {
    auto attribute =
        cast<LaunchDescriptorAttr>(kernel->getAttr(launchDescriptorName));
    llvm::Expected<::fa4::LaunchDescriptor> descriptor =
        ::fa4::LaunchDescriptor::fromJSON(attribute.getJson());
    if (!descriptor)
      return kernel.emitOpError()
             << "has a launch descriptor that cannot be read: "
             << llvm::toString(descriptor.takeError());
    descriptor->versions.ptxas = assembler ? assembler->version : "";
    if (failed(folder.write(kernel.getName(), "json", descriptor->toJSON())))
      return failure();
  }
  return success();
}

LogicalResult Compilation::writeKernels() {
  KernelFolder folder(options.folder);
  std::optional<Assembler> assembler;
  bool isMissing = false;
  if (options.emit.cubin) {
    llvm::Expected<Assembler> found = findAssembler(options.ptxas);
    if (found)
      assembler = *found;
    else if (isMissing = options.cubinAsked || !options.ptxas.empty();
             isMissing)
      (void)reportError("no cubins: " + llvm::toString(found.takeError()));
    else
      reportWarning("no cubins: " + llvm::toString(found.takeError()));
  }
  KernelWriter writer(options, folder, assembler);
  for (gpu::GPUModuleOp kernelModule : getKernelModules(*module)) {
    if (options.emit.nvvm && failed(writer.writeNVVM(kernelModule)))
      return failure();
    std::string ptx;
    if (options.emit.ptx || assembler)
      if (failed(stage("LLVM", [&]() -> LogicalResult {
            FailureOr<std::string> text = emitPTX(kernelModule);
            if (succeeded(text))
              ptx = std::move(*text);
            return text;
          })))
        return failure();
    if (options.emit.ptx && failed(writer.writePTX(kernelModule, ptx)))
      return failure();
    if (assembler && failed(stage("ptxas", [&] {
          return writer.writeCubin(kernelModule, ptx);
        })))
      return failure();
    if (options.emit.launch && failed(writer.writeDescriptors(kernelModule)))
      return failure();
  }
  return failure(isMissing);
}

void Compilation::printTimes() {
  double total = 0;
  for (const auto &[name, seconds] : times) {
    llvm::errs() << "time "
                 << llvm::format("%-10s %.3f s\n", name.c_str(), seconds);
    total += seconds;
  }
  llvm::errs() << "time " << llvm::format("%-10s %.3f s\n", "total", total);
  // What a machine with nothing else to do would take, ptxas aside.
  llvm::sys::TimePoint<> now;
  std::chrono::nanoseconds user, system;
  llvm::sys::Process::GetTimeUsage(now, user, system);
  std::chrono::duration<double> cpu = user + system;
  llvm::errs() << "time " << llvm::format("%-10s %.3f s\n", "CPU", cpu.count());
}

LogicalResult Compilation::run() {
  SourceMgrDiagnosticHandler diagnostics(*sources, &context);
  LogicalResult result = [&]() -> LogicalResult {
    if (failed(stage("parse", [&] { return parse(); })))
      return failure();
    bool hasAttention =
        module->walk([](AttentionOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    bool hasKernel =
        module->walk([](KernelOp) { return WalkResult::interrupt(); })
            .wasInterrupted() ||
        !getKernelModules(*module).empty();
    if (!hasAttention && !hasKernel)
      return reportError(
          "there is nothing to compile in '" + options.input +
          "': expected an fa4.attention, an fa4.kernel or a kernel "
          "that --fa4-lower-to-nvvm made");
    if (failed(stage("check", [&] { return chooseChip(); })) ||
        failed(schedule()))
      return failure();
    if (options.emit.schedule && failed(writeSchedules()))
      return failure();
    if (!options.emit.needsLowering())
      return success();
    if (failed(lower()))
      return failure();
    if (getKernelModules(*module).empty())
      reportWarning("every attention in '" + options.input +
                    "' has an empty result: no kernel is needed");
    return writeKernels();
  }();
  if (options.timing)
    printTimes();
  return result;
}
