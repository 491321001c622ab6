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
    return op.emitOpError()
           << "expected a role of one warp to commit, but @"
           << role.getSymName() << " has " << role.getThreads() / 32;
  }
  if (barrier.getNamed())
    return success();
  int64_t threads = role.getThreads();
  if (arrival.getCount() == threads || arrival.getCount() == threads / 32)
    return success();
  InFlightDiagnostic diag = op.emitOpError()
                            << "expected " << threads
                            << " arrivals, one a thread, or " << threads / 32
                            << ", one a warp, of @" << role.getSymName()
                            << " on barrier \"" << barrier.getName()
                            << "\", but got " << arrival.getCount();
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
      return role.emitOpError(
          "expected all roles together, with nothing between them");
    last = role;
  }
  return success();
}

/// The place of a ring is known only through the op that declares it.
static LogicalResult checkRings(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<RingType>(operand.getType()) && !operand.getDefiningOp<AllocOp>() &&
        !operand.getDefiningOp<AliasOp>())
      return op->emitOpError("expected a ring that 'fa4.alloc' or 'fa4.alias' "
                             "declares, not a value "
                             "chosen or carried at run time");
  return success();
}

/// Set-up and teardown of what the kernel uses, once each and in their places:
/// a barrier that nobody initialised, or tensor memory that is not given back,
/// hangs this kernel or the next.
static LogicalResult checkSetUp(KernelOp kernel) {
  InitBarriersOp init;
  TmemAcquireOp acquire;
  TmemReleaseOp release;
  Operation *unsynced = nullptr;
  bool afterRoles = false, syncedAfterRoles = false;
  auto once = [](auto op, auto &first) -> LogicalResult {
    if (!first) {
      first = op;
      return success();
    }
    InFlightDiagnostic diag = op.emitOpError("expected once in a kernel");
    diag.attachNote(first.getLoc()) << "the first is here";
    return diag;
  };
  for (Operation &op : *kernel.getBodyBlock()) {
    if (isa<CtaSyncOp>(op)) {
      unsynced = nullptr;
      syncedAfterRoles = afterRoles;
    } else if (isa<RoleOp>(op)) {
      if (unsynced)
        return unsynced->emitOpError(
            "expected a 'fa4.cta_sync' between it and the roles");
      afterRoles = true;
    } else if (auto found = dyn_cast<InitBarriersOp>(op)) {
      if (failed(once(found, init)))
        return failure();
      unsynced = &op;
    } else if (auto found = dyn_cast<TmemAcquireOp>(op)) {
      if (failed(once(found, acquire)))
        return failure();
      unsynced = &op;
    } else if (auto found = dyn_cast<TmemReleaseOp>(op)) {
      if (failed(once(found, release)))
        return failure();
      if (!acquire)
        return op.emitOpError("expected a 'fa4.tmem_acquire' before it");
      if (!syncedAfterRoles)
        return op.emitOpError(
            "expected a 'fa4.cta_sync' between the roles and it");
    }
    if (isa<InitBarriersOp, TmemAcquireOp>(op) && afterRoles)
      return op.emitOpError("expected before the roles");
  }
  if (acquire && !release)
    return acquire.emitOpError(
        "expected a 'fa4.tmem_release' behind the roles");
  for (auto barrier : kernel.getBody().getOps<BarrierOp>())
    if (!barrier.getNamed() && !init && !barrier->use_empty())
      return barrier.emitOpError(
          "expected a 'fa4.init_barriers' in the kernel");
  return success();
}

