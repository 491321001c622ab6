// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verdict.h"
#include "fa4/Analysis/Protocol.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::mutation;

StringRef mutation::getName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Malformed:
    return "malformed";
  case Verdict::Refused:
    return "refused";
  case Verdict::Later:
    return "later";
  case Verdict::Warned:
    return "warned";
  case Verdict::Passes:
    return "passes";
  }
  return "";
}

Judgement mutation::judge(KernelOp kernel, const Mutant &mutant) {
  MLIRContext *context = kernel.getContext();
  std::string error, warning;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    std::string &text =
        diagnostic.getSeverity() == DiagnosticSeverity::Error ? error : warning;
    if (text.empty())
      text = diagnostic.str();
    return success();
  });
  IRMapping mapping;
  OwningOpRef<KernelOp> clone =
      cast<KernelOp>(kernel->clone(mapping, Operation::CloneOptions::all()));
  if (mutant.apply)
    mutant.apply(mapping);
  if (failed(verify(*clone)))
    return {Verdict::Malformed, error};
  if (failed(verifyProtocol(*clone)))
    return {Verdict::Refused, error};
  PassManager pm(context, KernelOp::getOperationName());
  pm.enableVerifier(false);
  pm.addPass(createAllocateStorage());
  pm.addPass(createMaterializePhases());
  if (failed(pm.run(*clone)))
    return {Verdict::Later, error};
  return {warning.empty() ? Verdict::Passes : Verdict::Warned, warning};
}
