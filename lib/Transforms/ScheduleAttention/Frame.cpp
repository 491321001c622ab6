// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel around the roles: storage, set-up and tear-down.

#include "Schedule.h"

#include "fa4/Analysis/DeriveContracts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

static void declareStorage(Schedule &schedule, OpBuilder &builder,
                           Location loc) {
  const Plan &plan = schedule.plan;
  Type f32 = builder.getF32Type(), element = schedule.kernel.getElementType();
  auto ring = [&](int64_t slots, ArrayRef<int64_t> shape, Type type,
                  MemorySpace space) {
    return RingType::get(builder.getContext(), slots, shape, type, space);
  };
  auto alloc = [&](StringRef name, RingType type) {
    return AllocOp::create(builder, loc, type, name, /*at=*/IntegerAttr());
  };
  auto headTiles = [&](int64_t slots) {
    return ring(slots, {kTile, plan.headDim}, element, MemorySpace::SMEM);
  };
  RingType mailbox = ring(kStages, {kTile}, f32, MemorySpace::SMEM);

  AllocOp q = alloc("q", headTiles(kStages));
  AllocOp kv = alloc("kv", headTiles(plan.kvStages));
  schedule.q = q;
  schedule.kv = kv;
  schedule.oStaging = alloc("o_staging", headTiles(kStages));
  schedule.mailFactor = alloc("mail_factor", mailbox);
  if (plan.publishesReference())
    schedule.mailReference = alloc("mail_reference", mailbox);
  schedule.s =
      alloc("s", ring(kStages, {kTile, kTile}, f32, MemorySpace::TMEM));
  schedule.o =
      alloc("o", ring(kStages, {kTile, plan.headDim}, f32, MemorySpace::TMEM));
  // P has half of S's width and lies over its upper half.
  schedule.p = AliasOp::create(
      builder, loc, ring(kStages, {kTile, kTile}, element, MemorySpace::TMEM),
      schedule.s, kTile / 2);
  auto load = FlatSymbolRefAttr::get(builder.getContext(), kLoad);
  schedule.qFull = declareCopyBarrier(builder, q, load);
  schedule.kvFull = declareCopyBarrier(builder, kv, load);
}

Schedule schedule::buildFrame(OpBuilder &builder, Location loc, StringRef name,
                              FunctionType functionType, const Plan &plan) {
  OpBuilder::InsertionGuard guard(builder);
  Schedule schedule;
  schedule.plan = plan;
  schedule.kernel =
      KernelOp::create(builder, loc, name, functionType, plan.target, kWarps,
                       plan.scheduler, kStages, /*tile_rows=*/kTile,
                       /*tile_keys=*/kTile, plan.pack, plan.causal,
                       /*smem_bytes=*/IntegerAttr());
  Block &body = schedule.kernel.getBody().emplaceBlock();
  for (Type type : functionType.getInputs())
    body.addArgument(type, loc);
  builder.setInsertionPointToStart(&body);

  for (int64_t stage = 0; stage < kStages; ++stage)
    schedule.slots[stage] = arith::ConstantIndexOp::create(builder, loc, stage);
  schedule.never =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  schedule.always =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  declareStorage(schedule, builder, loc);

  InitBarriersOp::create(builder, loc, kSoftmaxWarps.first);
  TmemAcquireOp::create(builder, loc, kMmaWarps.first,
                        /*columns=*/IntegerAttr(), /*at=*/IntegerAttr());
  CtaSyncOp::create(builder, loc);
  return schedule;
}

void schedule::closeFrame(Schedule &schedule) {
  Location loc = schedule.kernel.getLoc();
  auto builder = OpBuilder::atBlockEnd(schedule.kernel.getBodyBlock());
  CtaSyncOp::create(builder, loc);
  TmemReleaseOp::create(builder, loc, kSoftmaxWarps.first);
}
