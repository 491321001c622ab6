// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Set-up before the roles and teardown behind them.

#include "Program.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {
/// The ops of a kernel's body that set up and tear down, in order.
struct Frame {
  InitBarriersOp init;
  TmemAcquireOp acquire;
  TmemReleaseOp release;
  SmallVector<CtaSyncOp> before, after;
  RoleOp firstRole, lastRole;
};

template <typename Op>
LogicalResult keepOnly(Op &known, Op op, StringRef what) {
  if (!known) {
    known = op;
    return success();
  }
  InFlightDiagnostic diag = op.emitOpError()
                            << "expected " << what << " once in a kernel";
  diag.attachNote(known.getLoc()) << "the other is here";
  return diag;
}

/// The proof runs roles alone: around them only set-up and teardown may act.
LogicalResult checkAround(Operation *op) {
  if (isa<AllocOp, AliasOp, BarrierOp, RoleOp, InitBarriersOp, TmemAcquireOp,
          TmemReleaseOp, CtaSyncOp>(op))
    return success();
  Operation *inner = protocol::findUnmodelled(op);
  if (!inner)
    return success();
  InFlightDiagnostic diag =
      protocol::mayNotEnd(inner)
          ? protocol::emitMayNotEnd(inner)
          : inner->emitOpError("incomplete: expected no effects on memory "
                               "outside of roles, but for those of set-up and "
                               "teardown by fa4's own ops");
  if (inner != op)
    diag.attachNote(op->getLoc())
        << "it lies in this '" << op->getName() << "'";
  return diag;
}

LogicalResult collect(KernelOp kernel, Frame &frame) {
  for (Operation &op : *kernel.getBodyBlock()) {
    if (failed(checkAround(&op)))
      return failure();
    // Such as a pair of blocks that would share the tensor memory.
    if (isa<InitBarriersOp, TmemAcquireOp, TmemReleaseOp, CtaSyncOp>(op))
      for (NamedAttribute attribute : op.getDiscardableAttrs())
        if (!attribute.getName().strref().contains('.'))
          return op.emitOpError()
                 << "incomplete: attribute '" << attribute.getName().strref()
                 << "' is not one that the proof models";
    if (auto role = dyn_cast<RoleOp>(op)) {
      if (!frame.after.empty()) {
        InFlightDiagnostic diag = role.emitOpError(
            "incomplete: expected all roles together, but a 'fa4.cta_sync' "
            "lies between them, which the proof does not model");
        diag.attachNote(frame.after.front().getLoc()) << "it is here";
        return diag;
      }
      if (!frame.firstRole)
        frame.firstRole = role;
      frame.lastRole = role;
    } else if (auto sync = dyn_cast<CtaSyncOp>(op)) {
      (frame.firstRole ? frame.after : frame.before).push_back(sync);
    } else if (auto init = dyn_cast<InitBarriersOp>(op)) {
      if (failed(keepOnly(frame.init, init, "barriers to be initialised")))
        return failure();
    } else if (auto acquire = dyn_cast<TmemAcquireOp>(op)) {
      if (failed(
              keepOnly(frame.acquire, acquire, "tensor memory to be acquired")))
        return failure();
    } else if (auto release = dyn_cast<TmemReleaseOp>(op)) {
      if (failed(
              keepOnly(frame.release, release, "tensor memory to be released")))
        return failure();
    }
  }
  return success();
}

/// Whether an op of a role touches tensor memory.
bool usesTmem(Operation *op) {
  return isa<MmaOp, ReadTileOp, WriteTileOp, RescaleOp>(op) &&
         llvm::any_of(op->getOperandTypes(), [](Type type) {
           auto ring = dyn_cast<RingType>(type);
           return ring && ring.getSpace() == MemorySpace::TMEM;
         });
}

bool readsTmem(Operation *op) { return isa<ReadTileOp>(op); }

/// Whether an op of a role uses a barrier that lies in memory.
bool usesBarrier(Operation *op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    auto barrier = operand.getDefiningOp<BarrierOp>();
    return barrier && !barrier.getNamed();
  });
}

