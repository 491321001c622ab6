// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Barriers, waits, arrivals and fences.
//
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

template <typename Op> struct BarrierPattern : OpConversionPattern<Op> {
  BarrierPattern(const TypeConverter &converter, MLIRContext *context,
                 const KernelLowering &kernel)
      : OpConversionPattern<Op>(converter, context), kernel(kernel) {}

protected:
  /// Hardware id of a named barrier's slot, as i32.
  Value getNamedId(OpBuilder &builder, Location loc, BarrierOp barrier,
                   Value slot) const {
    Value id = toI32(builder, loc, slot);
    if (barrier.getPerWarp()) {
      Value four = i32Constant(builder, loc, 4);
      Value warp = arith::RemUIOp::create(builder, loc, kernel.warp, four);
      id = arith::AddIOp::create(
          builder, loc, arith::MulIOp::create(builder, loc, id, four), warp);
    }
    return arith::AddIOp::create(
        builder, loc, id,
        i32Constant(builder, loc, static_cast<int64_t>(*barrier.getAt())));
  }

  const KernelLowering &kernel;
};

struct WaitPattern : BarrierPattern<WaitOp> {
  using BarrierPattern::BarrierPattern;

  LogicalResult
  matchAndRewrite(WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto barrier = op.getBarrier().getDefiningOp<BarrierOp>();
    if (barrier.getNamed()) {
      NVVM::BarrierOp::create(
          rewriter, loc, TypeRange{},
          getNamedId(rewriter, loc, barrier, op.getSlot()),
          i32Constant(rewriter, loc, barrier.getExpectedCount()), nullptr,
          Value());
    } else {
      // Not the blocking form: its inline assembly is not convergent, so LLVM
      // could duplicate it.
      Value pointer =
          getBarrierPointer(rewriter, loc, kernel, barrier, op.getSlot());
      auto loop =
          scf::WhileOp::create(rewriter, loc, TypeRange{}, ValueRange{});
      {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.createBlock(&loop.getBefore());
        Value done = NVVM::MBarrierTryWaitOp::create(
            rewriter, loc, rewriter.getI1Type(), pointer, adaptor.getParity(),
            Value());
        Value yes = arith::ConstantOp::create(rewriter, loc,
                                              rewriter.getBoolAttr(true));
        Value again = arith::XOrIOp::create(rewriter, loc, done, yes);
        scf::ConditionOp::create(rewriter, loc, again, ValueRange{});
        rewriter.createBlock(&loop.getAfter());
        scf::YieldOp::create(rewriter, loc);
      }
    }
    if (kernel.ordersTmem(op))
      NVVM::Tcgen05FenceOp::create(rewriter, loc,
                                   NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ArrivePattern : BarrierPattern<ArriveOp> {
  using BarrierPattern::BarrierPattern;

  LogicalResult
  matchAndRewrite(ArriveOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto barrier = op.getBarrier().getDefiningOp<BarrierOp>();
    ArrivalAttr arrival = kernel.arrivals.lookup(op);
    if (arrival.getEngine() == Engine::Commit) {
      Value pointer =
          getBarrierPointer(rewriter, loc, kernel, barrier, op.getSlot());
      auto elected =
          scf::IfOp::create(rewriter, loc, kernel.elected, /*withElse=*/false);
      rewriter.setInsertionPointToStart(elected.thenBlock());
      NVVM::Tcgen05CommitOp::create(rewriter, loc, pointer, Value());
      rewriter.setInsertionPointAfter(elected);
      rewriter.eraseOp(op);
      return success();
    }
    if (kernel.ordersTmem(op))
      NVVM::Tcgen05FenceOp::create(rewriter, loc,
                                   NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
    if (barrier.getNamed()) {
      // The intrinsic rather than nvvm.barrier.arrive, whose inline assembly is
      // not convergent.
      LLVM::CallIntrinsicOp::create(
          rewriter, loc,
          rewriter.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
          ValueRange{getNamedId(rewriter, loc, barrier, op.getSlot()),
                     i32Constant(rewriter, loc, barrier.getExpectedCount())});
    } else if (arrival.getCount() == kernel.roleThreads.lookup(op)) {
      arriveOnce(rewriter, loc, barrier, op.getSlot());
    } else {
      // One arrival a warp, which speaks for its other threads.
      NVVM::SyncWarpOp::create(rewriter, loc, i32Constant(rewriter, loc, -1));
      auto elected =
          scf::IfOp::create(rewriter, loc, kernel.elected, /*withElse=*/false);
      rewriter.setInsertionPointToStart(elected.thenBlock());
      arriveOnce(rewriter, loc, barrier, op.getSlot());
      rewriter.setInsertionPointAfter(elected);
      NVVM::SyncWarpOp::create(rewriter, loc, i32Constant(rewriter, loc, -1));
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  void arriveOnce(OpBuilder &builder, Location loc, BarrierOp barrier,
                  Value slot) const {
    NVVM::MBarrierArriveOp::create(
        builder, loc, builder.getI64Type(),
        getBarrierPointer(builder, loc, kernel, barrier, slot), Value());
  }
};

struct FencePattern : BarrierPattern<FenceOp> {
  using BarrierPattern::BarrierPattern;

  LogicalResult
  matchAndRewrite(FenceOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    MLIRContext *context = getContext();
    rewriter.replaceOpWithNewOp<NVVM::FenceProxyOp>(
        op, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
        NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
    return success();
  }
};

struct TmemWaitPattern : BarrierPattern<TmemWaitOp> {
  using BarrierPattern::BarrierPattern;

  LogicalResult
  matchAndRewrite(TmemWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::Tcgen05WaitOp>(
        op, op.getAccess() == TmemAccess::Load ? NVVM::Tcgen05WaitKind::LOAD
                                               : NVVM::Tcgen05WaitKind::STORE);
    return success();
  }
};

} // namespace

void mlir::fa4::populateBarrierPatterns(const TypeConverter &converter,
                                        const KernelLowering &kernel,
                                        RewritePatternSet &patterns) {
  patterns.add<WaitPattern, ArrivePattern, FencePattern, TmemWaitPattern>(
      converter, patterns.getContext(), kernel);
}
