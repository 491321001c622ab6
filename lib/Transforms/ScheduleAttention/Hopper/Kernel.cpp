// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel around the roles: storage, set-up, turns.

#include "Kernel.h"

#include "fa4/Analysis/DeriveContracts.h"
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
  auto alloc = [&](StringRef name, int64_t slots, int64_t rows) {
    auto type = RingType::get(b.getContext(), slots, {rows, h.plan.headDim},
                              element, MemorySpace::SMEM);
    return AllocOp::create(b, type, name, /*at=*/IntegerAttr());
  };
  AllocOp q = alloc("q", h.plan.consumers, kWgmmaRows);
  AllocOp k = alloc("k", h.plan.kvStages, h.plan.tileKeys);
  AllocOp v = alloc("v", h.plan.kvStages, h.plan.tileKeys);
  h.q = q;
  h.k = k;
  h.v = v;
  h.oStaging = alloc("o_staging", h.plan.consumers, kWgmmaRows);
  auto load = FlatSymbolRefAttr::get(b.getContext(), "load");
  h.qFull = declareCopyBarrier(b, q, load);
  h.kFull = declareCopyBarrier(b, k, load);
  h.vFull = declareCopyBarrier(b, v, load);
}

void schedule::addHopperTurns(ImplicitLocOpBuilder &b, HopperKernel &h) {
  int64_t consumers = h.plan.consumers;
  Operation *last = nullptr;
  for (auto barrier : h.kernel.getBody().getOps<BarrierOp>())
    last = barrier;
  b.setInsertionPointAfter(last);
  SmallVector<Value> turn;
  for (int64_t consumer = 0; consumer < consumers; ++consumer) {
    std::string before =
        getConsumerName((consumer + consumers - 1) % consumers);
    // One arrival a warp, as for all that consumers arrive on.
    Attribute arrival = ArrivalAttr::get(
        b.getContext(), FlatSymbolRefAttr::get(b.getContext(), before),
        Engine::Threads, kWarpgroupThreads / kWarpThreads);
    turn.push_back(BarrierOp::create(
        b, BarrierType::get(b.getContext()), "turn_" + std::to_string(consumer),
        /*named=*/false, /*slots=*/1,
        /*per_warp=*/false, b.getArrayAttr(arrival),
        /*initially_free=*/consumer == 0, /*at=*/IntegerAttr()));
  }
  for (auto [consumer, products] : llvm::enumerate(h.turns))
    for (auto [first, last] : products) {
      b.setInsertionPoint(first);
      WaitOp::create(b, turn[consumer], h.slots[0]);
      b.setInsertionPointAfter(last);
      ArriveOp::create(b, turn[(consumer + 1) % consumers], h.slots[0]);
    }
}

FailureOr<KernelOp> schedule::buildHopperKernel(OpBuilder &builder,
                                                Location loc, StringRef name,
                                                FunctionType functionType,
                                                const HopperPlan &plan) {
  OpBuilder::InsertionGuard guard(builder);
  HopperKernel h;
  h.plan = plan;
  h.turns.resize(plan.consumers);
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
  InitBarriersOp::create(b, /*warp=*/0);
  CtaSyncOp::create(b);
  buildHopperLoadRole(b, h);
  buildHopperStoreRole(b, h);
  h.addRole(b, "idle", 2, 4, plan.producerRegisters);
  for (int64_t consumer = 0; consumer < plan.consumers; ++consumer)
    buildHopperConsumer(b, h, consumer);
  // Nothing is freed behind the roles, so nobody waits for the others there.
  if (failed(deriveContracts(h.kernel))) {
    h.kernel.erase();
    return failure();
  }
  if (plan.turns)
    addHopperTurns(b, h);
  return h.kernel;
}
