// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What printed text calls results and region arguments. The printer makes a
// name valid and unique; here each gets the word that a reader expects.

#include "fa4/IR/FA4.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::fa4;

/// Names that the kernel's arguments and the loops' indices take.
static bool isTaken(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"q", "k", "v", "o", "lse"}, true)
      .Cases({"b", "h", "m", "j", "stage"}, true)
      .Default(false);
}

/// The word for a value that a loop carries.
static StringRef getCarriedName(Type type) {
  if (type.isIndex())
    return "slot";
  if (type.isInteger(32))
    return "phase";
  if (type.isInteger(1))
    return "flag";
  if (isa<RowsType>(type))
    return "rows";
  if (isa<FragmentType>(type))
    return "fragment";
  return "carried";
}

static void nameCarried(ValueRange values, OpAsmSetValueNameFn setName) {
  for (Value value : values)
    setName(value, getCarriedName(value.getType()));
}

//===----------------------------------------------------------------------===//
// Region arguments
//===----------------------------------------------------------------------===//

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  static constexpr StringLiteral names[] = {"q", "k", "v", "o", "lse"};
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    setName(argument, name);
}

void RoleOp::getAsmBlockArgumentNames(Region &region,
                                      OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "stage");
}

static void nameLoopArguments(Region &region, ArrayRef<StringRef> indices,
                              OpAsmSetValueNameFn setName) {
  for (auto [argument, name] : llvm::zip(region.getArguments(), indices))
    setName(argument, name);
  if (region.getNumArguments() > indices.size())
    nameCarried(region.getArguments().drop_front(indices.size()), setName);
}

void ForTaskOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  nameLoopArguments(region, {"b", "h", "m"}, setName);
}

void ForKvOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  nameLoopArguments(region, {"j"}, setName);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Loops with several results stay one group, named after the first.
static void nameLoopResults(Operation *op, OpAsmSetValueNameFn setName) {
  if (op->getNumResults() == 1)
    nameCarried(op->getResults(), setName);
  else if (op->getNumResults() > 1)
    setName(op->getResult(0), "last");
}

void ForTaskOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameLoopResults(*this, setName);
}
void ForKvOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameLoopResults(*this, setName);
}

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name = getName().str();
  if (isTaken(name))
    name += "_" + stringifyMemorySpace(getRing().getType().getSpace()).str();
  setName(getRing(), name);
}

void AliasOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  // In a schedule what lies over the f32 tiles of S is P.
  if (getRing().getType().getElementBytes() == 2)
    setName(getRing(), "p_tmem");
  else
    setName(getRing(), "alias_tmem");
}

void BarrierOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBarrier(),
          isTaken(getName()) ? getName().str() + "_barrier" : getName().str());
}

void RowMaxOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getReference(), "ref");
  setName(getFactor(), "factor");
}

void FirstKvOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getKvBlock(), "first");
}
void NextOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSlot(), "slot");
}
void ReadTileOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getFragment(), "x");
}
void MaskOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "x");
}
void ScaleOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "x");
}
void ExponentsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "x");
}
void Exp2Op::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "e");
}
void ConvertOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "p");
}
void NormalizeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "y");
}
void RowSumOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSum(), "sum");
}
void WarpgroupMmaOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getD(), "started");
}
void WarpgroupWaitOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "x");
}
void FillOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "x");
}
void ScaleRowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "y");
}
void RowTotalOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSum(), "sum");
}
void CollectOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getValue(), "row");
}
