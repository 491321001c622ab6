// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of other dialects, which the proof does not run: what they must not do.

#include "Program.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fa4;

/// Whether an op, apart from what its regions hold, may touch memory.
static bool touchesMemory(Operation *op) {
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op))
    return !effects.hasNoEffect();
  return !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
}

bool protocol::mayNotEnd(Operation *op) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
    return !steps || llvm::any_of(*steps, [](OpFoldResult step) {
      return getConstantIntValue(step).value_or(0) <= 0;
    });
  }
  // Blocks may branch back.
  return llvm::any_of(op->getRegions(), [](Region &region) {
    return !region.empty() && !region.hasOneBlock();
  });
}

Operation *protocol::findUnmodelled(Operation *op) {
  Operation *found = nullptr;
  op->walk([&](Operation *inner) {
    if (!touchesMemory(inner) && !mayNotEnd(inner))
      return WalkResult::advance();
    found = inner;
    return WalkResult::interrupt();
  });
  return found;
}

InFlightDiagnostic protocol::emitMayNotEnd(Operation *op) {
  return op->emitOpError(
      "incomplete: expected control flow that the text shows to end, such as "
      "'scf.if' and loops whose steps are positive constants");
}
