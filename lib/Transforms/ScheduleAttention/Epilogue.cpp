// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a tile, in whichever role does it.

#include "RoleBuilder.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::schedule;

void schedule::buildEpilogue(RoleBuilder &role, const Task &task, Value slot,
                             Value reference, Value sum) {
  const Schedule &s = role.schedule;
  const Plan &plan = role.plan;
  for (int64_t column = 0; column < plan.headDim;
       column += plan.epilogueChunk) {
    Value values = role.readTile(s.o, slot, column, plan.epilogueChunk);
    role.awaitReads();
    Value normalized = role.normalize(values, sum);
    role.writeTile(role.convert(normalized), s.oStaging, slot, column);
  }
  if (plan.hasLse)
    role.storeLse(reference, sum, task.tile(slot));
}