/// Each matrix unit has its own ops and its own layout of fragments.
static LogicalResult checkFlavour(Operation *op, bool wgmma) {
  StringRef flavour =
      stringifyMMAFlavour(wgmma ? MMAFlavour::WGMMA : MMAFlavour::TCGen05);
  bool ofTcgen05 = isa<MmaOp, ReadTileOp, RescaleOp, PublishOp, CollectOp,
                       TmemAcquireOp, TmemReleaseOp, TmemWaitOp>(op);
  bool ofWgmma = isa<WarpgroupMmaOp, WarpgroupWaitOp, FillOp, ScaleRowsOp,
                     RowTotalOp, ExponentsOp>(op);
  if (wgmma ? ofTcgen05 : ofWgmma)
    return op->emitOpError() << "is not for a target with " << flavour;
  FragmentLayout layout =
      wgmma ? FragmentLayout::WGMMA : FragmentLayout::RowPerThread;
  for (Type type : op->getResultTypes())
    if (auto fragment = dyn_cast<FragmentType>(type);
        fragment && fragment.getLayout() != layout)
      return op->emitOpError()
             << "expected a fragment in '" << stringifyFragmentLayout(layout)
             << "' layout on a target with " << flavour << ", but got "
             << fragment;
  if (auto exp2 = dyn_cast<Exp2Op>(op); exp2 && !wgmma && !exp2.getReference())
    return op->emitOpError()
           << "expected a reference on a target with " << flavour;
  return success();
}

LogicalResult mlir::fa4::checkReadyToLower(KernelOp kernel) {
  // Threads, rows and tiles as the target's matrix unit has them.
  bool wgmma = kernel.getTarget().getMma() == MMAFlavour::WGMMA;
  int64_t tileRows = wgmma ? 64 : 128;
  if (kernel.getTileRows() != tileRows)
    return kernel.emitOpError() << "expected tiles of " << tileRows
                                << " rows on " << kernel.getTarget().getChip()
                                << ", but got " << kernel.getTileRows();
  if (failed(checkRolesStandTogether(kernel)) || failed(checkSetUp(kernel)) ||
      failed(checkFragments(kernel)))
    return failure();
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    auto unplaced = [&](StringRef what) -> WalkResult {
      return op->emitOpError()
             << "expected " << what << ": run --fa4-allocate-storage first";
    };
    if (failed(checkRings(op)))
      return WalkResult::interrupt();
    if (auto alloc = dyn_cast<AllocOp>(op); alloc && !alloc.getAt())
      return unplaced("a place for the ring");
    if (auto barrier = dyn_cast<BarrierOp>(op); barrier && !barrier.getAt())
      return unplaced("a place for the barrier");
    if (auto acquire = dyn_cast<TmemAcquireOp>(op);
        acquire && !acquire.getColumns())
      return unplaced("a number of columns");
    if (isa<NextOp>(op))
      return op->emitOpError(
          "expected slots as values: run --fa4-materialize-phases first");
    if (auto wait = dyn_cast<WaitOp>(op);
        wait && !wait.getParity() &&
        !wait.getBarrier().getDefiningOp<BarrierOp>().getNamed())
      return op->emitOpError(
          "expected a parity: run --fa4-materialize-phases first");
    if (auto arrive = dyn_cast<ArriveOp>(op);
        arrive && failed(checkArrive(arrive)))
      return WalkResult::interrupt();
    if (isa<LoadOp, StoreOp, StoreWaitOp, MmaOp>(op) &&
        op->getParentOfType<RoleOp>().getThreads() != 32)
      return op->emitOpError("expected a role of one warp to issue it");
    if (failed(checkFlavour(op, wgmma)))
      return WalkResult::interrupt();
    bool perThread =
        isa<ReadTileOp, WriteTileOp, RescaleOp, PublishOp, CollectOp,
            StoreLseOp, MaskOp, RowMaxOp, ExponentsOp, Exp2Op, RowSumOp,
            ConvertOp, NormalizeOp, ScaleOp, ScaleRowsOp, FillOp, RowTotalOp>(
            op);
    if (perThread) {
      auto role = op->getParentOfType<RoleOp>();
      if (!role || role.getThreads() != 128)
        return op->emitOpError("expected a role of whole warpgroups");
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void mlir::fa4::recordSynchronization(KernelOp kernel,
                                      KernelLowering &lowering) {
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
