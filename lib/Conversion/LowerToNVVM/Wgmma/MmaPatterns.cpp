// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// fa4.warpgroup_mma and fa4.warpgroup_wait.
//
#include "../InlineAsm.h"
#include "Layout.h"
#include "fa4/Encoding/MatrixTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

::fa4::MatrixTile getTile(RingType ring, ::fa4::MajorMode major) {
  return {major, ring.getRows(), ring.getColumns(), ring.getElementBytes(),
          ::fa4::Swizzle::B128};
}

struct MmaPattern : KernelPattern<WarpgroupMmaOp> {
  using KernelPattern::KernelPattern;

  /// The descriptor of a slot, without K offset, i64.
  FailureOr<Value> getDescriptor(ImplicitLocOpBuilder &b, Operation *op,
                                 Value ring, Value slot,
                                 const ::fa4::MatrixTile &tile) const {
    llvm::Expected<::fa4::SmemDescriptor> fields = tile.getDescriptor(0);
    llvm::Expected<uint64_t> bits =
        fields ? fields->encode(::fa4::MmaFlavour::Wgmma) : fields.takeError();
    if (!bits)
      return op->emitOpError() << "has no matrix descriptor: "
                               << llvm::toString(bits.takeError());
    // The address field holds bits 4..17 of the shared-memory address.
    Value address = LLVM::PtrToIntOp::create(
        b, b.getI32Type(), getSlotPointer(b, b.getLoc(), kernel, ring, slot));
    Value units =
        LLVM::LShrOp::create(b, address, i32Constant(b, b.getLoc(), 4));
    Value field =
        LLVM::AndOp::create(b, units, i32Constant(b, b.getLoc(), 0x3fff));
    Value wide = LLVM::ZExtOp::create(b, b.getI64Type(), field);
    Value base = LLVM::ConstantOp::create(b, b.getI64Type(),
                                          static_cast<int64_t>(*bits));
    return LLVM::OrOp::create(b, wide, base).getResult();
  }

  /// What each K step adds to a descriptor.
  static FailureOr<SmallVector<int64_t>>
  getSteps(Operation *op, const ::fa4::MatrixTile &tile) {
    SmallVector<int64_t> steps;
    for (int64_t step = 0; step < tile.getKSteps(); ++step) {
      llvm::Expected<int64_t> offset = tile.getKStepOffset16(step);
      if (!offset)
        return op->emitOpError() << "has no K step " << step << ": "
                                 << llvm::toString(offset.takeError());
      steps.push_back(*offset);
    }
    return steps;
  }

  LogicalResult
  matchAndRewrite(WarpgroupMmaOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    WgmmaProduct product;
    product.element = op.getB().getType().getElementType();
    product.columns = op.getD().getType().getShape()[1];
    product.negateA = op.getNegateA();
    product.transposeB = !op.getTransposeB();
    ::fa4::MatrixTile bTile =
        getTile(op.getB().getType(), op.getTransposeB() ? ::fa4::MajorMode::K
                                                        : ::fa4::MajorMode::MN);
    FailureOr<Value> bDescriptor =
        getDescriptor(b, op, op.getB(), adaptor.getBSlot().front(), bTile);
    FailureOr<SmallVector<int64_t>> bSteps = getSteps(op, bTile);
    if (failed(bDescriptor) || failed(bSteps))
      return failure();
    product.b = *bDescriptor;
    product.bSteps = *bSteps;
    if (auto ring = dyn_cast<RingType>(op.getA().getType())) {
      ::fa4::MatrixTile aTile = getTile(ring, ::fa4::MajorMode::K);
      FailureOr<Value> descriptor =
          getDescriptor(b, op, op.getA(), adaptor.getASlot().front(), aTile);
      FailureOr<SmallVector<int64_t>> steps = getSteps(op, aTile);
      if (failed(descriptor) || failed(steps))
        return failure();
      product.a = *descriptor;
      product.aSteps = *steps;
    } else {
      llvm::append_range(product.aRegisters, adaptor.getA());
    }
    if (op.getC())
      llvm::append_range(product.accumulators, adaptor.getC());
    SmallVector<SmallVector<Value>> results;
    results.push_back(createWgmma(b, product));
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct WaitPattern : KernelPattern<WarpgroupWaitOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WarpgroupWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<SmallVector<Value>> results;
    results.push_back(createWgmmaWait(b, op.getPending(),
                                      llvm::to_vector(adaptor.getInput())));
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

} // namespace

void wgmma::populateMmaPatterns(const TypeConverter &converter,
                                const KernelLowering &kernel,
                                RewritePatternSet &patterns) {
  patterns.add<MmaPattern, WaitPattern>(converter, patterns.getContext(),
                                        kernel);
}
