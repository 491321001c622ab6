// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Breaks each kernel of a module in every small way, and shows which ways the
// compiler refuses. A tool of the tests.

#include "Verdict.h"
#include "fa4/InitAll.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include <map>

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::mutation;
namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("SCHEDULE.mlir"),
                                  cl::init("-"));
static cl::opt<bool> list("list", cl::desc("Show every mutant: number, kernel, "
                                           "kind, role, op, change, verdict, "
                                           "rule, message"));
static cl::list<unsigned>
    write("write", cl::CommaSeparated,
          cl::desc("Write these mutants, unproved and with storage and phases "
                   "decided, to -o/NUMBER.mlir"));
static cl::opt<std::string>
    kind("kind",
         cl::desc("Only mutants of this kind; they have other numbers"));
static cl::opt<std::string> folder("o", cl::desc("Folder of --write"),
                                   cl::init("."));

namespace {
struct Row {
  unsigned counts[5] = {}, total = 0;
};
struct Found {
  KernelOp kernel;
  Mutant mutant;
};
} // namespace

static std::vector<Found> findAll(ModuleOp module) {
  std::vector<Found> all;
  module.walk([&](KernelOp kernel) {
    for (Mutant &mutant : findMutants(kernel))
      if (kind.empty() || mutant.kind == kind)
        all.push_back({kernel, std::move(mutant)});
  });
  return all;
}

/// The whole module with one mutant, lowered as far as fa4-compile takes it
/// without a proof.
static LogicalResult writeMutant(ModuleOp module, const Mutant &mutant,
                                 unsigned number) {
  IRMapping mapping;
  OwningOpRef<ModuleOp> clone =
      cast<ModuleOp>(module->clone(mapping, Operation::CloneOptions::all()));
  mutant.apply(mapping);
  PassManager pm(module.getContext());
  OpPassManager &kernels = pm.nest<KernelOp>();
  kernels.addPass(createAllocateStorage());
  kernels.addPass(createMaterializePhases());
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(pm.run(*clone)))
    return success();
  std::string problem;
  auto file =
      openOutputFile(folder + "/" + std::to_string(number) + ".mlir", &problem);
  if (!file) {
    llvm::errs() << problem << "\n";
    return failure();
  }
  clone->print(file->os());
  file->keep();
  return success();
}

static void show(unsigned number, const Found &found, const Judgement &judged,
                 const Rule *rule) {
  const Mutant &mutant = found.mutant;
  llvm::outs() << number << '\t' << KernelOp(found.kernel).getSymName() << '\t'
               << mutant.kind << '\t' << getRoleName(mutant.op) << '\t'
               << getText(mutant.op) << '\t' << mutant.detail << '\t'
               << getName(judged.verdict) << '\t' << (rule ? rule->name : "")
               << '\t' << judged.message << '\n';
}

static void printTable(const std::map<std::string, Row> &table) {
  for (const auto &[kind, row] : table) {
    llvm::outs() << kind << ": "
                 << row.counts[0] + row.counts[1] + row.counts[2] << " of "
                 << row.total << " refused";
    llvm::outs() << " (malformed " << row.counts[0] << ", proof "
                 << row.counts[1] << ", later " << row.counts[2] << ")";
    if (row.counts[3])
      llvm::outs() << ", warned " << row.counts[3];
    if (row.counts[4])
      llvm::outs() << ", pass " << row.counts[4];
    llvm::outs() << '\n';
  }
}

static int judgeAll(ModuleOp module) {
  std::map<std::string, Row> table;
  std::map<std::string, std::pair<unsigned, StringRef>> rules;
  unsigned unexplained = 0, number = 0;
  module.walk([&](KernelOp kernel) {
    Judgement judged = judge(kernel, {});
    if (judged.verdict == Verdict::Passes)
      return;
    ++unexplained;
    llvm::outs() << kernel.getSymName() << ": " << judged.message << '\n';
  });
  for (const Found &found : findAll(module)) {
    Judgement judged = judge(found.kernel, found.mutant);
    bool passes = judged.verdict >= Verdict::Warned;
    const Rule *rule = passes ? findRule(found.mutant) : nullptr;
    for (const std::string &kind :
         {found.mutant.kind + " " + getLabel(found.mutant.op),
          std::string("~ all")}) {
      Row &row = table[kind];
      ++row.counts[static_cast<int>(judged.verdict)];
      ++row.total;
    }
    if (rule) {
      auto &[count, reason] = rules[rule->name.str()];
      ++count;
      reason = rule->reason;
    }
    unexplained += passes && !rule;
    if (list || (passes && !rule))
      show(number, found, judged, rule);
    ++number;
  }
  printTable(table);
  for (const auto &[name, rule] : rules)
    llvm::outs() << "as good, " << name << ": " << rule.first << ", "
                 << rule.second << '\n';
  llvm::outs() << "not explained: " << unexplained << '\n';
  return unexplained != 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Breaks schedules\n");
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::fa4::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(input, &context);
  if (!module)
    return 1;
  if (write.empty())
    return judgeAll(*module);
  std::vector<Found> all = findAll(*module);
  for (unsigned number : write)
    if (number >= all.size() ||
        failed(writeMutant(*module, all[number].mutant, number)))
      return 1;
  return 0;
}
