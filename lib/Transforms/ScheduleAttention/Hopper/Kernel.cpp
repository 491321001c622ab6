// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel around the roles: storage, contracts, set-up.

#include "Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

std::string schedule::getConsumerName(int64_t consumer) {
  return "consumer_" + std::to_string(consumer);
}

RoleOp HopperKernel::addRole(ImplicitLocOpBuilder &b, StringRef name,
                             int64_t firstWarp, int64_t endWarp,
                             int64_t registers) const {
  KernelOp op = kernel;
  b.setInsertionPointToEnd(op.getBodyBlock());
  auto role = RoleOp::create(b, name, firstWarp, endWarp, registers);
  b.setInsertionPointToEnd(&role.getBody().emplaceBlock());
  return role;
}

ForTaskOp schedule::addTaskLoop(ImplicitLocOpBuilder &b) {
  auto loop = ForTaskOp::create(b, ValueRange{});
  b.setInsertionPointToStart(&loop.getBody().front());
  return loop;
}

ResultRange
schedule::addKvLoop(ImplicitLocOpBuilder &b, KvRange range, Value mBlock,
                    ValueRange inits,
                    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = ForKvOp::create(b, range, mBlock, inits);
  OpBuilder::InsertionGuard guard(b);
  Block &block = loop.getBody().front();
  b.setInsertionPointToStart(&block);
  SmallVector<Value> carried =
      body(loop.getKvBlock(), block.getArguments().drop_front());
  if (!inits.empty())
    YieldOp::create(b, carried);
  return loop.getResults();
}

void schedule::declareHopperStorage(ImplicitLocOpBuilder &b, HopperKernel &h) {
  Type element = h.kernel.getElementType();
  auto alloc = [&](StringRef name, int64_t slots, int64_t rows) -> Value {
    auto type = RingType::get(b.getContext(), slots, {rows, h.plan.headDim},
                              element, MemorySpace::SMEM);
    return AllocOp::create(b, type, name, /*at=*/IntegerAttr());
  };
  h.q = alloc("q", h.plan.consumers, kWgmmaRows);
  h.k = alloc("k", h.plan.kvStages, h.plan.tileKeys);
  h.v = alloc("v", h.plan.kvStages, h.plan.tileKeys);
  h.oStaging = alloc("o_staging", h.plan.consumers, kWgmmaRows);
}

void schedule::declareHopperContracts(ImplicitLocOpBuilder &b,
                                      HopperKernel &h) {
  MLIRContext *context = b.getContext();
  auto arrival = [&](StringRef role, Engine engine,
                     int64_t count) -> Attribute {
    return ArrivalAttr::get(context, FlatSymbolRefAttr::get(context, role),
                            engine, count);
  };
  auto barrier = [&](StringRef name, int64_t slots,
                     ArrayRef<Attribute> arrivals,
                     bool initiallyFree = false) -> Value {
    return BarrierOp::create(b, BarrierType::get(context), name,
                             /*named=*/false, slots, /*per_warp=*/false,
                             b.getArrayAttr(arrivals), initiallyFree,
                             /*at=*/IntegerAttr());
  };
  // One arrival a warp: of 128 each would be an access to shared memory, which
  // feeds the tensor core at the same time.
  auto warps = [&](int64_t consumer) {
    return arrival(getConsumerName(consumer), Engine::Threads, 4);
  };
  const HopperPlan &plan = h.plan;
  SmallVector<Attribute> all;
  for (int64_t consumer = 0; consumer < plan.consumers; ++consumer)
    all.push_back(warps(consumer));
  int64_t rowBytes = plan.headDim * 2;
  Attribute tile = arrival("load", Engine::Bytes, kWgmmaRows * rowBytes);
  Attribute block = arrival("load", Engine::Bytes, plan.tileKeys * rowBytes);
  h.qFull = barrier("q_full", plan.consumers, tile);
  h.kFull = barrier("k_full", plan.kvStages, block);
  h.kEmpty = barrier("k_empty", plan.kvStages, all, /*initiallyFree=*/true);
  h.vFull = barrier("v_full", plan.kvStages, block);
  h.vEmpty = barrier("v_empty", plan.kvStages, all, /*initiallyFree=*/true);
  h.oEmpty =
      barrier("o_empty", plan.consumers, arrival("store", Engine::Threads, 32),
              /*initiallyFree=*/true);
  for (int64_t consumer = 0; consumer < plan.consumers; ++consumer) {
    std::string suffix = "_" + std::to_string(consumer);
    h.qEmpty.push_back(barrier("q_empty" + suffix, 1, warps(consumer), true));
    h.oFull.push_back(barrier("o_full" + suffix, 1, warps(consumer)));
    int64_t before = (consumer + plan.consumers - 1) % plan.consumers;
    if (plan.turns)
      h.turn.push_back(barrier("turn" + suffix, 1, warps(before),
                               /*initiallyFree=*/consumer == 0));
  }
}

KernelOp schedule::buildHopperKernel(OpBuilder &builder, Location loc,
                                     StringRef name, FunctionType functionType,
                                     const HopperPlan &plan) {
  OpBuilder::InsertionGuard guard(builder);
  HopperKernel h;
  h.plan = plan;
  h.kernel = KernelOp::create(
      builder, loc, name, functionType, plan.target, plan.warps(),
      plan.scheduler, plan.consumers, /*tile_rows=*/kWgmmaRows, plan.tileKeys,
      plan.pack, plan.causal, /*smem_bytes=*/IntegerAttr());
  Block &body = h.kernel.getBody().emplaceBlock();
  for (Type type : functionType.getInputs())
    body.addArgument(type, loc);
  ImplicitLocOpBuilder b(loc, loc.getContext());
  b.setInsertionPointToStart(&body);
  for (int64_t consumer = 0; consumer < plan.consumers; ++consumer)
    h.slots.push_back(arith::ConstantIndexOp::create(b, consumer));
  declareHopperStorage(b, h);
  declareHopperContracts(b, h);
  InitBarriersOp::create(b, /*warp=*/0);
  CtaSyncOp::create(b);
  buildHopperLoadRole(b, h);
  buildHopperStoreRole(b, h);
  h.addRole(b, "idle", 2, 4, plan.producerRegisters);
  for (int64_t consumer = 0; consumer < plan.consumers; ++consumer)
    buildHopperConsumer(b, h, consumer);
  // Nothing is freed behind the roles, so nobody waits for the others there.
  return h.kernel;
}
