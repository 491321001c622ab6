// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Which task comes when, and which K/V blocks a task sees.
//
#include "LoopLowering.h"
#include "InlineAsm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// i32 arithmetic that folds constants as it goes.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) { return i32Constant(builder, loc, value); }
  template <typename Op> Value make(Value a, Value b) {
    return builder.createOrFold<Op>(loc, a, b);
  }
  Value add(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value sub(Value a, Value b) { return make<arith::SubIOp>(a, b); }
  Value mul(Value a, Value b) { return make<arith::MulIOp>(a, b); }
  Value div(Value a, Value b) { return make<arith::DivUIOp>(a, b); }
  Value rem(Value a, Value b) { return make<arith::RemUIOp>(a, b); }
  Value min(Value a, Value b) { return make<arith::MinSIOp>(a, b); }
  Value max(Value a, Value b) { return make<arith::MaxSIOp>(a, b); }
  /// A size anew: what a task derives from the sizes is computed in the task,
  /// not kept in registers across all of them.
  Value fresh(Value size) {
    if (matchPattern(size, m_Constant()))
      return size;
    ImplicitLocOpBuilder b(loc, builder);
    return createOpaque(b, size);
  }
  Value toIndex(Value a) {
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                    a);
  }
};

/// Batch, tile head and M block of a task.
struct Task {
  Value batch, head, mBlock;
};

/// Linear: M blocks of a head one after another, heads of a batch, batches.
Task decodeLinear(Arithmetic a, Value task, const KernelLowering &lowering) {
  Value mBlocks = a.fresh(lowering.mBlocks),
        heads = a.fresh(lowering.tileHeads);
  Value m = a.rem(task, mBlocks);
  Value pair = a.div(task, mBlocks);
  return {a.div(pair, heads), a.rem(pair, heads), m};
}

/// Longest first: the last M block, which sees most keys, first. Heads come in
/// sections whose K and V fit the L2 together; within a section all heads do
/// one M block before the next.
Task decodeLongestFirst(Arithmetic a, Value task,
                        const KernelLowering &lowering) {
  Value mBlocks = a.fresh(lowering.mBlocks),
        heads = a.fresh(lowering.tileHeads);
  Value tasks = a.fresh(lowering.tasks),
        perSectionHeads = a.fresh(lowering.headsPerSection);
  Value perSection = a.mul(perSectionHeads, mBlocks);
  Value section = a.div(task, perSection);
  Value within = a.rem(task, perSection);
  Value firstHead = a.mul(section, perSectionHeads);
  // The last section may be narrower.
  Value width = a.min(a.sub(a.div(tasks, mBlocks), firstHead), perSectionHeads);
  Value m = a.sub(a.sub(mBlocks, a.constant(1)), a.div(within, width));
  Value pair = a.add(firstHead, a.rem(within, width));
  return {a.div(pair, heads), a.rem(pair, heads), m};
}

/// K/V blocks of an M block: how many some row of it sees at all (at least one
/// is visited), and how many of those, from the first key on, every row sees
/// whole.
struct KvBlocks {
  Value visited, whole;
};

KvBlocks getKvBlocks(Arithmetic a, Value mBlock,
                     const KernelLowering &lowering) {
  Value keys = a.constant(lowering.tileKeys);
  Value seqKv = a.fresh(lowering.seqKv);
  Value seenBySome = seqKv, seenByAll = seqKv;
  if (lowering.causal) {
    // Position i sees keys up to i + Skv - Sq (bottom-right aligned).
    Value seqQ = a.fresh(lowering.seqQ);
    Value zero = a.constant(0), one = a.constant(1);
    Value shift = a.sub(seqKv, seqQ);
    Value rows = a.constant(lowering.taskRows()),
          pack = a.constant(lowering.pack);
    Value firstRow = a.mul(mBlock, rows);
    Value firstPosition = a.div(firstRow, pack);
    Value lastPosition =
        a.min(a.div(a.add(firstRow, a.constant(lowering.taskRows() - 1)), pack),
              a.sub(seqQ, one));
    auto seenUpTo = [&](Value position) {
      return a.min(a.max(a.add(a.add(position, shift), one), zero), seqKv);
    };
    seenBySome = seenUpTo(lastPosition);
    seenByAll = seenUpTo(firstPosition);
  }
  Value roundedUp =
      a.div(a.add(seenBySome, a.constant(lowering.tileKeys - 1)), keys);
  return {a.max(roundedUp, a.constant(1)), a.div(seenByAll, keys)};
}

