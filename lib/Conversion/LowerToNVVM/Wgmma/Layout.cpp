// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Layout.h"

using namespace mlir;
using namespace mlir::fa4;

Value wgmma::getFirstRow(ImplicitLocOpBuilder &b,
                         const KernelLowering &kernel) {
  Location loc = b.getLoc();
  // 16 (t / 32) + t % 32 / 4.
  Value warpRow = LLVM::AndOp::create(
      b, LLVM::LShrOp::create(b, kernel.thread, i32Constant(b, loc, 1)),
      i32Constant(b, loc, 0x30));
  Value laneRow = LLVM::AndOp::create(
      b, LLVM::LShrOp::create(b, kernel.thread, i32Constant(b, loc, 2)),
      i32Constant(b, loc, 7));
  return LLVM::OrOp::create(b, warpRow, laneRow);
}

Value wgmma::getInQuad(ImplicitLocOpBuilder &b, const KernelLowering &kernel) {
  return LLVM::AndOp::create(b, kernel.thread,
                             i32Constant(b, b.getLoc(), kQuad - 1));
}

Value wgmma::getPosition(ImplicitLocOpBuilder &b, const KernelLowering &kernel,
                         Value mBlock, Value stage, int64_t row) {
  Value inTile = getFirstRow(b, kernel);
  if (row != 0)
    inTile = LLVM::AddOp::create(b, inTile,
                                 i32Constant(b, b.getLoc(), row * kRowStep));
  return getPositionOfRow(b, kernel, mBlock, stage, inTile);
}

Value wgmma::exchange(ImplicitLocOpBuilder &b, Value value, int64_t mask) {
  Location loc = b.getLoc();
  return NVVM::ShflOp::create(b, value.getType(), i32Constant(b, loc, -1),
                              value, i32Constant(b, loc, mask),
                              i32Constant(b, loc, 31), NVVM::ShflKind::bfly,
                              UnitAttr());
}
