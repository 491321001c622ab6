// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Ops that move values between registers and a tile, a mailbox or the LSE.
//
#include "InlineAsm.h"
#include "RowMath.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// One thread, one row, consecutive 32-bit columns.
constexpr auto rowShape = NVVM::Tcgen05LdStShape::SHAPE_32X32B;
/// The row of a swizzled panel in shared memory, and the chunk that moves as
/// one.
constexpr int64_t panelBytes = 128, chunkBytes = 16;

/// Address of 32-bit column `column` of a slot, in this warp's lanes.
Value getTmemAddress(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                     Value ring, Value slot, int64_t column) {
  Value address = getSlotColumn(b, b.getLoc(), kernel, ring, slot, column);
  return toTmemPointer(b, b.getLoc(),
                       LLVM::AddOp::create(b, address, kernel.tmemLane));
}

Value loadColumns(ImplicitLocOpBuilder &b, Value address, int64_t columns) {
  Type type = b.getI32Type();
  if (columns > 1)
    type = VectorType::get({columns}, type);
  return NVVM::Tcgen05LdOp::create(b, type, /*pack=*/false, rowShape, address,
                                   /*offset=*/Value());
}

void storeColumns(ImplicitLocOpBuilder &b, Value address, Value words) {
  NVVM::Tcgen05StOp::create(b, /*unpack=*/false, rowShape, address, words,
                            /*offset=*/Value());
}

struct ReadTilePattern : KernelPattern<ReadTileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(ReadTileOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FragmentType type = op.getFragment().getType();
    int64_t bytes = op.getRing().getType().getElementBytes();
    Value address =
        getTmemAddress(b, kernel, op.getRing(), adaptor.getSlot().front(),
                       op.getColumn() * bytes / 4);
    Value words = loadColumns(b, address, type.getColumns() * bytes / 4);
    SmallVector<SmallVector<Value>> results;
    results.push_back(splitWords(b, words, type.getElementType()));
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct WriteTilePattern : KernelPattern<WriteTileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WriteTileOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    RingType ring = op.getRing().getType();
    Value slot = adaptor.getSlot().front();
    int64_t byte = op.getColumn() * ring.getElementBytes();
    SmallVector<Value> words = getWords(b, adaptor.getFragment());
    if (ring.getSpace() == MemorySpace::TMEM) {
      storeColumns(b, getTmemAddress(b, kernel, op.getRing(), slot, byte / 4),
                   joinWords(b, words));
    } else {
      writeSwizzled(b, op.getRing(), slot, byte, words);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Writes the thread's row as TMA's 128-byte swizzle lays it out: chunk c of
  /// row r lies at r * 128 + (c ^ r % 8) * 16 of its panel. Eight neighbouring
  /// threads thus hit eight different groups of banks.
  void writeSwizzled(ImplicitLocOpBuilder &b, Value ring, Value slot,
                     int64_t byte, ArrayRef<Value> words) const {
    Location loc = b.getLoc();
    int64_t rows = cast<RingType>(ring.getType()).getRows();
    Value thread = createOpaque(b, kernel.thread);
    Value row = LLVM::ShlOp::create(b, thread, i32Constant(b, loc, 7));
    Value phase = LLVM::AndOp::create(b, thread, i32Constant(b, loc, 7));
    phase = LLVM::ShlOp::create(b, phase, i32Constant(b, loc, 4));
    Value rowOffset = LLVM::OrOp::create(b, row, phase);
    for (size_t index = 0; index < words.size();
         index += 4, byte += chunkBytes) {
      int64_t inRow = byte % panelBytes;
      Value offset = rowOffset;
      if (inRow != 0)
        offset = LLVM::XOrOp::create(b, rowOffset, i32Constant(b, loc, inRow));
      Value pointer =
          getSlotPointer(b, loc, kernel, ring, slot,
                         byte / panelBytes * panelBytes * rows, offset);
      LLVM::StoreOp::create(b, joinWords(b, words.slice(index, 4)), pointer,
                            chunkBytes);
    }
  }
};

struct RescalePattern : KernelPattern<RescaleOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(RescaleOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value factor = adaptor.getFactor().front();
    // Unordered, so that a NaN factor takes the path that spreads it.
    Value needed = LLVM::FCmpOp::create(b, LLVM::FCmpPredicate::une, factor,
                                        f32Constant(b, b.getLoc(), 1.0f));
    Value any = NVVM::VoteSyncOp::create(b, b.getI1Type(),
                                         i32Constant(b, b.getLoc(), -1), needed,
                                         NVVM::VoteSyncKind::any);
    auto dataPath = scf::IfOp::create(b, any, /*withElseRegion=*/false);
    b.setInsertionPointToStart(dataPath.thenBlock());
    Value factors = createSplat(b, factor);
    for (int64_t column = 0; column < op.getRing().getType().getColumns();
         column += op.getChunk())
      rescaleChunk(b, op, adaptor.getSlot().front(), column, factors);
    NVVM::Tcgen05WaitOp::create(b, NVVM::Tcgen05WaitKind::STORE);
    rewriter.eraseOp(op);
    return success();
  }

private:
  void rescaleChunk(ImplicitLocOpBuilder &b, RescaleOp op, Value slot,
                    int64_t column, Value factors) const {
    Value address = getTmemAddress(b, kernel, op.getRing(), slot, column);
    Value words = loadColumns(b, address, op.getChunk());
    SmallVector<Value> pairs = splitWords(b, words, b.getF32Type());
    // The store overwrites what the load reads, and nothing else orders the
    // two.
    NVVM::Tcgen05WaitOp::create(b, NVVM::Tcgen05WaitKind::LOAD);
    if (op.getChunk() == 1) {
      Value value = LLVM::BitcastOp::create(b, b.getF32Type(), words);
      value = LLVM::FMulOp::create(b, value, getLow(b, factors));
      storeColumns(b, address,
                   LLVM::BitcastOp::create(b, b.getI32Type(), value));
      return;
    }
    for (Value &pair : pairs)
      pair = LLVM::FMulOp::create(b, pair, factors);
    storeColumns(b, address, joinWords(b, getWords(b, pairs)));
  }
};

