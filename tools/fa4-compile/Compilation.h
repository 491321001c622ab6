// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of the compiler: stages over a module, each timed, and named when it
// fails.

#ifndef FA4_TOOLS_FA4COMPILE_COMPILATION_H
#define FA4_TOOLS_FA4COMPILE_COMPILATION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"
#include <string>
#include <vector>

namespace mlir::fa4 {

/// What to write, as in --emit.
struct EmitKinds {
  bool schedule = false, nvvm = false, ptx = false, cubin = false,
       launch = false;

  bool needsLowering() const { return nvvm || ptx || cubin || launch; }
};

struct CompileOptions {
  /// `chip` is empty where none is named.
  std::string input, folder, chip, ptxas, schedule;
  unsigned ptxVersion = 88;
  EmitKinds emit;
  /// A missing ptxas is an error, because --emit asked for cubins.
  bool cubinAsked = false;
  bool werror = false, timing = false;
};

class Compilation {
public:
  Compilation(const CompileOptions &options, MLIRContext &context);

  /// Reads, lowers and writes; errors are on stderr by then.
  LogicalResult run();

private:
  using Step = function_ref<LogicalResult()>;

  /// Runs a step under a name, for --timing and for what is said on failure.
  LogicalResult stage(StringRef name, Step step);
  LogicalResult passes(StringRef name,
                       function_ref<LogicalResult(OpPassManager &)> build);
  LogicalResult parse();
  LogicalResult chooseChip();
  LogicalResult checkChips();
  LogicalResult schedule();
  LogicalResult lower();
  LogicalResult writeSchedules();
  LogicalResult writeKernels();
  void printTimes();

  const CompileOptions &options;
  MLIRContext &context;
  std::shared_ptr<llvm::SourceMgr> sources;
  OwningOpRef<ModuleOp> module;
  /// What attentions are scheduled for where their module names no target.
  std::string chip;
  /// The pass that failed last.
  std::string failedPass;
  std::vector<std::pair<std::string, double>> times;
};

/// "fa4-compile: error: ..." on stderr.
LogicalResult reportError(const Twine &message);
void reportWarning(const Twine &message);

} // namespace mlir::fa4

#endif // FA4_TOOLS_FA4COMPILE_COMPILATION_H
