// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Ops that one elected thread issues: copies by TMA and MMAs.
//
#include "KernelLowering.h"
#include "fa4/Encoding/InstructionDescriptor.h"
#include "fa4/Encoding/MatrixTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// Columns of 16-bit elements in one swizzled panel: a row of 128 bytes.
constexpr int64_t panelColumns = 64;

template <typename Op> struct IssuePattern : OpConversionPattern<Op> {
  IssuePattern(const TypeConverter &converter, MLIRContext *context,
               const KernelLowering &kernel)
      : OpConversionPattern<Op>(converter, context), kernel(kernel) {}

protected:
  /// Opens a region that one thread of the warp runs.
  scf::IfOp electOne(OpBuilder &builder, Location loc) const {
    auto elected =
        scf::IfOp::create(builder, loc, kernel.elected, /*withElse=*/false);
    builder.setInsertionPointToStart(elected.thenBlock());
    return elected;
  }

  /// Coordinates of panel `panel` in the rank-5 map of Q or O, fastest first:
  /// column, head of the pack, position, tile head, batch.
  SmallVector<Value> getQueryCoordinates(OpBuilder &builder, Location loc,
                                         ValueRange coordinates,
                                         int64_t panel) const {
    Value row = arith::MulIOp::create(
        builder, loc, toI32(builder, loc, coordinates[2]),
        i32Constant(builder, loc, kernel.taskRows() / kernel.pack));
    Value stage = arith::MulIOp::create(
        builder, loc, toI32(builder, loc, coordinates[3]),
        i32Constant(builder, loc, kernel.tileRows / kernel.pack));
    return {i32Constant(builder, loc, panel * panelColumns),
            i32Constant(builder, loc, 0),
            arith::AddIOp::create(builder, loc, row, stage),
            toI32(builder, loc, coordinates[1]),
            toI32(builder, loc, coordinates[0])};
  }

  /// Coordinates of a panel in the rank-4 map of K or V: column, key, K/V head,
  /// batch.
  SmallVector<Value> getKvCoordinates(OpBuilder &builder, Location loc,
                                      ValueRange coordinates,
                                      int64_t panel) const {
    Value key =
        arith::MulIOp::create(builder, loc, toI32(builder, loc, coordinates[2]),
                              i32Constant(builder, loc, kernel.tileKeys));
    Value head = arith::DivUIOp::create(builder, loc,
                                        toI32(builder, loc, coordinates[1]),
                                        kernel.tileHeadsPerKv);
    return {i32Constant(builder, loc, panel * panelColumns), key, head,
            toI32(builder, loc, coordinates[0])};
  }

  const KernelLowering &kernel;
};

struct LoadPattern : IssuePattern<LoadOp> {
  using IssuePattern::IssuePattern;

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingType ring = op.getRing().getType();
    auto barrier = op.getBarrier().getDefiningOp<BarrierOp>();
    scf::IfOp elected = electOne(rewriter, loc);
    Value full =
        getBarrierPointer(rewriter, loc, kernel, barrier, op.getBarrierSlot());
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, loc, TypeRange{}, full,
        i32Constant(rewriter, loc, ring.getTileBytes()),
        NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
    int64_t panelBytes = ring.getRows() * panelColumns * ring.getElementBytes();
    bool isQuery = op.getCoordinates().size() == 4;
    for (int64_t panel = 0; panel < ring.getColumns() / panelColumns; ++panel) {
      Value tile = getSlotPointer(rewriter, loc, kernel, op.getRing(),
                                  op.getSlot(), panel * panelBytes);
      SmallVector<Value> box =
          isQuery
              ? getQueryCoordinates(rewriter, loc, op.getCoordinates(), panel)
              : getKvCoordinates(rewriter, loc, op.getCoordinates(), panel);
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          rewriter, loc, tile, adaptor.getSource(), box, full,
          /*im2colOffsets=*/ValueRange{},
          /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
          NVVM::TMALoadMode::TILE,
          /*isCTAOnly=*/true, /*group=*/nullptr, /*predicate=*/Value());
    }
    rewriter.setInsertionPointAfter(elected);
    rewriter.eraseOp(op);
    return success();
  }
};

