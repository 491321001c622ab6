// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Analysis/DeriveContracts.h"
#include "Derive.h"
#include "fa4/Analysis/Passes.h"
#include "fa4/Analysis/Protocol.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_DERIVECONTRACTS
#include "fa4/Analysis/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

LogicalResult fa4::deriveContracts(KernelOp kernel, bool perWarp) {
  WalkResult inLogicalTime = kernel.walk([](WaitOp wait) -> WalkResult {
    if (!wait.getParity())
      return WalkResult::advance();
    return wait.emitOpError("incomplete: expected waits in logical time: "
                            "derive before --fa4-materialize-phases");
  });
  if (inLogicalTime.wasInterrupted() || failed(stripContracts(kernel)))
    return failure();
  FailureOr<Program> program = buildProgram(kernel);
  if (failed(program))
    return failure();
  program->lenient = program->loose = true;
  FailureOr<Sample> sample = takeSample(*program);
  if (failed(sample))
    return failure();
  auto dependences = findDependences(*program, *sample);
  if (failed(dependences))
    return failure();
  auto handoffs = findHandoffs(*program, *sample, *dependences);
  if (failed(handoffs))
    return failure();
  placeContracts(*program, findContracts(*program, *handoffs, perWarp),
                 perWarp);
  return verifyProtocol(kernel);
}

namespace {
struct DeriveContracts final : fa4::impl::DeriveContractsBase<DeriveContracts> {
  using DeriveContractsBase::DeriveContractsBase;
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    auto barriers = kernel.getBody().getOps<BarrierOp>();
    bool metInPairs = llvm::any_of(
        barriers, [](BarrierOp barrier) { return barrier.getPerWarp(); });
    if (failed(fa4::deriveContracts(kernel, perWarp || metInPairs)))
      return signalPassFailure();
  }
};
} // namespace
