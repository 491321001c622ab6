// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A consumer: S, P and O of 64 query rows, in the registers of a warpgroup.
//
// Q * K^T of a block is started before P * V of the block before, so that the
// exponentials of the one run beside the product of the other. With turns, a
// consumer starts its two products only after the one before it has, and the
// tensor core has another's products while it works on its rows.
//
// With look-ahead, Q * K^T is started before the exponentials of the block
// before. Between the two products lies the half of a block's softmax that the
// other needs: exponents go from block to block in registers, not P.

#include "Kernel.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

namespace {

/// What goes from block to block: O without the block's P * V, its P, and the
/// reference and sum of the rows. With look-ahead, in place of P the exponents
/// that it comes from, and the factor that its sum lacks.
struct State {
  Value o, p, reference, sum, factor;

  SmallVector<Value> list() const {
    SmallVector<Value> values{o, p, reference, sum};
    if (factor)
      values.push_back(factor);
    return values;
  }
  static State of(ValueRange values) {
    return {values[0], values[1], values[2], values[3],
            values.size() > 4 ? values[4] : Value()};
  }
};

class ConsumerProgram {
public:
  ConsumerProgram(ImplicitLocOpBuilder &b, HopperKernel &h, int64_t consumer)
      : b(b), h(h), plan(h.plan), kernel(h.kernel), consumer(consumer),
        slot(h.slots[consumer]) {}

  void build() {
    task = addTaskLoop(b);
    Value first = FirstKvOp::create(b, b.getIndexType(), task.getMBlock());
    State state = buildFirst(first);
    if (plan.causal) {
      state = buildLoop(KvRange::RestMasked, state);
      state = buildLoop(KvRange::RestUnmasked, state);
    } else {
      state = buildLoop(KvRange::Rest, state);
    }
    buildEpilogue(state);
  }

private:
  FragmentType fragment(int64_t columns) {
    return FragmentType::get(b.getContext(), {kWgmmaRows, columns},
                             b.getF32Type(), FragmentLayout::WGMMA);
  }
  PendingType pending(int64_t columns) {
    return PendingType::get(b.getContext(), {kWgmmaRows, columns},
                            b.getF32Type());
  }
  RowsType rows(bool partial = false) {
    return RowsType::get(kWgmmaRows, b.getF32Type(), partial);
  }
  Value next(Value ring) { return NextOp::create(b, b.getIndexType(), ring); }

  /// These products are started in one turn.
  void addTurn(Value first, Value last) {
    h.turns[consumer].push_back({first.getDefiningOp(), last.getDefiningOp()});
  }

  Value startQK(Value kSlot) {
    return WarpgroupMmaOp::create(b, pending(plan.tileKeys), h.q, slot, h.k,
                                  kSlot, /*c=*/Value(), /*transpose_b=*/true,
                                  /*negate_a=*/plan.scale.negateQ);
  }
  Value startPV(Value p, Value vSlot, Value o) {
    return WarpgroupMmaOp::create(b, pending(plan.headDim), p,
                                  /*a_slot=*/Value(), h.v, vSlot, o,
                                  /*transpose_b=*/false, /*negate_a=*/false);
  }
  Value await(int64_t pendingProducts, Value started) {
    return WarpgroupWaitOp::create(b, pendingProducts, started);
  }

  Value prepareLogits(Value logits, Value kvBlock, bool masked) {
    if (plan.scale.premultiply)
      logits = ScaleOp::create(b, logits, APFloat(*plan.scale.premultiply));
    if (masked)
      logits = MaskOp::create(b, logits, task.getMBlock(), slot, kvBlock,
                              /*column=*/0);
    return logits;
  }
  RowMaxOp rowMax(Value logits, Value old, bool vote = false) {
    return RowMaxOp::create(b, rows(), rows(), logits, old,
                            APFloat(plan.scale.factor), APFloat(plan.threshold),
                            vote);
  }
  Value exp2(Value logits, Value reference, bool polynomial) {
    FloatAttr scale =
        reference ? b.getF32FloatAttr(plan.scale.factor) : FloatAttr();
    bool none = !polynomial || plan.polyPairs == 0;
    return Exp2Op::create(b, logits.getType(), logits, reference, scale,
                          none ? 0 : plan.polyPairs, none ? 1 : plan.polyOf);
  }
  Value exponents(Value logits, Value reference) {
    return ExponentsOp::create(b, logits, reference,
                               APFloat(plan.scale.factor));
  }
  Value convert(Value input) {
    auto type = cast<FragmentType>(input.getType());
    return ConvertOp::create(b,
                             FragmentType::get(b.getContext(), type.getShape(),
                                               kernel.getElementType(),
                                               type.getLayout()),
                             input);
  }

