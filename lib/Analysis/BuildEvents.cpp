// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the ops of a role to its events.

#include "Contents.h"
#include "ProgramBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

Instruction ProgramBuilder::begin(Operation *op, Event event) {
  Instruction instruction{event};
  instruction.site = program.sites.size();
  program.sites.push_back(op);
  instruction.firstAccess = program.accesses.size();
  return instruction;
}

void ProgramBuilder::end(Instruction instruction) {
  instruction.endAccess = program.accesses.size();
  role->code.push_back(instruction);
}

/// Registers that a tensor-memory read fills are consumed by `op`, unless
/// nothing needs what it computes: then there will be no such instruction.
void ProgramBuilder::addUses(Operation *op) {
  if (isMemoryEffectFree(op) && llvm::none_of(op->getResults(), [&](Value v) {
        return needed.contains(v);
      }))
    return;
  Instruction use = begin(op, Event::Use);
  use.firstPair = program.pairs.size();
  for (Value operand : op->getOperands())
    if (auto it = readOf.find(operand); it != readOf.end())
      program.pairs.push_back({it->second, 0});
  use.endPair = program.pairs.size();
  if (use.firstPair != use.endPair)
    role->code.push_back(use);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

LogicalResult ProgramBuilder::addBlock(Block &block) {
  for (Operation &op : block)
    if (!isa<YieldOp>(op) && failed(addOp(&op)))
      return failure();
  return success();
}

LogicalResult ProgramBuilder::addTaskLoop(ForTaskOp loop) {
  if (role->hasTasks)
    return loop.emitOpError(
        "incomplete: expected one loop over the tasks in a role; the proof "
        "does not model another");
  role->hasTasks = true;
  taskLoop = loop;
  kvLoops.clear();
  auto carried = loop.getRegionIterArgs();
  addCopy(loop.getInitArgs(), ValueRange(carried));
  size_t head = role->code.size();
  role->code.push_back(begin(loop, Event::TaskBegin));
  if (failed(addBlock(loop.getBody().front())))
    return failure();
  addCopy(loop.getBody().front().getTerminator()->getOperands(),
          ValueRange(carried));
  Instruction tail = begin(loop, Event::TaskEnd);
  tail.target = head;
  role->code[head].target = role->code.size();
  role->code.push_back(tail);
  addCopy(ValueRange(carried), loop.getResults());
  taskLoop = {};
  return success();
}

/// Whether a role that has run `loops` may run `range` next: it has to see each
/// block at most once, in order.
static bool follows(ArrayRef<ForKvOp> loops, KvRange range) {
  if (loops.empty())
    return true;
  ForKvOp last = loops.back();
  return last.getRange() == KvRange::RestMasked &&
         range == KvRange::RestUnmasked;
}

LogicalResult ProgramBuilder::addKvLoop(ForKvOp loop) {
  if (inKvLoop || !follows(kvLoops, loop.getRange())) {
    InFlightDiagnostic diag = loop.emitOpError(
        "incomplete: expected a role to go over the K/V blocks of a task once; "
        "the proof does not model another loop");
    diag.attachNote(kvLoops.back().getLoc()) << "the other loop is here";
    return diag;
  }
  kvLoops.push_back(loop);
  inKvLoop = true;
  program.hasBlocks = role->hasBlocks = true;
  program.splitsMasked |= loop.getRange() == KvRange::RestMasked ||
                          loop.getRange() == KvRange::RestUnmasked;
  auto carried = loop.getRegionIterArgs();
  addCopy(loop.getInitArgs(), ValueRange(carried));
  size_t head = role->code.size();
  Instruction first = begin(loop, Event::KvBegin);
  first.range = loop.getRange();
  first.result = getRegister(loop.getKvBlock());
  role->code.push_back(first);
  if (failed(addBlock(loop.getBody().front())))
    return failure();
  addCopy(loop.getBody().front().getTerminator()->getOperands(),
          ValueRange(carried));
  Instruction last = begin(loop, Event::KvEnd);
  last.range = loop.getRange();
  last.result = first.result;
  last.target = head;
  role->code[head].target = role->code.size();
  role->code.push_back(last);
  addCopy(ValueRange(carried), loop.getResults());
  inKvLoop = false;
  return success();
}

/// An op of another dialect may hold nothing that the proof is about.
LogicalResult ProgramBuilder::refuseRegions(Operation *op) {
  Operation *inner = findUnmodelled(op);
  if (!inner)
    return success();
  if (mayNotEnd(inner))
    return emitMayNotEnd(inner);
  InFlightDiagnostic diag = inner->emitOpError();
  if (inner == op)
    return diag << "incomplete: expected an op that the proof models";
  if (isa<WaitOp, ArriveOp, LoadOp>(inner))
    diag << "expected to lie outside of '" << op->getName()
         << "': a wait or arrival that some warps or roles skip unbalances "
            "the phases; make "
            "the data path conditional and keep it outside";
  else
    diag << "incomplete: expected to lie outside of '" << op->getName()
         << "', which the proof does not model";
  diag.attachNote(op->getLoc()) << "the condition is here";
  return diag;
}

LogicalResult ProgramBuilder::addOp(Operation *op) {
  current = op;
  if (auto loop = dyn_cast<ForTaskOp>(op))
    return addTaskLoop(loop);
  if (auto loop = dyn_cast<ForKvOp>(op))
    return addKvLoop(loop);
  if (op->getNumRegions() != 0)
    return refuseRegions(op);
  addUses(op);
  if (isa<WaitOp, ArriveOp>(op))
    return addBarrierOp(op);
  if (isa<LoadOp, StoreOp, StoreWaitOp, MmaOp>(op))
    return addIssuedOp(op);
  if (isa<ReadTileOp, WriteTileOp, RescaleOp, PublishOp, CollectOp>(op))
    return addTileOp(op);
  if (auto product = dyn_cast<WarpgroupMmaOp>(op))
    return addProduct(product);
  if (auto wait = dyn_cast<WarpgroupWaitOp>(op)) {
    Instruction instruction = begin(op, Event::WaitProducts);
    instruction.immediate = wait.getPending();
    instruction.value = getRegister(wait.getInput());
    instruction.result = getRegister(wait.getResult());
    end(instruction);
  } else if (auto wait = dyn_cast<TmemWaitOp>(op)) {
    end(begin(op, wait.getAccess() == TmemAccess::Load ? Event::WaitLoad
                                                       : Event::WaitStore));
  } else if (isa<FenceOp>(op)) {
    end(begin(op, Event::Fence));
  } else if (auto next = dyn_cast<NextOp>(op)) {
    auto ring = ringOf.find(next.getRing());
    if (ring == ringOf.end())
      return op->emitOpError(
          "incomplete: expected a cursor on a ring that 'fa4.alloc' makes");
    Instruction instruction = begin(op, Event::Next);
    instruction.immediate = ring->second;
    instruction.result = getRegister(next.getSlot());
    end(instruction);
  } else if (auto store = dyn_cast<StoreLseOp>(op)) {
    if (failed(checkCoordinates(op, store.getCoordinates())))
      return failure();
    addMath(op);
  } else if (!isMemoryEffectFree(op)) {
    return op->emitOpError("incomplete: expected an op that the proof models");
  } else {
    if (auto mask = dyn_cast<MaskOp>(op); mask && failed(checkMask(mask)))
      return failure();
    addMath(op);
    return checkScale(op);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Contracts
//===----------------------------------------------------------------------===//

/// Checks that a role's threads can give the arrivals that a contract counts.
static LogicalResult checkCount(Operation *op, RoleOp role, BarrierOp barrier,
                                ArrivalAttr arrival) {
  int64_t threads = role.getThreads(), count = arrival.getCount();
  if (arrival.getEngine() == Engine::Commit) {
    if (threads == 32)
      return success();
    return op->emitOpError() << "expected a role of one warp to commit, but @"
                             << role.getSymName() << " has " << threads / 32;
  }
  if (barrier.getNamed()) {
    int64_t expected = barrier.getPerWarp() ? 32 : threads;
    if (count == expected)
      return success();
    InFlightDiagnostic diag = op->emitOpError()
                              << "expected " << expected << " threads of @"
                              << role.getSymName() << " on named barrier \""
                              << barrier.getName()
                              << "\", as many as come, but got " << count;
    diag.attachNote(barrier.getLoc()) << "the barrier is here";
    return diag;
  }
  if (count == threads || count == threads / 32)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected " << threads
                            << " arrivals, one a thread, or " << threads / 32
                            << ", one a warp, of @" << role.getSymName()
                            << " on barrier \"" << barrier.getName()
                            << "\", but got " << count;
  diag.attachNote(barrier.getLoc()) << "the barrier is here";
  return diag;
}

static int32_t findArrival(BarrierOp barrier, RoleOp role) {
  for (auto [index, arrival] :
       llvm::enumerate(barrier.getArrivals().getAsRange<ArrivalAttr>()))
    if (arrival.getRole().getValue() == role.getSymName())
      return index;
  return -1;
}

LogicalResult ProgramBuilder::addBarrierOp(Operation *op) {
  auto wait = dyn_cast<WaitOp>(op);
  auto arrive = dyn_cast<ArriveOp>(op);
  Value value = wait ? wait.getBarrier() : arrive.getBarrier();
  auto barrier = value.getDefiningOp<BarrierOp>();
  RoleOp roleOp = role->op;
  ArrivalAttr arrival = barrier.getArrivalOf(roleOp.getSymName());
  if ((arrive || barrier.getNamed()) &&
      failed(checkCount(op, roleOp, barrier, arrival)))
    return failure();
  Event event = wait                                    ? Event::Wait
                : arrival.getEngine() == Engine::Commit ? Event::Commit
                                                        : Event::Arrive;
  Instruction instruction = begin(op, event);
  instruction.barrier = barrierOf.lookup(value);
  instruction.slot = getRegister(wait ? wait.getSlot() : arrive.getSlot());
  instruction.arrival = findArrival(barrier, roleOp);
  if (wait && wait.getParity() && !barrier.getNamed())
    instruction.value = getRegister(wait.getParity());
  end(instruction);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops that one thread issues
//===----------------------------------------------------------------------===//

/// The sign of S is that of the scale, and one scale holds for all of S.
LogicalResult ProgramBuilder::checkSign(Operation *op, bool transposed,
                                        bool negated) {
  if (!transposed)
    return success();
  if (!scores.first)
    scores = {op, negated};
  if (scores.second == negated)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected " << (negated ? "no " : "")
                            << "'negate_a', as the other products of Q have "
                            << (negated ? "none" : "it");
  diag.attachNote(scores.first->getLoc()) << "one of them is here";
  return diag;
}

LogicalResult ProgramBuilder::addMma(MmaOp op) {
  Instruction instruction = begin(op, Event::Mma);
  instruction.transposed = op.getTransposeB();
  instruction.immediate = op.getNegateA();
  program.stores = true;
  addAccess(op.getA(), op.getASlot(), op.getSegmentBegin(), op.getSegmentEnd(),
            /*reads=*/true, /*writes=*/false);
  if (op.getTransposeB())
    addAccess(op.getB(), op.getBSlot(), op.getSegmentBegin(),
              op.getSegmentEnd(), true, false);
  else
    addWholeTile(op.getB(), op.getBSlot(), /*reads=*/true, /*writes=*/false);
  addWholeTile(op.getD(), op.getDSlot(), bool(op.getAccumulate()),
               /*writes=*/true);
  if (op.getAccumulate())
    instruction.value = getRegister(op.getAccumulate());
  end(instruction);
  return checkSign(op, op.getTransposeB(), op.getNegateA());
}

/// A product of a warpgroup's own: D is in registers, and so may be A.
LogicalResult ProgramBuilder::addProduct(WarpgroupMmaOp op) {
  Instruction instruction = begin(op, Event::Product);
  instruction.transposed = op.getTransposeB();
  instruction.immediate = op.getNegateA();
  program.stores = true;
  if (op.getASlot())
    addWholeTile(op.getA(), op.getASlot(), /*reads=*/true, /*writes=*/false);
  else
    instruction.value = getRegister(op.getA());
  addWholeTile(op.getB(), op.getBSlot(), /*reads=*/true, /*writes=*/false);
  if (op.getC())
    instruction.second = getRegister(op.getC());
  instruction.result = getRegister(op.getD());
  end(instruction);
  return checkSign(op, op.getTransposeB(), op.getNegateA());
}

LogicalResult ProgramBuilder::addIssuedOp(Operation *op) {
  if (role->op.getThreads() != 32)
    return op->emitOpError("expected a role of one warp to issue it");
  if (auto mma = dyn_cast<MmaOp>(op))
    return addMma(mma);
  if (auto load = dyn_cast<LoadOp>(op)) {
    Instruction instruction = begin(op, Event::Load);
    instruction.barrier = barrierOf.lookup(load.getBarrier());
    instruction.slot = getRegister(load.getBarrierSlot());
    instruction.arrival =
        findArrival(load.getBarrier().getDefiningOp<BarrierOp>(), role->op);
    if (failed(checkCoordinates(op, load.getCoordinates())))
      return failure();
    instruction.immediate =
        static_cast<int32_t>(load.getSource() == kernel.getQ()   ? Kind::Q
                             : load.getSource() == kernel.getK() ? Kind::K
                                                                 : Kind::V);
    instruction.coordinate = getRegister(load.getCoordinates().back());
    addWholeTile(load.getRing(), load.getSlot(), /*reads=*/false,
                 /*writes=*/true);
    end(instruction);
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    if (failed(checkCoordinates(op, store.getCoordinates())))
      return failure();
    Instruction instruction = begin(op, Event::Store);
    instruction.coordinate = getRegister(store.getCoordinates().back());
    addWholeTile(store.getRing(), store.getSlot(), /*reads=*/true,
                 /*writes=*/false);
    end(instruction);
  } else {
    Instruction instruction = begin(op, Event::StoreWait);
    instruction.immediate =
        std::min<int64_t>(cast<StoreWaitOp>(op).getPending(), INT32_MAX);
    end(instruction);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops that a warpgroup runs, one row a thread
//===----------------------------------------------------------------------===//

LogicalResult ProgramBuilder::addTileOp(Operation *op) {
  if (role->op.getThreads() != 128)
    return op->emitOpError(
        "expected a role of whole warpgroups, one row a thread");
  if (auto read = dyn_cast<ReadTileOp>(op)) {
    Instruction instruction = begin(op, Event::Read);
    FragmentType fragment = read.getFragment().getType();
    addAccess(read.getRing(), read.getSlot(), read.getColumn(),
              read.getColumn() + fragment.getColumns(), /*reads=*/true,
              /*writes=*/false);
    instruction.immediate = readOf.size();
    readOf[read.getFragment()] = instruction.immediate;
    instruction.result = getRegister(read.getFragment());
    end(instruction);
  } else if (auto write = dyn_cast<WriteTileOp>(op)) {
    bool tmem = write.getRing().getType().getSpace() == MemorySpace::TMEM;
    Instruction instruction = begin(op, tmem ? Event::Write : Event::Put);
    instruction.value = getRegister(write.getFragment());
    FragmentType fragment = write.getFragment().getType();
    addAccess(write.getRing(), write.getSlot(), write.getColumn(),
              write.getColumn() + fragment.getColumns(), /*reads=*/false,
              /*writes=*/true);
    end(instruction);
  } else if (auto rescale = dyn_cast<RescaleOp>(op)) {
    Instruction instruction = begin(op, Event::Rescale);
    instruction.value = getRegister(rescale.getFactor());
    addWholeTile(rescale.getRing(), rescale.getSlot(), /*reads=*/true,
                 /*writes=*/true);
    end(instruction);
  } else if (auto publish = dyn_cast<PublishOp>(op)) {
    Instruction instruction = begin(op, Event::Put);
    instruction.value = getRegister(publish.getValue());
    addWholeTile(publish.getRing(), publish.getSlot(), /*reads=*/false,
                 /*writes=*/true);
    end(instruction);
  } else if (auto collect = dyn_cast<CollectOp>(op)) {
    Instruction instruction = begin(op, Event::Get);
    instruction.result = getRegister(collect.getValue());
    addWholeTile(collect.getRing(), collect.getSlot(), /*reads=*/true,
                 /*writes=*/false);
    end(instruction);
  }
  return success();
}
