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
    for (Value slot : s.slots)
      role.arrive(s.qEmpty, slot);
    multiplyLastV(accumulate);
  }

private:
  void multiplyFirstK() {
    Value k = role.next(s.kv);
    for (int64_t stage = 0; stage < kStages; ++stage) {
      role.wait(s.qFull, s.slots[stage]);
      if (stage == 0)
        role.wait(s.kvFull, k);
      multiplyQK(stage, k);
    }
    role.arrive(s.kvEmpty, k);
  }

  /// V of the block before, and K of this one. Q * K^T overwrites the S that P
  /// lies over; it is issued behind P * V, and MMAs run in order.
  void multiplyBlock(Value accumulate) {
    Value v = role.next(s.kv);
    role.wait(s.kvFull, v);
    Value k;
    for (int64_t stage = 0; stage < kStages; ++stage) {
      multiplyPV(stage, v, accumulate);
      if (stage == 0) {
        k = role.next(s.kv);
        role.wait(s.kvFull, k);
      }
      if (stage == kStages - 1)
        role.arrive(s.kvEmpty, v);
      multiplyQK(stage, k);
    }
    role.arrive(s.kvEmpty, k);
  }

  void multiplyLastV(Value accumulate) {
    Value v = role.next(s.kv);
    role.wait(s.kvFull, v);
    for (int64_t stage = 0; stage < kStages; ++stage) {
      multiplyPV(stage, v, accumulate);
      role.arrive(s.oReady, s.slots[stage]);
    }
    role.arrive(s.kvEmpty, v);
  }

  void multiplyQK(int64_t stage, Value k) {
    role.multiplyQK(stage, k);
    role.arrive(s.sReady, s.slots[stage]);
  }

  /// P * V, a segment as soon as it is there.
  void multiplyPV(int64_t stage, Value v, Value accumulate) {
    role.wait(s.pORescale, s.slots[stage]);
    role.multiplyPV(stage, v, accumulate, 0, plan.firstSegment);
    if (!plan.splitsP())
      return;
    role.wait(s.pReady2, s.slots[stage]);
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
