// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is computed from the registers of a tcgen05.ld, behind the wait for it.
//
#include "TmemLoadUses.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

static bool isLoadWait(Operation &op) {
  auto wait = dyn_cast<NVVM::Tcgen05WaitOp>(op);
  return wait && wait.getKind() == NVVM::Tcgen05WaitKind::LOAD;
}

static void sinkBehindWaits(Block &block) {
  // Values of loads not waited for, and pure ops that use them, in order.
  llvm::DenseSet<Value> unsettled;
  llvm::SmallVector<Operation *> waiting;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isLoadWait(op)) {
      Operation *last = &op;
      for (Operation *user : waiting) {
        user->moveAfter(last);
        last = user;
      }
      unsettled.clear();
      waiting.clear();
      continue;
    }
    if (isa<NVVM::Tcgen05LdOp>(op)) {
      unsettled.insert(op.getResults().begin(), op.getResults().end());
      continue;
    }
    bool uses = llvm::any_of(op.getOperands(), [&](Value operand) {
      return unsettled.contains(operand);
    });
    if (!uses)
      continue;
    if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op)) {
      // Its effect stays where the schedule put it, and so does what it needs.
      unsettled.clear();
      waiting.clear();
      continue;
    }
    waiting.push_back(&op);
    unsettled.insert(op.getResults().begin(), op.getResults().end());
  }
}

void mlir::fa4::sinkTmemLoadUses(Operation *function) {
  function->walk([](Block *block) { sinkBehindWaits(*block); });
}
