// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Set-up, roles and teardown: branches on the warp.
//
#include "StructureLowering.h"
#include "LoopLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

/// Lowers the structure of one kernel, op by op in the order of its body.
class StructureLowering {
public:
  StructureLowering(Block &entry, KernelLowering &lowering, int64_t warps,
                    int64_t smemBytes)
      : entry(entry), lowering(lowering), builder(entry.front().getContext()),
        warps(warps), smemBytes(smemBytes) {}

  LogicalResult run();

private:
  Value constant(Location loc, int64_t value) {
    return i32Constant(builder, loc, value);
  }
  Value isWarp(Location loc, int64_t warp) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                 getWarp(builder, loc), constant(loc, warp));
  }
  void syncWarp(Location loc) {
    NVVM::SyncWarpOp::create(builder, loc, constant(loc, -1));
  }
  /// Runs `emit` in a branch that warp `warp` takes.
  void inWarp(Location loc, int64_t warp, llvm::function_ref<void()> emit);

  void lowerInitBarriers(InitBarriersOp op);
  void lowerTmemAcquire(TmemAcquireOp op);
  void lowerCtaSync(CtaSyncOp op);
  void lowerTmemRelease(TmemReleaseOp op);
  LogicalResult lowerRoles(MutableArrayRef<RoleOp> roles);
  void lowerWarpgroup(MutableArrayRef<RoleOp> roles);
  LogicalResult inlineRole(RoleOp role);

  Block &entry;
  KernelLowering &lowering;
  OpBuilder builder;
  int64_t warps, smemBytes;
  int64_t tmemColumns = 0;
  bool tmemPending = false;
  bool failedRole = false;
};

void StructureLowering::inWarp(Location loc, int64_t warp,
                               llvm::function_ref<void()> emit) {
  auto branch =
      scf::IfOp::create(builder, loc, isWarp(loc, warp), /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emit();
}

void StructureLowering::lowerInitBarriers(InitBarriersOp op) {
  Location loc = op.getLoc();
  inWarp(loc, static_cast<int64_t>(op.getWarp()), [&] {
    auto elected =
        scf::IfOp::create(builder, loc, lowering.elected, /*withElse=*/false);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(elected.thenBlock());
      for (BarrierOp barrier : entry.getOps<BarrierOp>()) {
        if (barrier.getNamed())
          continue;
        for (int64_t slot = 0; slot < static_cast<int64_t>(barrier.getSlots());
             ++slot)
          NVVM::MBarrierInitOp::create(
              builder, barrier.getLoc(),
              getSmemPointer(builder, barrier.getLoc(), lowering,
                             static_cast<int64_t>(*barrier.getAt()) + 8 * slot),
              constant(barrier.getLoc(), barrier.getExpectedCount()), Value());
      }
      NVVM::FenceMbarrierInitOp::create(builder, loc);
    }
    syncWarp(loc);
  });
}

void StructureLowering::lowerTmemAcquire(TmemAcquireOp op) {
  Location loc = op.getLoc();
  tmemColumns = static_cast<int64_t>(*op.getColumns());
  tmemPending = true;
  inWarp(loc, static_cast<int64_t>(op.getWarp()), [&] {
    // --fa4-allocate-storage keeps the last 16 bytes for the address.
    NVVM::Tcgen05AllocOp::create(
        builder, loc, getSmemPointer(builder, loc, lowering, smemBytes - 16),
        constant(loc, tmemColumns));
    NVVM::Tcgen05RelinquishAllocPermitOp::create(builder, loc);
  });
}

