// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RoleBuilder.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

FragmentType Schedule::fragmentType(int64_t columns) const {
  return FragmentType::get({kTile, columns},
                           Float32Type::get(s.getType().getContext()));
}

RowsType Schedule::rowsType() const {
  MLIRContext *context = s.getType().getContext();
  return RowsType::get(kTile, Float32Type::get(context));
}

RoleBuilder::RoleBuilder(Schedule &schedule, StringRef name, WarpRange warps,
                         int64_t registers, bool instanced)
    : schedule(schedule), plan(schedule.plan),
      builder(schedule.kernel.getContext()), loc(schedule.kernel.getLoc()) {
  builder.setInsertionPointToEnd(schedule.kernel.getBodyBlock());
  role = RoleOp::create(builder, loc, name, warps.first, warps.end, registers);
  Block &body = role.getBody().emplaceBlock();
  if (instanced)
    body.addArgument(builder.getIndexType(), loc);
  builder.setInsertionPointToEnd(&body);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void RoleBuilder::forTask(function_ref<void(Task)> body) {
  auto loop = ForTaskOp::create(builder, loc, ValueRange{});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  body({loop.getBatch(), loop.getHead(), loop.getMBlock()});
}

void RoleBuilder::forKv(KvRange range, Value mBlock,
                        function_ref<void(Value)> body) {
  auto loop = ForKvOp::create(builder, loc, range, mBlock, ValueRange{});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  body(loop.getKvBlock());
}

ResultRange
RoleBuilder::forKv(KvRange range, Value mBlock, ValueRange inits,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = ForKvOp::create(builder, loc, range, mBlock, inits);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = loop.getBody().front();
  builder.setInsertionPointToStart(&block);
  SmallVector<Value> carried =
      body(loop.getKvBlock(), block.getArguments().drop_front());
  YieldOp::create(builder, loc, carried);
  return loop.getResults();
}

Value RoleBuilder::firstKv(Value mBlock) {
  return FirstKvOp::create(builder, loc, builder.getIndexType(), mBlock);
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Value RoleBuilder::next(Value ring) {
  return NextOp::create(builder, loc, builder.getIndexType(), ring);
}

void RoleBuilder::awaitReads() {
  TmemWaitOp::create(builder, loc, TmemAccess::Load);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void RoleBuilder::load(Value source, ValueRange coordinates, Value ring,
                       Value slot, Value barrier) {
  LoadOp::create(builder, loc, source, coordinates, ring, slot, barrier, slot);
}

void RoleBuilder::store(Value ring, Value slot, Value target,
                        ValueRange coordinates) {
  StoreOp::create(builder, loc, ring, slot, target, coordinates);
}

void RoleBuilder::storeWait(int64_t pending) {
  StoreWaitOp::create(builder, loc, pending);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void RoleBuilder::multiplyQK(int64_t stage, Value kvSlot) {
  Value slot = schedule.slots[stage];
  MmaOp::create(builder, loc, schedule.q, slot, schedule.kv, kvSlot, schedule.s,
                slot,
                /*accumulate=*/Value(), /*k_begin=*/IntegerAttr(),
                /*k_end=*/IntegerAttr(), /*transpose_b=*/true,
                /*negate_a=*/plan.scale.negateQ);
}

void RoleBuilder::multiplyPV(int64_t stage, Value kvSlot, Value accumulate,
                             int64_t begin, int64_t end) {
  Value slot = schedule.slots[stage];
  IntegerAttr kBegin, kEnd;
  if (end - begin != kTile) {
    kBegin = builder.getI64IntegerAttr(begin);
    kEnd = builder.getI64IntegerAttr(end);
  }
  MmaOp::create(builder, loc, schedule.p, slot, schedule.kv, kvSlot, schedule.o,
                slot, accumulate, kBegin, kEnd);
}

//===----------------------------------------------------------------------===//
// Fragments and row values
//===----------------------------------------------------------------------===//

Value RoleBuilder::readTile(Value ring, Value slot, int64_t column,
                            int64_t columns) {
  return ReadTileOp::create(builder, loc, schedule.fragmentType(columns), ring,
                            slot, column);
}

void RoleBuilder::writeTile(Value fragment, Value ring, Value slot,
                            int64_t column) {
  WriteTileOp::create(builder, loc, fragment, ring, slot, column);
}

Value RoleBuilder::mask(Value fragment, Value mBlock, Value stage,
                        Value kvBlock, int64_t column) {
  return MaskOp::create(builder, loc, fragment, mBlock, stage, kvBlock, column);
}

Value RoleBuilder::scale(Value fragment, float factor) {
  return ScaleOp::create(builder, loc, fragment, APFloat(factor));
}

RowMax RoleBuilder::rowMax(ValueRange fragments, Value old) {
  auto op = RowMaxOp::create(
      builder, loc, schedule.rowsType(), schedule.rowsType(), fragments, old,
      APFloat(plan.scale.factor), APFloat(plan.threshold));
  return {op.getReference(), op.getFactor()};
}

Value RoleBuilder::exp2(Value fragment, Value reference, bool polynomial) {
  return Exp2Op::create(builder, loc, fragment.getType(), fragment, reference,
                        builder.getF32FloatAttr(plan.scale.factor),
                        polynomial ? plan.polyPairs : 0,
                        polynomial ? plan.polyOf : 1);
}

Value RoleBuilder::rowSum(ValueRange fragments, Value old, Value factor) {
  return RowSumOp::create(builder, loc, schedule.rowsType(), fragments, old,
                          factor);
}

Value RoleBuilder::convert(Value fragment) {
  auto type = cast<FragmentType>(fragment.getType());
  KernelOp kernel = schedule.kernel;
  return ConvertOp::create(
      builder, loc, FragmentType::get(type.getShape(), kernel.getElementType()),
      fragment);
}

Value RoleBuilder::normalize(Value fragment, Value sum) {
  return NormalizeOp::create(builder, loc, fragment, sum);
}

void RoleBuilder::rescale(Value ring, Value slot, Value factor) {
  RescaleOp::create(builder, loc, ring, slot, factor, plan.rescaleChunk);
}

void RoleBuilder::publish(Value rows, Value mailbox, Value slot) {
  PublishOp::create(builder, loc, rows, mailbox, slot);
}

Value RoleBuilder::collect(Value mailbox, Value slot) {
  return CollectOp::create(builder, loc, schedule.rowsType(), mailbox, slot);
}

void RoleBuilder::storeLse(Value reference, Value sum, ValueRange coordinates) {
  KernelOp kernel = schedule.kernel;
  StoreLseOp::create(builder, loc, reference, sum, kernel.getLse(),
                     coordinates);
}
