// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel around the roles: storage, contracts, set-up and tear-down.

#include "Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

namespace {

/// Declares the contracts of a kernel.
class Contracts {
public:
  Contracts(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  ArrivalAttr threads(StringRef role, int64_t count) {
    return arrival(role, Engine::Threads, count);
  }
  ArrivalAttr bytes(StringRef role, int64_t count) {
    return arrival(role, Engine::Bytes, count);
  }
  ArrivalAttr commit(StringRef role) {
    return arrival(role, Engine::Commit, 1);
  }

  Value barrier(StringRef name, int64_t slots, ArrayRef<ArrivalAttr> arrivals,
                bool initiallyFree = false) {
    return create(name, /*named=*/false, slots, /*perWarp=*/false, arrivals,
                  initiallyFree);
  }
  Value namedBarrier(StringRef name, int64_t slots, bool perWarp,
                     ArrayRef<ArrivalAttr> arrivals) {
    return create(name, /*named=*/true, slots, perWarp, arrivals,
                  /*initiallyFree=*/false);
  }

private:
  ArrivalAttr arrival(StringRef role, Engine engine, int64_t count) {
    MLIRContext *context = builder.getContext();
    return ArrivalAttr::get(context, FlatSymbolRefAttr::get(context, role),
                            engine, count);
  }
  Value create(StringRef name, bool named, int64_t slots, bool perWarp,
               ArrayRef<ArrivalAttr> arrivals, bool initiallyFree) {
    SmallVector<Attribute> attrs(arrivals.begin(), arrivals.end());
    return BarrierOp::create(builder, loc,
                             BarrierType::get(builder.getContext()), name,
                             named, slots, perWarp, builder.getArrayAttr(attrs),
                             initiallyFree, /*at=*/IntegerAttr());
  }

  OpBuilder &builder;
  Location loc;
};

} // namespace

static void declareStorage(Schedule &schedule, OpBuilder &builder,
                           Location loc) {
  const Plan &plan = schedule.plan;
  Type f32 = builder.getF32Type(), element = schedule.kernel.getElementType();
  auto ring = [&](int64_t slots, ArrayRef<int64_t> shape, Type type,
                  MemorySpace space) {
    return RingType::get(builder.getContext(), slots, shape, type, space);
  };
  auto alloc = [&](StringRef name, RingType type) -> Value {
    return AllocOp::create(builder, loc, type, name, /*at=*/IntegerAttr());
  };
  auto headTiles = [&](int64_t slots) {
    return ring(slots, {kTile, plan.headDim}, element, MemorySpace::SMEM);
  };
  RingType mailbox = ring(kStages, {kTile}, f32, MemorySpace::SMEM);

  schedule.q = alloc("q", headTiles(kStages));
  schedule.kv = alloc("kv", headTiles(plan.kvStages));
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
}

static void declareContracts(Schedule &schedule, OpBuilder &builder,
                             Location loc) {
  const Plan &plan = schedule.plan;
  Contracts contracts(builder, loc);
  int64_t tileBytes = cast<RingType>(schedule.kv.getType()).getTileBytes();
  int64_t meet = plan.statsPerWarp ? kWarpThreads : kWarpgroupThreads;
  StringRef epilogue = plan.softmaxEpilogue ? kSoftmax : kCorrection;

  schedule.qFull =
      contracts.barrier("q_full", kStages, contracts.bytes(kLoad, tileBytes));
  schedule.qEmpty =
      contracts.barrier("q_empty", kStages, contracts.commit(kMma),
                        /*initiallyFree=*/true);
  schedule.kvFull = contracts.barrier("kv_full", plan.kvStages,
                                      contracts.bytes(kLoad, tileBytes));
  schedule.kvEmpty =
      contracts.barrier("kv_empty", plan.kvStages, contracts.commit(kMma),
                        /*initiallyFree=*/true);
  schedule.sReady =
      contracts.barrier("s_ready", kStages, contracts.commit(kMma));
  schedule.pORescale =
      contracts.barrier("p_o_rescale", kStages,
                        {contracts.threads(kSoftmax, kWarpgroupThreads),
                         contracts.threads(kCorrection, kWarpgroupThreads)});
  if (plan.splitsP())
    schedule.pReady2 = contracts.barrier(
        "p_ready_2", kStages, contracts.threads(kSoftmax, kWarpgroupThreads));
  schedule.oReady =
      contracts.barrier("o_ready", kStages, contracts.commit(kMma));
  schedule.stats =
      contracts.namedBarrier("stats", kStages, plan.statsPerWarp,
                             {contracts.threads(kSoftmax, meet),
                              contracts.threads(kCorrection, meet)});
  schedule.statsEmpty =
      contracts.barrier("stats_empty", kStages,
                        contracts.threads(kCorrection, kWarpgroupThreads));
  schedule.oFull = contracts.barrier(
      "o_full", kStages, contracts.threads(epilogue, kWarpgroupThreads));
  schedule.oEmpty = contracts.barrier("o_empty", kStages,
                                      contracts.threads(kStore, kWarpThreads),
                                      /*initiallyFree=*/true);
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
  declareContracts(schedule, builder, loc);

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
