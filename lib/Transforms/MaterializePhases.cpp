// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Logical time becomes values: slots, phases and parities.

#include "PhasePlan.h"
#include "fa4/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::fa4 {
#define GEN_PASS_DEF_MATERIALIZEPHASES
#include "fa4/Transforms/Passes.h.inc"
} // namespace mlir::fa4

using namespace mlir;
using namespace mlir::fa4;

namespace {
/// Where a counter stands: a bit has a phase only, a cursor a slot as well, and
/// a cursor on a ring of one slot the constant slot 0.
struct Position {
  Value slot;
  Value phase;
};

/// Rewrites one role after its plan.
class RoleRewriter {
public:
  RoleRewriter(RoleOp role, const PhasePlan &plan)
      : plan(plan), block(role.getBody().front()), builder(role.getContext()),
        positions(plan.getCounters().size()) {}

  void run();

private:
  bool carriesSlot(const PhaseCounter &counter) const {
    return counter.slots > 1;
  }

  void rewriteBlock(Block &block);
  void rewriteLoop(Operation *loop);
  void rewriteNext(NextOp next);
  void rewriteWait(WaitOp wait);

  Value getConstant(Type type, int64_t value);
  Value getFlipped(Value phase, Location loc);
  Position getAdvanced(Position from, int64_t slots, Location loc);

  /// One counter of each group that the loop moves: what it has to carry.
  SmallVector<unsigned> getLeaders(Operation *loop) const;
  SmallVector<Value> getValues(ArrayRef<unsigned> leaders) const;
  /// Gives the groups of `leaders` the positions that `values` hold.
  void setValues(ArrayRef<unsigned> leaders, ArrayRef<unsigned> moved,
                 ValueRange values);

  const PhasePlan &plan;
  Block &block;
  OpBuilder builder;
  SmallVector<Position> positions;

  /// What was made from a value already. A counter is moved in no block but
  /// that of its current value, so whatever is found here dominates.
  DenseMap<Value, Value> flipped;
  DenseMap<std::pair<Value, int64_t>, Position> advanced;
  DenseMap<std::pair<Type, int64_t>, Value> constants;
  DenseMap<NextOp, Value> phaseOfNext;
  /// Arithmetic that this class made and that may have no use in the end.
  SmallVector<Operation *> created;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Constants stand at the head of the role.
Value RoleRewriter::getConstant(Type type, int64_t value) {
  Value &constant = constants[{type, value}];
  if (!constant) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&block);
    auto op = arith::ConstantOp::create(builder, block.getParentOp()->getLoc(),
                                        builder.getIntegerAttr(type, value));
    created.push_back(op);
    constant = op;
  }
  return constant;
}

Value RoleRewriter::getFlipped(Value phase, Location loc) {
  if (Value known = flipped.lookup(phase))
    return known;
  auto op = arith::XOrIOp::create(builder, loc, phase,
                                  getConstant(phase.getType(), 1));
  created.push_back(op);
  return flipped[phase] = op;
}

/// The position after this one: the next slot, or slot 0 in the next phase.
Position RoleRewriter::getAdvanced(Position from, int64_t slots, Location loc) {
  if (slots == 1)
    return {from.slot, getFlipped(from.phase, loc)};
  // A slot value stands for the phase that came with it.
  auto known = advanced.find({from.slot, slots});
  if (known != advanced.end())
    return known->second;
  Type index = builder.getIndexType();
  auto next =
      arith::AddIOp::create(builder, loc, from.slot, getConstant(index, 1));
  auto wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     next, getConstant(index, slots));
  auto slot =
      arith::SelectOp::create(builder, loc, wraps, getConstant(index, 0), next);
  auto wrapped =
      arith::ExtUIOp::create(builder, loc, from.phase.getType(), wraps);
  auto phase = arith::XOrIOp::create(builder, loc, from.phase, wrapped);
  created.append({next, wraps, slot, wrapped, phase});
  return advanced[{from.slot, slots}] = {slot, phase};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<unsigned> RoleRewriter::getLeaders(Operation *loop) const {
  SmallVector<unsigned> leaders;
  for (unsigned counter : plan.getCarried(loop))
    if (llvm::none_of(leaders, [&](unsigned leader) {
          return plan.getCounters()[leader].group ==
                 plan.getCounters()[counter].group;
        }))
      leaders.push_back(counter);
  return leaders;
}

SmallVector<Value> RoleRewriter::getValues(ArrayRef<unsigned> leaders) const {
  SmallVector<Value> values;
  for (unsigned leader : leaders) {
    if (carriesSlot(plan.getCounters()[leader]))
      values.push_back(positions[leader].slot);
    values.push_back(positions[leader].phase);
  }
  return values;
}

