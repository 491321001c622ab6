// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module with attentions, or with schedules, to a folder of kernels.

#include "Compilation.h"
#include "fa4/InitAll.h"
#include "fa4/Target/Kernels.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::fa4;
namespace cl = llvm::cl;

static cl::OptionCategory category("fa4-compile options");

static cl::opt<std::string> input(cl::Positional,
                                  cl::desc("IN.mlir (- is stdin)"),
                                  cl::Required, cl::cat(category));
static cl::opt<std::string>
    folder("o", cl::desc("Folder to write to, made if needed"),
           cl::value_desc("DIR"), cl::init("."), cl::cat(category));
static cl::list<std::string> emitKinds(
    "emit",
    cl::desc(
        "What to write, as a list with commas (default ptx,cubin,launch):\n"
        "schedule  NAME.schedule.mlir, the schedule, to edit and compile\n"
        "nvvm      NAME.nvvm.mlir, the kernel in the LLVM dialect\n"
        "ptx       NAME.ptx\n"
        "cubin     NAME.cubin, which needs ptxas\n"
        "launch    NAME.json, the launch descriptor"),
    cl::value_desc("KINDS"), cl::CommaSeparated, cl::cat(category));
static cl::opt<std::string>
    chip("chip",
         cl::desc("Chip to compile for; else that of the input's kernels, or\n"
                  "sm_100a where it has none"),
         cl::value_desc("NAME"), cl::cat(category));
static cl::opt<unsigned>
    ptxVersion("ptx-version",
               cl::desc("PTX version to write, ten times: 88 is 8.8"),
               cl::value_desc("N"), cl::init(88), cl::cat(category));
static cl::opt<std::string> ptxas(
    "ptxas",
    cl::desc("ptxas to use; else that of the PATH or of /usr/local/cuda/bin"),
    cl::value_desc("PATH"), cl::cat(category));
static cl::opt<std::string> schedule(
    "schedule",
    cl::desc("Options of --fa4-schedule-attention, as in\n"
             "--schedule='kv-stages=2 p-split=64' (fa4-opt --help lists them)"),
    cl::value_desc("OPTIONS"), cl::cat(category));
static cl::opt<bool>
    werror("werror",
           cl::desc("Make what ptxas warns of an error: spills, stack "
                    "use, a setmaxnreg that is ignored"),
           cl::cat(category));
static cl::opt<bool>
    timing("timing",
           cl::desc("Print the time of each stage, and the registers, "
                    "stack and spills of each kernel, to stderr"),
           cl::cat(category));

static LogicalResult readEmitKinds(CompileOptions &options) {
  if (emitKinds.empty()) {
    options.emit.ptx = options.emit.cubin = options.emit.launch = true;
    return success();
  }
  for (StringRef kind : emitKinds) {
    if (kind == "schedule")
      options.emit.schedule = true;
    else if (kind == "nvvm")
      options.emit.nvvm = true;
    else if (kind == "ptx")
      options.emit.ptx = true;
    else if (kind == "cubin")
      options.emit.cubin = options.cubinAsked = true;
    else if (kind == "launch")
      options.emit.launch = true;
    else
      return reportError(
          "unknown kind '" + kind +
          "' in --emit, expected some of schedule, nvvm, ptx, cubin, "
          "launch");
  }
  return success();
}

/// Refuses a chip before anything runs, and says what it lacks.
static LogicalResult checkChip(MLIRContext &context) {
  if (chip.getNumOccurrences() == 0 || TargetAttr::getForChip(&context, chip))
    return success();
  return reportError("chip '" + chip +
                     "' cannot be compiled for: the schedules need tcgen05 or "
                     "wgmma, which PTX has for architecture-specific chips "
                     "only; expected " +
                     TargetAttr::getKnownChips());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles attention to kernels\n\n"
      "  Takes a module with fa4.attention, or with fa4.kernel that is\n"
      "  edited by hand, and writes for each kernel NAME what a runtime\n"
      "  loads: NAME.ptx, NAME.cubin and NAME.json.\n");
  // LLVM's own last resort would print a stack dump.
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    (void)reportError(Twine("stage 'LLVM' failed on '") + input +
                      "': " + reason);
    exit(1);
  });

  CompileOptions options;
  options.input = input;
  options.folder = folder;
  options.chip = chip;
  options.ptxas = ptxas;
  options.schedule = schedule;
  options.ptxVersion = ptxVersion;
  options.werror = werror;
  options.timing = timing;
  if (failed(readEmitKinds(options)))
    return 1;

  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::fa4::registerAllDialects(registry);
  registerPTXTranslations(registry);
  MLIRContext context(registry);
  context.loadDialect<FA4Dialect>();
  if (failed(checkChip(context)))
    return 1;
  return failed(Compilation(options, context).run());
}
