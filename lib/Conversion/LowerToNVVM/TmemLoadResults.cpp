// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers of tcgen05.ld, from the wait for them on.
//
#include "TmemLoadResults.h"
#include "InlineAsm.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fa4;

/// What the lowering makes of the registers of a load: pairs of f32, or words,
/// taken apart right behind it.
static void collectParts(Value value, llvm::SetVector<Value> &parts) {
  if (!isa<VectorType>(value.getType())) {
    parts.insert(value);
    return;
  }
  // The newest user is listed first.
  SmallVector<Operation *> users(value.getUsers());
  for (Operation *user : llvm::reverse(users)) {
    if (isa<LLVM::BitcastOp>(user))
      collectParts(user->getResult(0), parts);
    else if (isa<LLVM::ShuffleVectorOp, LLVM::ExtractElementOp>(user))
      parts.insert(user->getResult(0));
  }
}

static bool comesBehind(Operation *wait, OpOperand &use) {
  Operation *user = wait->getBlock()->findAncestorOpInBlock(*use.getOwner());
  return user && wait->isBeforeInBlock(user);
}

static void tieTo(NVVM::Tcgen05WaitOp wait, ArrayRef<Value> loads) {
  llvm::SetVector<Value> all;
  for (Value load : loads)
    collectParts(load, all);
  SmallVector<Value> parts = all.takeVector();
  llvm::erase_if(parts, [&](Value part) {
    return llvm::none_of(
        part.getUses(), [&](OpOperand &use) { return comesBehind(wait, use); });
  });
  if (parts.empty())
    return;
  ImplicitLocOpBuilder b(wait.getLoc(), wait->getContext());
  b.setInsertionPointAfter(wait);
  SmallVector<Value> tied = createCopies(b, parts);
  Operation *last = tied.back().getDefiningOp();
  for (auto [part, value] : llvm::zip_equal(parts, tied))
    part.replaceUsesWithIf(
        value, [&](OpOperand &use) { return comesBehind(last, use); });
}

static void tieInBlock(Block &block) {
  SmallVector<Value> loads;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto load = dyn_cast<NVVM::Tcgen05LdOp>(op))
      loads.push_back(load.getResult());
    auto wait = dyn_cast<NVVM::Tcgen05WaitOp>(op);
    if (!wait || wait.getKind() != NVVM::Tcgen05WaitKind::LOAD)
      continue;
    tieTo(wait, loads);
    loads.clear();
  }
}

void mlir::fa4::tieTmemLoadsToWaits(Operation *function) {
  function->walk([](Block *block) { tieInBlock(*block); });
}