  State buildFirst(Value kvBlock) {
    Value kSlot = next(h.k);
    Value started = startQK(kSlot);
    addTurn(started, started);
    Value logits = await(0, started);
    logits = prepareLogits(logits, kvBlock, plan.maskFirst);
    RowMaxOp max = rowMax(logits, Value());
    Value o = FillOp::create(b, fragment(plan.headDim), APFloat(0.0f));
    if (plan.lookAhead) {
      Value sum = FillOp::create(b, rows(/*partial=*/true), APFloat(0.0f));
      return {o, exponents(logits, max.getReference()), max.getReference(), sum,
              max.getFactor()};
    }
    Value weights = exp2(logits, max.getReference(), /*polynomial=*/false);
    Value sum = RowSumOp::create(b, rows(/*partial=*/true), weights,
                                 /*old=*/Value(), /*factor=*/Value());
    return {o, convert(weights), max.getReference(), sum, Value()};
  }

  State buildLoop(KvRange range, State state) {
    auto results =
        addKvLoop(b, range, task.getMBlock(), state.list(),
                  [&](Value kvBlock, ValueRange carried) -> SmallVector<Value> {
                    bool masked = range == KvRange::RestMasked;
                    State old = State::of(carried);
                    return (plan.lookAhead ? buildAhead(kvBlock, old, masked)
                                           : buildBlock(kvBlock, old, masked))
                        .list();
                  });
    return State::of(results);
  }

  State buildBlock(Value kvBlock, State old, bool masked) {
    Value kSlot = next(h.k);
    Value startedS = startQK(kSlot);
    Value vSlot = next(h.v);
    Value startedO = startPV(old.p, vSlot, old.o);
    addTurn(startedS, startedO);
    Value logits = await(1, startedS);
    logits = prepareLogits(logits, kvBlock, masked);
    RowMaxOp max = rowMax(logits, old.reference);
    Value weights = exp2(logits, max.getReference(), /*polynomial=*/!masked);
    Value sum = RowSumOp::create(b, rows(/*partial=*/true), weights, old.sum,
                                 max.getFactor());
    Value o = await(0, startedO);
    // Behind the wait: the tensor core read the old P until there.
    Value p = convert(weights);
    return {ScaleRowsOp::create(b, o, max.getFactor()), p, max.getReference(),
            sum, Value()};
  }

  /// Exponentials and sum of the block before.
  void finishWeights(State &state, bool polynomial) {
    Value weights = exp2(state.p, Value(), polynomial);
    state.sum = RowSumOp::create(b, rows(/*partial=*/true), weights, state.sum,
                                 state.factor);
    state.p = convert(weights);
  }

  /// Q * K^T of a block runs beside the exponentials of the block before, whose
  /// P * V then runs beside the maximum of this.
  State buildAhead(Value kvBlock, State old, bool masked) {
    Value kSlot = next(h.k);
    Value startedS = startQK(kSlot);
    finishWeights(old, /*polynomial=*/!masked);
    Value vSlot = next(h.v);
    Value startedO = startPV(old.p, vSlot, old.o);
    Value logits = await(1, startedS);
    logits = prepareLogits(logits, kvBlock, masked);
    RowMaxOp max = rowMax(logits, old.reference, /*vote=*/!masked);
    Value x = exponents(logits, max.getReference());
    Value o = await(0, startedO);
    return {ScaleRowsOp::create(b, o, max.getFactor()), x, max.getReference(),
            old.sum, max.getFactor()};
  }

  void buildEpilogue(State state) {
    if (plan.lookAhead)
      finishWeights(state, /*polynomial=*/false);
    Value vSlot = next(h.v);
    Value started = startPV(state.p, vSlot, state.o);
    Value sum = RowTotalOp::create(b, state.sum);
    Value o = await(0, started);
    Value result = convert(NormalizeOp::create(b, o, sum));
    WriteTileOp::create(b, result, h.oStaging, slot, /*column=*/0);
    if (plan.hasLse)
      StoreLseOp::create(
          b, state.reference, sum, kernel.getLse(),
          ValueRange{task.getBatch(), task.getHead(), task.getMBlock(), slot});
  }

  ImplicitLocOpBuilder &b;
  HopperKernel &h;
  const HopperPlan &plan;
  KernelOp kernel;
  int64_t consumer;
  Value slot;
  ForTaskOp task;
};

} // namespace

void schedule::buildHopperConsumer(ImplicitLocOpBuilder &b, HopperKernel &h,
                                   int64_t consumer) {
  h.addRole(b, getConsumerName(consumer), 4 + 4 * consumer, 8 + 4 * consumer,
            h.plan.consumerRegisters);
  ConsumerProgram(b, h, consumer).build();
}
