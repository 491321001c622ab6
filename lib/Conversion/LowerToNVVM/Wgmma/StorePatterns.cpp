// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Results on their way out: O to shared memory, LSE to global memory.
//
#include "../InlineAsm.h"
#include "../RowMath.h"
#include "Layout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

constexpr int64_t panelBytes = 128;

/// TMA's 128-byte swizzle: chunk c of 16 bytes of row r lies at
/// r * 128 + (c ^ r % 8) * 16 of its panel. The eight rows and four threads of
/// a store thus hit every bank once.
struct WriteTilePattern : KernelPattern<WriteTileOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(WriteTileOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) { return i32Constant(b, loc, value); };
    int64_t rows = op.getRing().getType().getRows();
    Value row = wgmma::getFirstRow(b, kernel);
    Value inQuad = wgmma::getInQuad(b, kernel);
    Value phase = LLVM::AndOp::create(b, row, constant(7));
    Value base = LLVM::ShlOp::create(b, row, constant(7));
    base =
        LLVM::OrOp::create(b, base, LLVM::ShlOp::create(b, phase, constant(4)));
    base = LLVM::OrOp::create(b, base,
                              LLVM::ShlOp::create(b, inQuad, constant(2)));
    base = createOpaque(b, base);
    for (auto [index, word] : llvm::enumerate(adaptor.getFragment())) {
      // Two words, of the two rows, for every 8 columns.
      int64_t byte = 2 * (op.getColumn() + 8 * static_cast<int64_t>(index / 2));
      int64_t chunk = byte % panelBytes;
      Value offset = base;
      if (chunk != 0)
        offset = LLVM::XOrOp::create(b, base, constant(chunk));
      int64_t fixed =
          byte / panelBytes * panelBytes * rows +
          static_cast<int64_t>(index % 2) * wgmma::kRowStep * panelBytes;
      LLVM::StoreOp::create(b, word,
                            getSlotPointer(b, loc, kernel, op.getRing(),
                                           adaptor.getSlot().front(), fixed,
                                           offset));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// The first thread of each quad writes both rows.
struct StoreLsePattern : KernelPattern<StoreLseOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(StoreLseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Location loc = op.getLoc();
    SmallVector<Value> at;
    for (ValueRange coordinate : adaptor.getCoordinates())
      at.push_back(toI32(b, loc, coordinate.front()));
    Value first = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq,
                                       wgmma::getInQuad(b, kernel),
                                       i32Constant(b, loc, 0));
    for (int64_t row = 0; row < wgmma::kRows; ++row) {
      Value inTile =
          LLVM::AddOp::create(b, wgmma::getFirstRow(b, kernel),
                              i32Constant(b, loc, row * wgmma::kRowStep));
      Value position = getPositionOfRow(b, kernel, at[2], at[3], inTile);
      // Unsigned: the last block's rows may lie past 2^31.
      Value exists = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, position,
                                          kernel.seqQ);
      Value lse =
          getLogSumExp(b, adaptor.getReference()[row], adaptor.getSum()[row]);
      auto guard = scf::IfOp::create(b, LLVM::AndOp::create(b, first, exists),
                                     /*withElseRegion=*/false);
      b.setInsertionPointToStart(guard.thenBlock());
      LLVM::StoreOp::create(b, lse,
                            getLsePointer(b, kernel,
                                          adaptor.getTarget().front(), at[0],
                                          at[1], inTile, position));
      b.setInsertionPointAfter(guard);
    }
    // The warp's next barrier is an aligned one: its lanes have to be together.
    NVVM::SyncWarpOp::create(b, i32Constant(b, loc, -1));
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void wgmma::populateStorePatterns(const TypeConverter &converter,
                                  const KernelLowering &kernel,
                                  RewritePatternSet &patterns) {
  patterns.add<WriteTilePattern, StoreLsePattern>(
      converter, patterns.getContext(), kernel);
}