/// Where this thread's value lies in a mailbox.
Value getMailPointer(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                     Value ring, Value slot) {
  Value offset =
      LLVM::ShlOp::create(b, kernel.thread, i32Constant(b, b.getLoc(), 2));
  return getSlotPointer(b, b.getLoc(), kernel, ring, slot, /*offset=*/0,
                        offset);
}

struct PublishPattern : KernelPattern<PublishOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(PublishOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value pointer =
        getMailPointer(b, kernel, op.getRing(), adaptor.getSlot().front());
    LLVM::StoreOp::create(b, adaptor.getValue().front(), pointer);
    rewriter.eraseOp(op);
    return success();
  }
};

struct CollectPattern : KernelPattern<CollectOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(CollectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value pointer =
        getMailPointer(b, kernel, op.getRing(), adaptor.getSlot().front());
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, b.getF32Type(), pointer);
    return success();
  }
};

struct StoreLsePattern : KernelPattern<StoreLseOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreLseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> at;
    for (ValueRange coordinate : adaptor.getCoordinates())
      at.push_back(toI32(b, b.getLoc(), coordinate.front()));
    Value position = getPosition(b, kernel, at[2], at[3]);
    // Unsigned: the last block's rows may lie past 2^31.
    Value exists = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, position,
                                        kernel.seqQ);
    Value lse = getLogSumExp(b, adaptor.getReference().front(),
                             adaptor.getSum().front());
    auto guard = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    LLVM::StoreOp::create(b, lse,
                          getLsePointer(b, kernel, adaptor.getTarget().front(),
                                        at[0], at[1], kernel.thread, position));
    // The warp's next barrier is an aligned one: its lanes have to be together.
    b.setInsertionPointAfter(guard);
    NVVM::SyncWarpOp::create(b, i32Constant(b, b.getLoc(), -1));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::fa4::populateMemoryPatterns(const TypeConverter &converter,
                                       const KernelLowering &kernel,
                                       RewritePatternSet &patterns) {
  patterns.add<ReadTilePattern, WriteTilePattern, RescalePattern,
               PublishPattern, CollectPattern, StoreLsePattern>(
      converter, patterns.getContext(), kernel);
}
