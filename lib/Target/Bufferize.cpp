// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on tensors to attention on memrefs, in the functions that hold one.
// What is bufferized already is left alone: the upstream pass refuses the
// 'bufferization.to_tensor' that it leaves itself at the edges of a function,
// so that a schedule written to a file could not be lowered on.

#include "fa4/IR/FA4.h"
#include "fa4/Target/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_BUFFERIZEATTENTION
#include "fa4/Target/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;

/// The op next below a module that `op` lies in: a function, as a rule.
static Operation *getTopLevelOp(Operation *op) {
  while (!isa_and_nonnull<ModuleOp>(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

static bufferization::OneShotBufferizationOptions getOptions() {
  bufferization::OneShotBufferizationOptions options;
  // Functions keep their signatures. Where a tensor comes from outside, its
  // buffer is a plain one: a fully dynamic layout would not say that the
  // innermost stride is 1.
  options.unknownTypeConverterFn =
      [](TensorType type, Attribute space,
         const bufferization::BufferizationOptions &) {
        return bufferization::getMemRefTypeWithStaticIdentityLayout(type,
                                                                    space);
      };
  // What others compute on tensors is theirs to bufferize.
  options.allowUnknownOps = true;
  // A loop may carry the result of an attention.
  options.allowReturnAllocsFromLoops = true;
  return options;
}

namespace {

struct BufferizeAttentionPass
    : fa4::impl::BufferizeAttentionBase<BufferizeAttentionPass> {
  void runOnOperation() override {
    llvm::SetVector<Operation *> roots;
    getOperation().walk([&](AttentionOp op) {
      if (isa<TensorType>(op.getQ().getType()))
        roots.insert(getTopLevelOp(op));
    });
    for (Operation *root : roots) {
      bufferization::BufferizationState state;
      if (failed(bufferization::runOneShotBufferize(root, getOptions(), state)))
        return signalPassFailure();
    }
  }
};

} // namespace