struct StorePattern : IssuePattern<StoreOp> {
  using IssuePattern::IssuePattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingType ring = op.getRing().getType();
    scf::IfOp elected = electOne(rewriter, loc);
    int64_t panelBytes = ring.getRows() * panelColumns * ring.getElementBytes();
    for (int64_t panel = 0; panel < ring.getColumns() / panelColumns; ++panel) {
      Value tile = getSlotPointer(rewriter, loc, kernel, op.getRing(),
                                  op.getSlot(), panel * panelBytes);
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          rewriter, loc, adaptor.getTarget(), tile,
          getQueryCoordinates(rewriter, loc, op.getCoordinates(), panel),
          /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE,
          /*predicate=*/Value());
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
    rewriter.setInsertionPointAfter(elected);
    rewriter.eraseOp(op);
    return success();
  }
};

struct StoreWaitPattern : IssuePattern<StoreWaitOp> {
  using IssuePattern::IssuePattern;

  LogicalResult
  matchAndRewrite(StoreWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    scf::IfOp elected = electOne(rewriter, loc);
    NVVM::CpAsyncBulkWaitGroupOp::create(
        rewriter, loc,
        rewriter.getI32IntegerAttr(static_cast<int32_t>(op.getPending())),
        /*read=*/rewriter.getUnitAttr());
    rewriter.setInsertionPointAfter(elected);
    // The other threads of the warp may go on, and arrive, only now.
    NVVM::SyncWarpOp::create(rewriter, loc, i32Constant(rewriter, loc, -1));
    rewriter.eraseOp(op);
    return success();
  }
};

struct MmaPattern : IssuePattern<MmaOp> {
  using IssuePattern::IssuePattern;

  /// A tile in shared memory as its MMA operand: A and a transposed B have K
  /// along their columns, B of D = A * B has it along its rows.
  static ::fa4::MatrixTile getTile(RingType ring, ::fa4::MajorMode major) {
    return {major, ring.getRows(), ring.getColumns(), ring.getElementBytes(),
            ::fa4::Swizzle::B128};
  }

  /// The descriptor of a slot, without K offset.
  FailureOr<Value> getDescriptor(OpBuilder &builder, Location loc,
                                 Operation *op, Value ring, Value slot,
                                 const ::fa4::MatrixTile &tile) const {
    llvm::Expected<::fa4::SmemDescriptor> fields = tile.getDescriptor(0);
    llvm::Expected<uint64_t> bits =
        fields ? fields->encode(::fa4::MmaFlavour::Tcgen05)
               : fields.takeError();
    if (!bits)
      return op->emitOpError() << "has no matrix descriptor: "
                               << llvm::toString(bits.takeError());
    // The address field holds bits 4..17 of the shared-memory address.
    Value address = LLVM::PtrToIntOp::create(
        builder, loc, builder.getI32Type(),
        getSlotPointer(builder, loc, kernel, ring, slot));
    Value units = arith::ShRUIOp::create(builder, loc, address,
                                         i32Constant(builder, loc, 4));
    Value field = arith::AndIOp::create(builder, loc, units,
                                        i32Constant(builder, loc, 0x3fff));
    Value wide =
        arith::ExtUIOp::create(builder, loc, builder.getI64Type(), field);
    Value base = arith::ConstantOp::create(builder, loc,
                                           builder.getI64IntegerAttr(*bits));
    return arith::OrIOp::create(builder, loc, wide, base).getResult();
  }

  static Value advance(OpBuilder &builder, Location loc, Value descriptor,
                       int64_t units) {
    if (units == 0)
      return descriptor;
    return arith::AddIOp::create(
        builder, loc, descriptor,
        arith::ConstantOp::create(builder, loc,
                                  builder.getI64IntegerAttr(units)));
  }

