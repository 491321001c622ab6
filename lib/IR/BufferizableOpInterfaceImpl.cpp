// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/IR/BufferizableOpInterfaceImpl.h"

#include "fa4/IR/FA4.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::bufferization;

namespace {

struct AttentionBufferization
    : DstBufferizableOpInterfaceExternalModel<AttentionBufferization,
                                              AttentionOp> {
  /// Destinations are written whole and never read, so a tensor.empty or a dead
  /// value there costs no copy.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &state) const {
    return !cast<AttentionOp>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto attention = cast<AttentionOp>(op);
    if (attention.hasPureBufferSemantics())
      return success();
    SmallVector<Value, 5> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    Value lse = attention.getLse() ? buffers[4] : Value();
    auto bufferized = AttentionOp::create(
        rewriter, op->getLoc(), buffers[0], buffers[1], buffers[2], buffers[3],
        lse, attention.getCausal(), attention.getScaleAttr());
    bufferized->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    replaceOpWithBufferizedValues(rewriter, op,
                                  ArrayRef<Value>(buffers).drop_front(3));
    return success();
  }
};

} // namespace

void mlir::fa4::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FA4Dialect *dialect) {
    AttentionOp::attachInterface<AttentionBufferization>(*context);
  });
}