void StructureLowering::lowerCtaSync(CtaSyncOp op) {
  Location loc = op.getLoc();
  if (tmemColumns)
    NVVM::Tcgen05FenceOp::create(builder, loc,
                                 NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  NVVM::Barrier0Op::create(builder, loc);
  if (!tmemColumns)
    return;
  NVVM::Tcgen05FenceOp::create(builder, loc,
                               NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  if (!tmemPending)
    return;
  tmemPending = false;
  // All of tensor memory begins at column 0.
  if (tmemColumns == 512)
    lowering.tmem = constant(loc, 0);
  else
    lowering.tmem = LLVM::LoadOp::create(
        builder, loc, builder.getI32Type(),
        getSmemPointer(builder, loc, lowering, smemBytes - 16));
}

void StructureLowering::lowerTmemRelease(TmemReleaseOp op) {
  Location loc = op.getLoc();
  inWarp(loc, static_cast<int64_t>(op.getWarp()), [&] {
    NVVM::Tcgen05DeallocOp::create(builder, loc,
                                   toTmemPointer(builder, loc, lowering.tmem),
                                   constant(loc, tmemColumns));
  });
}

LogicalResult StructureLowering::inlineRole(RoleOp role) {
  Location loc = role.getLoc();
  Block *body = &role.getBody().front();
  if (Value instance = role.getInstance()) {
    Value group =
        arith::ShRUIOp::create(builder, loc, lowering.warp, constant(loc, 2));
    if (role.getFirstWarp() != 0)
      group = arith::SubIOp::create(builder, loc, group,
                                    constant(loc, role.getFirstWarp() / 4));
    instance.replaceAllUsesWith(
        arith::IndexCastOp::create(builder, loc, builder.getIndexType(), group)
            .getResult());
  }
  // Loops first: they ask for the role around them.
  if (failed(lowerLoops(role, lowering)))
    return failure();
  Block *target = builder.getInsertionBlock();
  target->getOperations().splice(builder.getInsertionPoint(),
                                 body->getOperations());
  return success();
}

/// Roles that share a warpgroup, or one role of whole warpgroups. Ends with all
/// threads of each warp together again.
void StructureLowering::lowerWarpgroup(MutableArrayRef<RoleOp> roles) {
  Location loc = roles.front().getLoc();
  // What every thread has at launch (PTX ISA, setmaxnreg and .minnctapersm).
  int64_t atLaunch = lowering.target.getRegisters() / (warps * 32) / 8 * 8;
  int64_t budget = roles.front().getRegisters();
  if (budget != atLaunch)
    NVVM::SetMaxRegisterOp::create(builder, loc, static_cast<uint32_t>(budget),
                                   budget > atLaunch
                                       ? NVVM::SetMaxRegisterAction::increase
                                       : NVVM::SetMaxRegisterAction::decrease);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [index, role] : llvm::enumerate(roles)) {
    if (index + 1 != roles.size()) {
      Value mine = arith::CmpIOp::create(
          builder, role.getLoc(), arith::CmpIPredicate::ult, lowering.warp,
          constant(role.getLoc(), role.getEndWarp()));
      auto branch =
          scf::IfOp::create(builder, role.getLoc(), mine, /*withElse=*/true);
      builder.setInsertionPointToStart(branch.thenBlock());
      failedRole |= failed(inlineRole(role));
      syncWarp(role.getLoc());
      builder.setInsertionPointToStart(branch.elseBlock());
    } else {
      failedRole |= failed(inlineRole(role));
      syncWarp(role.getLoc());
    }
  }
}

LogicalResult StructureLowering::lowerRoles(MutableArrayRef<RoleOp> roles) {
  SmallVector<RoleOp> sorted(roles.begin(), roles.end());
  llvm::sort(sorted, [](RoleOp a, RoleOp b) {
    return a.getFirstWarp() < b.getFirstWarp();
  });
  OpBuilder::InsertionGuard guard(builder);
  for (size_t begin = 0; begin < sorted.size();) {
    int64_t endGroup = (sorted[begin].getEndWarp() + 3) / 4;
    size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].getFirstWarp() / 4 < endGroup)
      ++end;
    MutableArrayRef<RoleOp> group =
        MutableArrayRef<RoleOp>(sorted).slice(begin, end - begin);
    Location loc = group.front().getLoc();
    if (end != sorted.size()) {
      Value mine =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                lowering.warp, constant(loc, endGroup * 4));
      auto branch = scf::IfOp::create(builder, loc, mine, /*withElse=*/true);
      builder.setInsertionPointToStart(branch.thenBlock());
      lowerWarpgroup(group);
      builder.setInsertionPointToStart(branch.elseBlock());
    } else {
      lowerWarpgroup(group);
    }
    begin = end;
  }
  for (RoleOp role : roles)
    role.erase();
  return failure(failedRole);
}

LogicalResult StructureLowering::run() {
  SmallVector<RoleOp> roles(entry.getOps<RoleOp>());
  for (Operation &op : llvm::make_early_inc_range(entry)) {
    builder.setInsertionPoint(&op);
    if (auto init = dyn_cast<InitBarriersOp>(op)) {
      lowerInitBarriers(init);
    } else if (auto acquire = dyn_cast<TmemAcquireOp>(op)) {
      lowerTmemAcquire(acquire);
    } else if (auto sync = dyn_cast<CtaSyncOp>(op)) {
      lowerCtaSync(sync);
    } else if (auto release = dyn_cast<TmemReleaseOp>(op)) {
      if (!lowering.tmem)
        return release.emitOpError(
            "expected a 'fa4.tmem_acquire' and a 'fa4.cta_sync' before it");
      lowerTmemRelease(release);
    } else {
      continue;
    }
    op.erase();
  }
  if (roles.empty())
    return success();
  if (!lowering.tmem) {
    // No tensor memory: nothing reads this.
    builder.setInsertionPoint(roles.front());
    lowering.tmem = constant(roles.front().getLoc(), 0);
  }
  builder.setInsertionPoint(roles.front());
  return lowerRoles(roles);
}

} // namespace

LogicalResult mlir::fa4::lowerStructure(Block &entry, KernelLowering &lowering,
                                        int64_t warps, int64_t smemBytes) {
  return StructureLowering(entry, lowering, warps, smemBytes).run();
}
