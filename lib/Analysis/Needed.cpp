// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Needed.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
class Finder {
public:
  llvm::DenseSet<Value> run(RoleOp role) {
    role.getBody().walk([&](Operation *op) {
      if (isa<YieldOp>(op))
        return;
      if (isa<ForTaskOp, ForKvOp>(op)) {
        // What a loop carries is needed where it is used.
        size_t carried = op->getNumResults();
        addAll(op->getOperands().drop_back(carried));
      } else if (op->getNumRegions() != 0 || !isMemoryEffectFree(op)) {
        addAll(op->getOperands());
      }
    });
    while (!worklist.empty())
      visit(worklist.pop_back_val());
    return std::move(needed);
  }

private:
  void addAll(ValueRange values) {
    for (Value value : values)
      if (needed.insert(value).second)
        worklist.push_back(value);
  }

  void visit(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *loop = argument.getOwner()->getParentOp();
      size_t own =
          argument.getOwner()->getNumArguments() - loop->getNumResults();
      if (isa<ForTaskOp, ForKvOp>(loop) && argument.getArgNumber() >= own)
        addCarried(loop, argument.getArgNumber() - own);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (isa<ForTaskOp, ForKvOp>(op))
      addCarried(op, cast<OpResult>(value).getResultNumber());
    else
      addAll(op->getOperands());
  }

  void addCarried(Operation *loop, size_t index) {
    size_t carried = loop->getNumResults();
    Operation *yield = loop->getRegion(0).front().getTerminator();
    addAll(loop->getOperands().take_back(carried).slice(index, 1));
    addAll(yield->getOperands().slice(index, 1));
  }

  llvm::DenseSet<Value> needed;
  SmallVector<Value> worklist;
};
} // namespace

llvm::DenseSet<Value> protocol::findNeeded(RoleOp role) {
  return Finder().run(role);
}
