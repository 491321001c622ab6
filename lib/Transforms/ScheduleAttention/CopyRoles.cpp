// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The roles that copy tiles between global and shared memory, and the idle one.

#include "RoleBuilder.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

namespace {

class LoadProgram {
public:
  explicit LoadProgram(RoleBuilder &role)
      : role(role), s(role.schedule), kernel(s.kernel) {}

  void build() {
    role.forTask([&](Task task) { loadTask(task); });
  }

private:
  /// In the order in which the MMA role needs them: Q0 and K, then Q1, then V.
  void loadTask(const Task &task) {
    loadQ(task, s.slots[0]);
    Value first = role.firstKv(task.mBlock);
    loadKv(kernel.getK(), task, first);
    loadQ(task, s.slots[1]);
    loadKv(kernel.getV(), task, first);
    role.forKv(KvRange::Rest, task.mBlock, [&](Value kvBlock) {
      loadKv(kernel.getK(), task, kvBlock);
      loadKv(kernel.getV(), task, kvBlock);
    });
  }

  void loadQ(const Task &task, Value slot) {
    role.load(kernel.getQ(), task.tile(slot), s.q, slot, s.qFull);
  }

  void loadKv(Value source, const Task &task, Value kvBlock) {
    Value slot = role.next(s.kv);
    role.load(source, task.block(kvBlock), s.kv, slot, s.kvFull);
  }

  RoleBuilder &role;
  const Schedule &s;
  KernelOp kernel;
};

} // namespace

void schedule::buildLoadRole(Schedule &schedule) {
  RoleBuilder role(schedule, kLoad, kLoadWarps, schedule.plan.otherRegisters);
  LoadProgram(role).build();
}

void schedule::buildStoreRole(Schedule &schedule) {
  RoleBuilder role(schedule, kStore, kStoreWarps, schedule.plan.otherRegisters);
  role.forTask([&](Task task) {
    for (Value slot : schedule.slots)
      role.store(schedule.oStaging, slot, schedule.kernel.getO(),
                 task.tile(slot));
    // Stores finish reading in order: the first is done when one is pending.
    for (int64_t stage = 0; stage < kStages; ++stage)
      role.storeWait(kStages - 1 - stage);
  });
}

void schedule::buildIdleRole(Schedule &schedule) {
  RoleBuilder(schedule, kIdle, kIdleWarps, schedule.plan.otherRegisters);
}