void RoleRewriter::setValues(ArrayRef<unsigned> leaders,
                             ArrayRef<unsigned> moved, ValueRange values) {
  for (unsigned leader : leaders) {
    Position position = positions[leader];
    if (carriesSlot(plan.getCounters()[leader])) {
      position.slot = values.front();
      values = values.drop_front();
    }
    position.phase = values.front();
    values = values.drop_front();
    for (unsigned counter : moved)
      if (plan.getCounters()[counter].group == plan.getCounters()[leader].group)
        positions[counter] = position;
  }
}

/// Replaces a loop by one that carries what moves in it as well.
void RoleRewriter::rewriteLoop(Operation *loop) {
  ArrayRef<unsigned> moved = plan.getCarried(loop);
  SmallVector<unsigned> leaders = getLeaders(loop);
  SmallVector<Value> extra = getValues(leaders);

  Operation *carrying;
  builder.setInsertionPoint(loop);
  if (auto task = dyn_cast<ForTaskOp>(loop)) {
    SmallVector<Value> inits(task.getInitArgs());
    inits.append(extra);
    carrying = ForTaskOp::create(builder, loop->getLoc(), inits);
  } else {
    auto kv = cast<ForKvOp>(loop);
    SmallVector<Value> inits(kv.getInitArgs());
    inits.append(extra);
    carrying = ForKvOp::create(builder, loop->getLoc(), kv.getRange(),
                               kv.getMBlock(), inits);
  }
  carrying->setDiscardableAttrs(loop->getDiscardableAttrDictionary());

  Block &from = loop->getRegion(0).front(),
        &body = carrying->getRegion(0).front();
  body.getOperations().splice(body.end(), from.getOperations());
  for (auto [before, after] :
       llvm::zip(from.getArguments(), body.getArguments()))
    before.replaceAllUsesWith(after);
  setValues(leaders, moved, body.getArguments().take_back(extra.size()));
  rewriteBlock(body);
  body.getTerminator()->insertOperands(body.getTerminator()->getNumOperands(),
                                       getValues(leaders));

  loop->replaceAllUsesWith(carrying->getResults().drop_back(extra.size()));
  setValues(leaders, moved, carrying->getResults().take_back(extra.size()));
  loop->erase();
}

//===----------------------------------------------------------------------===//
// Waits and cursors
//===----------------------------------------------------------------------===//

void RoleRewriter::rewriteNext(NextOp next) {
  unsigned counter = *plan.getMoved(next);
  Position &position = positions[counter];
  phaseOfNext[next] = position.phase;
  builder.setInsertionPoint(next);
  Value slot = position.slot;
  position =
      getAdvanced(position, plan.getCounters()[counter].slots, next.getLoc());
  next.getSlot().replaceAllUsesWith(slot);
}

void RoleRewriter::rewriteWait(WaitOp wait) {
  auto barrier = wait.getBarrier().getDefiningOp<BarrierOp>();
  bool free = barrier.getInitiallyFree();
  builder.setInsertionPoint(wait);
  NextOp next = plan.getCursorOf(wait);
  Value phase;
  if (next) {
    phase = phaseOfNext.lookup(next);
  } else {
    phase = positions[*plan.getMoved(wait)].phase;
    positions[*plan.getMoved(wait)].phase = getFlipped(phase, wait.getLoc());
  }
  wait.getParityMutable().assign(free ? getFlipped(phase, wait.getLoc())
                                      : phase);
}

void RoleRewriter::rewriteBlock(Block &block) {
  SmallVector<NextOp> done;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!plan.getCarried(&op).empty()) {
      rewriteLoop(&op);
    } else if (auto next = dyn_cast<NextOp>(op)) {
      rewriteNext(next);
      done.push_back(next);
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      if (plan.getMoved(wait) || plan.getCursorOf(wait))
        rewriteWait(wait);
    }
  }
  for (NextOp next : done)
    next.erase();
}

void RoleRewriter::run() {
  Type i32 = builder.getI32Type(), index = builder.getIndexType();
  for (auto [counter, position] : llvm::zip(plan.getCounters(), positions)) {
    position.phase = getConstant(i32, 0);
    if (counter.isCursor())
      position.slot = getConstant(index, 0);
  }
  rewriteBlock(block);
  for (Operation *op : llvm::reverse(created))
    if (op->use_empty())
      op->erase();
}

namespace {
struct MaterializePhases final
    : fa4::impl::MaterializePhasesBase<MaterializePhases> {
  void runOnOperation() override {
    // Plans first: a refused kernel stays as it was.
    SmallVector<std::pair<RoleOp, PhasePlan>> plans;
    for (RoleOp role : getOperation().getBody().getOps<RoleOp>()) {
      FailureOr<PhasePlan> plan = PhasePlan::get(role);
      if (failed(plan))
        return signalPassFailure();
      plans.emplace_back(role, std::move(*plan));
    }
    for (auto &[role, plan] : plans)
      if (!plan.isEmpty())
        RoleRewriter(role, plan).run();
  }
};
} // namespace
