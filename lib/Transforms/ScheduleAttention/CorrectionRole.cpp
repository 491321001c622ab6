// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The correction role: keeps O in step with the rows' references.

#include "RoleBuilder.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

/// One block of one stage.
static void correctBlock(RoleBuilder &role, Value slot) {
  const Schedule &s = role.schedule;
  Value factor = role.collect(s.mailFactor, slot);
  role.rescale(s.o, slot, factor);
}

static void finishTile(RoleBuilder &role, const Task &task, Value slot) {
  const Schedule &s = role.schedule;
  Value sum = role.collect(s.mailFactor, slot);
  Value reference;
  if (role.plan.publishesReference())
    reference = role.collect(s.mailReference, slot);
  buildEpilogue(role, task, slot, reference, sum);
}

void schedule::buildCorrectionRole(Schedule &schedule) {
  RoleBuilder role(schedule, kCorrection, kCorrectionWarps,
                   schedule.plan.correctionRegisters);
  role.forTask([&](Task task) {
    role.forKv(KvRange::All, task.mBlock, [&](Value) {
      for (Value slot : schedule.slots)
        correctBlock(role, slot);
    });
    if (!schedule.plan.softmaxEpilogue)
      for (Value slot : schedule.slots)
        finishTile(role, task, slot);
  });
}