/// Moves a loop's body into an scf loop; `leading` replace the region arguments
/// in front of the carried ones.
void moveBody(Operation *op, Region &region, scf::ForOp loop,
              ValueRange leading) {
  Block &from = region.front(), &to = *loop.getBody();
  SmallVector<Value> arguments(leading);
  llvm::append_range(arguments, loop.getRegionIterArgs());
  for (auto [argument, value] : llvm::zip_equal(from.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  // An scf loop without carried values is built with a terminator of its own.
  auto yield = cast<YieldOp>(from.getTerminator());
  if (!to.empty() && to.back().hasTrait<OpTrait::IsTerminator>())
    to.back().erase();
  to.getOperations().splice(to.end(), from.getOperations());
  OpBuilder builder(yield);
  scf::YieldOp::create(builder, yield.getLoc(), yield.getOperands());
  yield.erase();
  op->replaceAllUsesWith(loop.getResults());
  op->erase();
}

/// `bound` (i32) as something that LLVM knows nothing of. Of a loop that is
/// known to run once or never it leaves no loop; ptxas then moves what is
/// between two products of a warpgroup across them, and has not the registers
/// for it.
Value hide(OpBuilder &builder, Location loc, Value bound) {
  ImplicitLocOpBuilder b(loc, builder);
  return createOpaque(b, bound);
}

void lowerForTask(ForTaskOp op, Scheduler scheduler,
                  const KernelLowering &lowering) {
  OpBuilder builder(op);
  Arithmetic a{builder, op.getLoc()};
  Value block =
      NVVM::BlockIdXOp::create(builder, op.getLoc(), builder.getI32Type());
  Value tasks = lowering.tasks;
  if (lowering.target.getMma() == MMAFlavour::WGMMA)
    tasks = hide(builder, op.getLoc(), tasks);
  auto loop = scf::ForOp::create(builder, op.getLoc(), a.toIndex(block),
                                 a.toIndex(tasks), a.toIndex(lowering.blocks),
                                 op.getInitArgs());
  builder.setInsertionPointToStart(loop.getBody());
  Value task = builder.createOrFold<arith::IndexCastOp>(
      op.getLoc(), builder.getI32Type(), loop.getInductionVar());
  Task decoded = scheduler == Scheduler::LinearPersistent
                     ? decodeLinear(a, task, lowering)
                     : decodeLongestFirst(a, task, lowering);
  if (lowering.target.getMma() == MMAFlavour::WGMMA)
    decoded.mBlock = hide(builder, op.getLoc(), decoded.mBlock);
  SmallVector<Value> leading{a.toIndex(decoded.batch), a.toIndex(decoded.head),
                             a.toIndex(decoded.mBlock)};
  moveBody(op, op.getBody(), loop, leading);
}

void lowerForKv(ForKvOp op, const KernelLowering &lowering) {
  OpBuilder builder(op);
  Arithmetic a{builder, op.getLoc()};
  KvBlocks blocks =
      getKvBlocks(a, toI32(builder, op.getLoc(), op.getMBlock()), lowering);
  Value one = a.constant(1);
  // The i-th visit is of block visited - 1 - i; blocks from `whole` on are
  // masked.
  Value firstUnmasked = a.max(a.sub(blocks.visited, blocks.whole), one);
  Value begin = op.getRange() == KvRange::All            ? a.constant(0)
                : op.getRange() == KvRange::RestUnmasked ? firstUnmasked
                                                         : one;
  Value end =
      op.getRange() == KvRange::RestMasked ? firstUnmasked : blocks.visited;
  Value last = a.sub(blocks.visited, one);
  if (lowering.target.getMma() == MMAFlavour::WGMMA)
    end = hide(builder, op.getLoc(), end);
  auto loop =
      scf::ForOp::create(builder, op.getLoc(), a.toIndex(begin), a.toIndex(end),
                         a.toIndex(one), op.getInitArgs());
  builder.setInsertionPointToStart(loop.getBody());
  Value visit = builder.createOrFold<arith::IndexCastOp>(
      op.getLoc(), builder.getI32Type(), loop.getInductionVar());
  moveBody(op, op.getBody(), loop, a.toIndex(a.sub(last, visit)));
}

void lowerFirstKv(FirstKvOp op, const KernelLowering &lowering) {
  OpBuilder builder(op);
  Arithmetic a{builder, op.getLoc()};
  KvBlocks blocks =
      getKvBlocks(a, toI32(builder, op.getLoc(), op.getMBlock()), lowering);
  op.getResult().replaceAllUsesWith(
      a.toIndex(a.sub(blocks.visited, a.constant(1))));
  op.erase();
}

} // namespace

LogicalResult mlir::fa4::lowerLoops(RoleOp role,
                                    const KernelLowering &lowering) {
  SmallVector<ForTaskOp> tasks;
  SmallVector<ForKvOp> kvLoops;
  SmallVector<FirstKvOp> firsts;
  role.walk([&](Operation *op) {
    if (auto task = dyn_cast<ForTaskOp>(op))
      tasks.push_back(task);
    else if (auto loop = dyn_cast<ForKvOp>(op))
      kvLoops.push_back(loop);
    else if (auto first = dyn_cast<FirstKvOp>(op))
      firsts.push_back(first);
  });
  for (FirstKvOp first : firsts)
    lowerFirstKv(first, lowering);
  for (ForKvOp loop : kvLoops)
    lowerForKv(loop, lowering);
  for (ForTaskOp task : tasks)
    lowerForTask(task, lowering.scheduler, lowering);
  return success();
}
