// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmax role: S to P for one stage, and the statistics of its rows.

#include "RoleBuilder.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

namespace {

/// What a row carries from block to block.
struct Rows {
  Value reference, sum;
};

class SoftmaxProgram {
public:
  SoftmaxProgram(RoleBuilder &role, const Task &task)
      : role(role), s(role.schedule), plan(role.plan), task(task),
        stage(role.instance()) {}

  void build() {
    Rows rows =
        buildBlock(role.firstKv(task.mBlock), std::nullopt, plan.maskFirst);
    if (plan.causal) {
      rows = buildLoop(KvRange::RestMasked, rows);
      rows = buildLoop(KvRange::RestUnmasked, rows);
    } else {
      rows = buildLoop(KvRange::Rest, rows);
    }
    if (plan.softmaxEpilogue)
      buildEpilogue(role, task, stage, rows.reference, rows.sum);
    else
      publishRows(rows);
  }

private:
  Rows buildLoop(KvRange range, Rows rows) {
    auto results = role.forKv(
        range, task.mBlock, {rows.reference, rows.sum},
        [&](Value kvBlock, ValueRange carried) -> SmallVector<Value> {
          Rows next = buildBlock(kvBlock, Rows{carried[0], carried[1]},
                                 range == KvRange::RestMasked);
          return {next.reference, next.sum};
        });
    return {results[0], results[1]};
  }

  /// One K/V block; `old` is absent in a task's first.
  Rows buildBlock(Value kvBlock, std::optional<Rows> old, bool masked) {
    SmallVector<Value> logits = readLogits(kvBlock, masked);
    RowMax max = role.rowMax(logits, old ? old->reference : Value());
    role.publish(max.factor, s.mailFactor, stage);
    SmallVector<Value> weights =
        writeWeights(logits, max.reference, /*polynomial=*/old && !masked);
    Value sum = role.rowSum(weights, old ? old->sum : Value(),
                            old ? max.factor : Value());
    return {max.reference, sum};
  }

  SmallVector<Value> readLogits(Value kvBlock, bool masked) {
    SmallVector<Value> logits;
    for (int64_t column = 0; column < kTile; column += plan.fragmentColumns)
      logits.push_back(role.readTile(s.s, stage, column, plan.fragmentColumns));
    role.awaitReads();
    for (auto [index, logit] : llvm::enumerate(logits)) {
      if (plan.scale.premultiply)
        logit = role.scale(logit, *plan.scale.premultiply);
      if (masked)
        logit = role.mask(logit, task.mBlock, stage, kvBlock,
                          index * plan.fragmentColumns);
    }
    return logits;
  }

  /// Writes P and returns the weights in f32.
  SmallVector<Value> writeWeights(ArrayRef<Value> logits, Value reference,
                                  bool polynomial) {
    SmallVector<Value> weights;
    int64_t begin = 0;
    for (Value logit : logits) {
      int64_t end = begin + plan.fragmentColumns;
      weights.push_back(role.exp2(logit, reference,
                                  polynomial && takesPolynomial(begin, end)));
      role.writeTile(role.convert(weights.back()), s.p, stage, begin);
      begin = end;
    }
    return weights;
  }

  bool takesPolynomial(int64_t begin, int64_t end) const {
    return plan.polyPairs != 0 && begin < plan.polyEnd &&
           end > plan.polyBegin && end != kTile;
  }

  /// Hands the rows to the epilogue of the correction role.
  void publishRows(const Rows &rows) {
    role.publish(rows.sum, s.mailFactor, stage);
    if (plan.publishesReference())
      role.publish(rows.reference, s.mailReference, stage);
  }

  RoleBuilder &role;
  const Schedule &s;
  const Plan &plan;
  const Task &task;
  Value stage;
};

} // namespace

void schedule::buildSoftmaxRole(Schedule &schedule) {
  RoleBuilder role(schedule, kSoftmax, kSoftmaxWarps,
                   schedule.plan.softmaxRegisters,
                   /*instanced=*/true);
  role.forTask([&](Task task) { SoftmaxProgram(role, task).build(); });
}
