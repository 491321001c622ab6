// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MMA role: every Q * K^T and P * V, in the order that keeps the tensor
// core busy on one stage while the other is in softmax.

#include "RoleBuilder.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

namespace {

class MmaProgram {
public:
  MmaProgram(RoleBuilder &role, const Task &task)
      : role(role), s(role.schedule), plan(role.plan), task(task) {}

  void build() {
    multiplyFirstK();
    Value accumulate =
        role.forKv(KvRange::Rest, task.mBlock, {s.never},
                   [&](Value, ValueRange carried) -> SmallVector<Value> {
                     multiplyBlock(carried[0]);
                     return {s.always};
                   })[0];
    multiplyLastV(accumulate);
  }

private:
  void multiplyFirstK() {
    Value k = role.next(s.kv);
    for (int64_t stage = 0; stage < kStages; ++stage)
      role.multiplyQK(stage, k);
  }

  /// V of the block before, and K of this one. Q * K^T overwrites the S that P
  /// lies over; it is issued behind P * V, and MMAs run in order.
  void multiplyBlock(Value accumulate) {
    Value v = role.next(s.kv);
    Value k;
    for (int64_t stage = 0; stage < kStages; ++stage) {
      multiplyPV(stage, v, accumulate);
      if (stage == 0)
        k = role.next(s.kv);
      role.multiplyQK(stage, k);
    }
  }

  void multiplyLastV(Value accumulate) {
    Value v = role.next(s.kv);
    for (int64_t stage = 0; stage < kStages; ++stage)
      multiplyPV(stage, v, accumulate);
  }

  /// P * V, a segment as soon as it is there.
  void multiplyPV(int64_t stage, Value v, Value accumulate) {
    role.multiplyPV(stage, v, accumulate, 0, plan.firstSegment);
    if (plan.splitsP())
      role.multiplyPV(stage, v, s.always, plan.firstSegment, kTile);
  }

  RoleBuilder &role;
  const Schedule &s;
  const Plan &plan;
  const Task &task;
};

} // namespace

void schedule::buildMmaRole(Schedule &schedule) {
  RoleBuilder role(schedule, kMma, kMmaWarps, schedule.plan.otherRegisters);
  role.forTask([&](Task task) { MmaProgram(role, task).build(); });
}