/// Shows the first op that uses what is set up, or the last one.
void noteUse(InFlightDiagnostic &diag, KernelOp kernel,
             bool (*uses)(Operation *), StringRef what, bool last) {
  Operation *found = nullptr;
  for (auto role : kernel.getBody().getOps<RoleOp>())
    role.walk([&](Operation *op) {
      if (uses(op) && (last || !found))
        found = op;
    });
  if (found)
    diag.attachNote(found->getLoc())
        << "@" << found->getParentOfType<RoleOp>().getSymName() << " uses "
        << what << " here";
}

/// Fails unless a `fa4.cta_sync` lies between `setUp` and the roles.
LogicalResult checkSetUp(Operation *setUp, StringRef what,
                         bool (*uses)(Operation *), const Frame &frame) {
  if (llvm::any_of(frame.before, [&](CtaSyncOp sync) {
        return setUp->isBeforeInBlock(sync);
      }))
    return success();
  RoleOp role = frame.firstRole;
  InFlightDiagnostic diag =
      setUp->emitOpError()
      << "expected a 'fa4.cta_sync' behind it and before the roles, which use "
      << what;
  diag.attachNote(role.getLoc()) << "the first role is here";
  noteUse(diag, role->getParentOfType<KernelOp>(), uses, what, false);
  return diag;
}
} // namespace

LogicalResult protocol::checkFrame(KernelOp kernel) {
  Frame frame;
  if (failed(collect(kernel, frame)))
    return failure();
  if (!frame.firstRole)
    return success();

  auto barriers = kernel.getBody().getOps<BarrierOp>();
  auto inMemory = llvm::find_if(
      barriers, [](BarrierOp barrier) { return !barrier.getNamed(); });
  if (inMemory != barriers.end()) {
    BarrierOp barrier = *inMemory;
    if (!frame.init) {
      InFlightDiagnostic diag =
          kernel.emitOpError()
          << "expected a 'fa4.init_barriers' before the roles, since barrier \""
          << barrier.getName() << "\" lies in memory";
      diag.attachNote(barrier.getLoc()) << "the barrier is here";
      return diag;
    }
    if (failed(checkSetUp(frame.init, "the barriers", usesBarrier, frame)))
      return failure();
  }

  auto allocs = kernel.getBody().getOps<AllocOp>();
  auto inTmem = llvm::find_if(allocs, [](AllocOp alloc) {
    return alloc.getRing().getType().getSpace() == MemorySpace::TMEM;
  });
  if (inTmem != allocs.end() && !frame.acquire) {
    AllocOp alloc = *inTmem;
    InFlightDiagnostic diag =
        kernel.emitOpError()
        << "expected a 'fa4.tmem_acquire' before the roles, since ring \""
        << alloc.getName() << "\" lives in tensor memory";
    diag.attachNote(alloc.getLoc()) << "the ring is here";
    return diag;
  }
  if (!frame.acquire) {
    if (frame.release)
      return frame.release.emitOpError(
          "expected tensor memory to be acquired before its release");
    return success();
  }
  if (failed(checkSetUp(frame.acquire, "the tensor memory's address", usesTmem,
                        frame)))
    return failure();
  if (!frame.release)
    return frame.acquire.emitOpError(
        "expected a 'fa4.tmem_release' behind the roles: tensor memory "
        "that is not released blocks the kernels that follow");
  bool synced = llvm::any_of(frame.after, [&](CtaSyncOp sync) {
    return sync->isBeforeInBlock(frame.release);
  });
  if (synced)
    return success();
  InFlightDiagnostic diag =
      frame.release.emitOpError("expected a 'fa4.cta_sync' between the roles "
                                "and the release: a role may still use the "
                                "tensor memory");
  diag.attachNote(frame.lastRole.getLoc()) << "the last role is here";
  diag.attachNote(frame.acquire.getLoc()) << "it is acquired here";
  noteUse(diag, kernel, readsTmem, "it", true);
  return diag;
}
