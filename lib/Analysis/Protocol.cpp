// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Analysis/Protocol.h"
#include "Explore.h"
#include "Redundancy.h"
#include "fa4/Analysis/Passes.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_VERIFYPROTOCOL
#include "fa4/Analysis/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

LogicalResult fa4::verifyProtocol(KernelOp kernel,
                                  ProtocolStatistics *statistics,
                                  bool redundancy) {
  if (failed(checkFrame(kernel)))
    return failure();
  FailureOr<Program> program = buildProgram(kernel);
  if (failed(program))
    return failure();
  Exploration exploration = explore(*program);
  if (statistics)
    *statistics = {exploration.markings, exploration.events};
  for (const Finding &warning : exploration.warnings)
    emitWarning(*program, warning);
  if (exploration.faulty) {
    emitFault(*program, *exploration.faulty);
    return failure();
  }
  if (!exploration.complete) {
    InFlightDiagnostic diag =
        kernel.emitOpError()
        << "incomplete: expected the state of the handoffs to repeat, but "
           "found "
        << exploration.markings << " different ones, and no fault";
    if (exploration.unrepeated)
      noteOldest(diag, *program, *exploration.unrepeated);
    return diag;
  }
  if (redundancy)
    remarkRedundant(kernel, exploration.warnings.size());
  return success();
}

namespace {
struct VerifyProtocol final : fa4::impl::VerifyProtocolBase<VerifyProtocol> {
  using VerifyProtocolBase::VerifyProtocolBase;
  void runOnOperation() override {
    ProtocolStatistics statistics;
    if (failed(fa4::verifyProtocol(getOperation(), &statistics, redundancy)))
      return signalPassFailure();
    markings += statistics.markings;
    events += statistics.events;
    markAllAnalysesPreserved();
  }
};
} // namespace
