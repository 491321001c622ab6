// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LLVM dialect to PTX, with LLVM's own pipeline set up for these kernels.

#include "fa4/Target/Kernels.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Regex.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::fa4;

void mlir::fa4::registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

/// Assembly with side effects may synchronise threads: LLVM must not copy it
/// into branches or move it between them. MLIR has no way to say so.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::CallBase>(&instruction);
      auto *assembly =
          call ? dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
      if (assembly && assembly->hasSideEffects())
        call->setConvergent();
    }
}

namespace {

/// LLVM's diagnostics, as MLIR's at the module. The default handler would leave
/// the process after an error.
class ReportAt : public llvm::DiagnosticHandler {
public:
  ReportAt(Operation *op, bool &sawError) : op(op), sawError(sawError) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error &&
        info.getSeverity() != llvm::DS_Warning)
      return true;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    bool isError = info.getSeverity() == llvm::DS_Error;
    sawError |= isError;
    (isError ? op->emitError() : op->emitWarning()) << "LLVM: " << text;
    return true;
  }

private:
  Operation *op;
  bool &sawError;
};

class PTXEmitter : public LLVM::ModuleToObject {
public:
  PTXEmitter(gpu::GPUModuleOp op, NVVM::NVVMTargetAttr target)
      : ModuleToObject(*op, target.getTriple(), target.getChip(),
                       target.getFeatures(), target.getO()) {}

protected:
  LogicalResult optimizeModule(llvm::Module &llvmModule, int level) override;
  FailureOr<SmallVector<char, 0>>
  moduleToObject(llvm::Module &llvmModule) override;

private:
  bool sawError = false;
};

} // namespace

LogicalResult PTXEmitter::optimizeModule(llvm::Module &llvmModule, int level) {
  FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
  if (failed(machine))
    return getOperation().emitError()
           << "this build of LLVM has no target for " << triple;
  llvmModule.getContext().setDiagnosticHandler(
      std::make_unique<ReportAt>(&getOperation(), sawError));
  markConvergent(llvmModule);

  const std::pair<llvm::OptimizationLevel, llvm::CodeGenOptLevel> levels[] = {
      {llvm::OptimizationLevel::O0, llvm::CodeGenOptLevel::None},
      {llvm::OptimizationLevel::O1, llvm::CodeGenOptLevel::Less},
      {llvm::OptimizationLevel::O2, llvm::CodeGenOptLevel::Default},
      {llvm::OptimizationLevel::O3, llvm::CodeGenOptLevel::Aggressive}};
  auto [optimization, codegen] = levels[std::clamp(level, 0, 3)];
  (*machine)->setOptLevel(codegen);

  llvm::PipelineTuningOptions tuning;
  // Code of one thread, already in vectors: two thirds of the time for nothing.
  tuning.SLPVectorization = false;
  tuning.LoopVectorization = false;
  llvm::PassBuilder builder(*machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes =
      optimization == llvm::OptimizationLevel::O0
          ? builder.buildO0DefaultPipeline(optimization)
          : builder.buildPerModuleDefaultPipeline(optimization);
  passes.run(llvmModule, modules);
  return failure(sawError);
}

FailureOr<SmallVector<char, 0>>
PTXEmitter::moduleToObject(llvm::Module &llvmModule) {
  FailureOr<llvm::TargetMachine *> machine = getOrCreateTargetMachine();
  if (failed(machine))
    return failure();
  FailureOr<SmallString<0>> ptx = translateModuleToISA(
      llvmModule, **machine, [&] { return getOperation().emitError(); });
  if (failed(ptx) || sawError)
    return failure();
  return SmallVector<char, 0>(ptx->begin(), ptx->end());
}

/// The backend would abort on a symbol that PTX cannot spell (PTX ISA,
/// Identifiers).
static LogicalResult checkNames(gpu::GPUModuleOp module) {
  llvm::Regex identifier("^([a-zA-Z][a-zA-Z0-9_$]*|[_$][a-zA-Z0-9_$]+)$");
  for (Operation &op : *module.getBody())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op);
        symbol && !identifier.match(symbol.getName()))
      return symbol.emitOpError()
             << "expected a name of letters, digits, '_' and '$', as PTX has "
                "them, but got '"
             << symbol.getName() << "'";
  return success();
}

FailureOr<std::string> mlir::fa4::emitPTX(gpu::GPUModuleOp module) {
  FailureOr<NVVM::NVVMTargetAttr> target = getNVVMTarget(module);
  if (failed(target) || failed(checkTargetFeatures(module, *target)) ||
      failed(checkNames(module)))
    return failure();
  NVVM::SerializeGPUModuleBase::init();
  std::optional<SmallVector<char, 0>> ptx = PTXEmitter(module, *target).run();
  if (!ptx)
    return module.emitOpError("could not be turned into PTX");
  return std::string(ptx->begin(), ptx->end());
}