  static FailureOr<uint32_t> getInstructionDescriptor(MmaOp op) {
    ::fa4::InstructionDescriptor fields;
    fields.aType = fields.bType = op.getA().getType().getElementType().isF16()
                                      ? ::fa4::MmaType::F16
                                      : ::fa4::MmaType::BF16;
    fields.negateA = op.getNegateA();
    fields.bMajor =
        op.getTransposeB() ? ::fa4::MajorMode::K : ::fa4::MajorMode::MN;
    fields.n = op.getD().getType().getColumns();
    fields.m = op.getA().getType().getRows();
    llvm::Expected<uint32_t> bits = fields.encode();
    if (!bits)
      return op->emitOpError() << "has no instruction descriptor: "
                               << llvm::toString(bits.takeError());
    return *bits;
  }

  LogicalResult
  matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RingType aRing = op.getA().getType(), bRing = op.getB().getType();
    bool aInTmem = aRing.getSpace() == MemorySpace::TMEM;
    ::fa4::MatrixTile aTile = getTile(aRing, ::fa4::MajorMode::K);
    ::fa4::MatrixTile bTile = getTile(
        bRing, op.getTransposeB() ? ::fa4::MajorMode::K : ::fa4::MajorMode::MN);

    // Outside the elected region: uniform, and hoisted out of the loops.
    FailureOr<Value> b =
        getDescriptor(rewriter, loc, op, op.getB(), op.getBSlot(), bTile);
    FailureOr<Value> a = Value();
    if (!aInTmem)
      a = getDescriptor(rewriter, loc, op, op.getA(), op.getASlot(), aTile);
    FailureOr<uint32_t> bits = getInstructionDescriptor(op);
    if (failed(a) || failed(b) || failed(bits))
      return failure();
    Value d = toTmemPointer(
        rewriter, loc,
        getSlotColumn(rewriter, loc, kernel, op.getD(), op.getDSlot()));
    Value instruction = i32Constant(rewriter, loc, *bits);
    Value yes =
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    Value no =
        arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(false));
    int64_t kPerStep = bTile.getKPerStep();
    int64_t begin = op.getSegmentBegin() / kPerStep,
            end = op.getSegmentEnd() / kPerStep;

    scf::IfOp elected = electOne(rewriter, loc);
    for (int64_t step = begin; step < end; ++step) {
      llvm::Expected<int64_t> bOffset = bTile.getKStepOffset16(step);
      llvm::Expected<int64_t> aOffset =
          aInTmem ? llvm::Expected<int64_t>(int64_t(0))
                  : aTile.getKStepOffset16(step);
      if (!aOffset || !bOffset)
        return op->emitOpError()
               << "has no K step " << step << ": "
               << llvm::toString(llvm::joinErrors(aOffset.takeError(),
                                                  bOffset.takeError()));
      Value aStep =
          aInTmem ? toTmemPointer(
                        rewriter, loc,
                        getSlotColumn(
                            rewriter, loc, kernel, op.getA(), op.getASlot(),
                            step * kPerStep * aRing.getElementBytes() / 4))
                  : advance(rewriter, loc, *a, *aOffset);
      Value accumulate = step != begin        ? yes
                         : op.getAccumulate() ? adaptor.getAccumulate()
                                              : no;
      NVVM::Tcgen05MMAOp::create(
          rewriter, loc, NVVM::Tcgen05MMAKind::F16, NVVM::CTAGroupKind::CTA_1,
          NVVM::Tcgen05MMACollectorOp::DISCARD, /*aShift=*/false, d, aStep,
          advance(rewriter, loc, *b, *bOffset), instruction, accumulate,
          /*scaleInputD=*/Value(), /*disableOutputLane=*/Value());
    }
    rewriter.setInsertionPointAfter(elected);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::fa4::populateIssuePatterns(const TypeConverter &converter,
                                      const KernelLowering &kernel,
                                      RewritePatternSet &patterns) {
  patterns.add<LoadPattern, StorePattern, StoreWaitPattern, MmaPattern>(
      converter, patterns.getContext(), kernel);
}
