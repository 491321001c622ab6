// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// What a kernel must have before it can be lowered, and what is noted of it.
//
#include "FragmentConversion.h"
#include "StructureLowering.h"

using namespace mlir;
using namespace mlir::fa4;

static LogicalResult checkArrive(ArriveOp op) {
  auto barrier = op.getBarrier().getDefiningOp<BarrierOp>();
  auto role = op->getParentOfType<RoleOp>();
  ArrivalAttr arrival = barrier.getArrivalOf(role.getSymName());
  if (arrival.getEngine() == Engine::Commit) {
    if (role.getThreads() == 32)
      return success();
    return op.emitOpError() << "expected a role of one warp to commit, but @"
                            << role.getSymName() << " has " << role.getThreads() / 32;
  }
  if (barrier.getNamed())
    return success();
  int64_t threads = role.getThreads();
  if (arrival.getCount() == threads || arrival.getCount() == threads / 32)
    return success();
  InFlightDiagnostic diag = op.emitOpError()
                            << "expected " << threads << " arrivals, one a thread, or "
                            << threads / 32 << ", one a warp, of @" << role.getSymName()
                            << " on barrier \"" << barrier.getName() << "\", but got "
                            << arrival.getCount();
  diag.attachNote(barrier.getLoc()) << "the barrier is here";
  return diag;
}

/// The roles stand together, between set-up and teardown.
static LogicalResult checkRolesStandTogether(KernelOp kernel) {
  RoleOp last;
  bool interrupted = false;
  for (Operation &op : *kernel.getBodyBlock()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role) {
      interrupted |= bool(last);
      continue;
    }
    if (interrupted)
      return role.emitOpError("expected all roles together, with nothing between them");
    last = role;
  }
  return success();
}

LogicalResult mlir::fa4::checkReadyToLower(KernelOp kernel) {
  if (kernel.getTarget().getMma() != MMAFlavour::TCGen05)
    return kernel.emitOpError() << "expected a target with tcgen05, but "
                                << kernel.getTarget().getChip() << " has "
                                << stringifyMMAFlavour(kernel.getTarget().getMma());
  if (kernel.getTileRows() != 128)
    return kernel.emitOpError() << "expected tiles of 128 rows, one a thread, but got "
                                << kernel.getTileRows();
  if (failed(checkRolesStandTogether(kernel)) || failed(checkFragments(kernel)))
    return failure();
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    auto unplaced = [&](StringRef what) -> WalkResult {
      return op->emitOpError() << "expected " << what
                               << ": run --fa4-allocate-storage first";
    };
    if (auto alloc = dyn_cast<AllocOp>(op); alloc && !alloc.getAt())
      return unplaced("a place for the ring");
    if (auto barrier = dyn_cast<BarrierOp>(op); barrier && !barrier.getAt())
      return unplaced("a place for the barrier");
    if (auto acquire = dyn_cast<TmemAcquireOp>(op); acquire && !acquire.getColumns())
      return unplaced("a number of columns");
    if (isa<NextOp>(op))
      return op->emitOpError("expected slots as values: run --fa4-materialize-phases first");
    if (auto wait = dyn_cast<WaitOp>(op);
        wait && !wait.getParity() && !wait.getBarrier().getDefiningOp<BarrierOp>().getNamed())
      return op->emitOpError("expected a parity: run --fa4-materialize-phases first");
    if (auto arrive = dyn_cast<ArriveOp>(op); arrive && failed(checkArrive(arrive)))
      return WalkResult::interrupt();
    if (isa<LoadOp, StoreOp, StoreWaitOp, MmaOp>(op) &&
        op->getParentOfType<RoleOp>().getThreads() != 32)
      return op->emitOpError("expected a role of one warp to issue it");
    for (Type type : op->getResultTypes())
      if (auto fragment = dyn_cast<FragmentType>(type);
          fragment && fragment.getLayout() != FragmentLayout::RowPerThread)
        return op->emitOpError() << "expected a fragment with one row a thread, but got "
                                 << fragment;
    bool perThread = isa<ReadTileOp, WriteTileOp, RescaleOp, PublishOp, CollectOp, StoreLseOp,
                         MaskOp, RowMaxOp, Exp2Op, RowSumOp, ConvertOp, NormalizeOp, ScaleOp>(op);
    if (perThread) {
      auto role = op->getParentOfType<RoleOp>();
      if (!role || role.getThreads() != 128)
        return op->emitOpError("expected a role of whole warpgroups, one row a thread");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void mlir::fa4::recordSynchronization(KernelOp kernel, KernelLowering &lowering) {
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    bool usesTmem = false;
    role.walk([&](Operation *op) {
      if (isa<ReadTileOp, RescaleOp, MmaOp>(op))
        usesTmem = true;
      if (auto write = dyn_cast<WriteTileOp>(op))
        usesTmem |= write.getRing().getType().getSpace() == MemorySpace::TMEM;
    });
    role.walk([&](Operation *op) {
      if (auto arrive = dyn_cast<ArriveOp>(op)) {
        auto barrier = arrive.getBarrier().getDefiningOp<BarrierOp>();
        lowering.arrivals[op] = barrier.getArrivalOf(role.getSymName());
        lowering.roleThreads[op] = role.getThreads();
      }
      if (usesTmem && isa<ArriveOp, WaitOp>(op))
        lowering.tmemSynchronization.insert(op);
    });
  }
}
