// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of ops on registers, and which registers the future still reads.

#include "ProgramBuilder.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

//===----------------------------------------------------------------------===//
// Math
//===----------------------------------------------------------------------===//

void ProgramBuilder::addOperands(Instruction &instruction,
                                 ValueRange fragments) {
  instruction.firstPair = program.pairs.size();
  for (Value fragment : fragments)
    program.pairs.push_back({getRegister(fragment), 0});
  instruction.endPair = program.pairs.size();
}

/// Ops on registers: what their results hold follows from what they are given.
void ProgramBuilder::addMath(Operation *op) {
  Instruction instruction = begin(op, Event::Math);
  if (inKvLoop)
    instruction.range = kvLoops.back().getRange();
  auto take = [&](Math math, ValueRange fragments, Value result) {
    instruction.math = math;
    addOperands(instruction, fragments);
    instruction.result = getRegister(result);
  };
  auto takeOptional = [&](Value value) {
    return value ? getRegister(value) : -1;
  };
  if (auto first = dyn_cast<FirstKvOp>(op)) {
    take(Math::FirstBlock, {}, first.getKvBlock());
  } else if (auto mask = dyn_cast<MaskOp>(op)) {
    take(Math::Mask, mask.getInput(), mask.getResult());
    instruction.coordinate = getRegister(mask.getStage());
    instruction.second = getRegister(mask.getKvBlock());
    instruction.immediate = mask.getColumn();
  } else if (auto max = dyn_cast<RowMaxOp>(op)) {
    take(Math::RowMax, max.getFragments(), max.getReference());
    instruction.secondResult = getRegister(max.getFactor());
    instruction.value = takeOptional(max.getOld());
  } else if (auto exponents = dyn_cast<ExponentsOp>(op)) {
    take(Math::Exponents, exponents.getInput(), exponents.getResult());
    instruction.value = getRegister(exponents.getReference());
  } else if (auto exp2 = dyn_cast<Exp2Op>(op)) {
    take(Math::Exp2, exp2.getInput(), exp2.getResult());
    instruction.value = takeOptional(exp2.getReference());
  } else if (auto sum = dyn_cast<RowSumOp>(op)) {
    take(Math::RowSum, sum.getFragments(), sum.getSum());
    instruction.value = takeOptional(sum.getOld());
    instruction.second = takeOptional(sum.getFactor());
  } else if (auto normalize = dyn_cast<NormalizeOp>(op)) {
    take(Math::Normalize, normalize.getInput(), normalize.getResult());
    instruction.value = getRegister(normalize.getSum());
  } else if (auto scale = dyn_cast<ScaleRowsOp>(op)) {
    take(Math::ScaleRows, scale.getInput(), scale.getResult());
    instruction.value = getRegister(scale.getFactor());
  } else if (auto fill = dyn_cast<FillOp>(op);
             fill && fill.getValue().isZero()) {
    take(Math::Fill, {}, fill.getResult());
  } else if (auto scale = dyn_cast<ScaleOp>(op)) {
    program.scales = true;
    take(Math::Scale, scale.getInput(), scale.getResult());
  } else if (isa<ConvertOp, RowTotalOp>(op)) {
    take(Math::Keep, op->getOperand(0), op->getResult(0));
  } else if (auto store = dyn_cast<StoreLseOp>(op)) {
    instruction.math = Math::StoreLse;
    instruction.value = getRegister(store.getReference());
    instruction.second = getRegister(store.getSum());
    instruction.coordinate = getRegister(store.getCoordinates().back());
  } else if (isArithmetic(op)) {
    instruction.event = Event::Arithmetic;
    addOperands(instruction, op->getOperands());
    instruction.result = getRegister(op->getResult(0));
  } else {
    // Of what another op makes nothing is known.
    return;
  }
  end(instruction);
}

/// One scale holds for all of S: the factors of `fa4.scale`, and what
/// references and weights multiply S by.
LogicalResult ProgramBuilder::checkScale(Operation *op) {
  bool factor = isa<ScaleOp>(op);
  auto scale = op->getAttrOfType<FloatAttr>(factor ? "factor" : "scale");
  if (!isa<ScaleOp, RowMaxOp, ExponentsOp, Exp2Op>(op) || !scale)
    return success();
  auto &[first, expected] = factor ? factors : scales;
  if (!first) {
    first = op;
    expected = scale;
  }
  // -inf times nothing is NaN, and times less it is the largest.
  auto mask = factor ? op->getOperand(0).getDefiningOp<MaskOp>() : MaskOp();
  if (mask && !(scale.getValueAsDouble() > 0)) {
    InFlightDiagnostic diag =
        op->emitOpError() << "expected a positive factor behind 'fa4.mask', or "
                             "to lie in front of it, but got "
                          << scale.getValueAsDouble();
    diag.attachNote(mask.getLoc()) << "the mask is here";
    return diag;
  }
  if (scale == expected)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected one " << (factor ? "factor" : "scale")
                            << " for all of S, " << expected.getValueAsDouble()
                            << " as '" << first->getName() << "' has, but got "
                            << scale.getValueAsDouble();
  diag.attachNote(first->getLoc()) << "the other op is here";
  return diag;
}

/// Copies are of the task at hand: batch, tile head and M block of the loop.
LogicalResult ProgramBuilder::checkCoordinates(Operation *op,
                                               ValueRange coordinates) {
  constexpr StringLiteral names[] = {"batch", "tile head", "M block"};
  unsigned count = isa<LoadOp>(op) && coordinates.size() == 3 ? 2 : 3;
  if (!taskLoop)
    return op->emitOpError("incomplete: expected to lie in a 'fa4.for_task', "
                           "which says what it copies");
  for (unsigned i = 0; i < count && i < coordinates.size(); ++i)
    if (coordinates[i] != taskLoop.getBody().getArgument(i))
      return op->emitOpError() << "incomplete: expected the " << names[i]
                               << " of the task at hand as coordinate " << i
                               << "; the proof does not model another";
  return success();
}

/// Hidden are keys that the rows of the task at hand do not see.
LogicalResult ProgramBuilder::checkMask(MaskOp op) {
  if (!taskLoop)
    return op.emitOpError("incomplete: expected to lie in a 'fa4.for_task', "
                          "which says whose rows it masks");
  if (op.getMBlock() == taskLoop.getBody().getArgument(2))
    return success();
  return op.emitOpError("incomplete: expected the M block of the task at hand "
                        "as coordinate 0; the proof does not model another");
}

//===----------------------------------------------------------------------===//
// Live registers
//===----------------------------------------------------------------------===//

namespace {
/// Goes backwards over a role's code until nothing changes; loops make that two
/// or three times.
class LivenessFinder {
public:
  LivenessFinder(const Program &program, RoleProgram &role)
      : program(program), role(role) {}

  void find();

private:
  void addReads(const Instruction &instruction, const llvm::BitVector &behind,
                llvm::BitVector &live) const;
  void dropWrites(const Instruction &instruction, llvm::BitVector &live) const;
  /// What is live behind the instruction, on any way that it may go on.
  llvm::BitVector getBehind(size_t pc) const;

  const Program &program;
  RoleProgram &role;
};
} // namespace

/// What only moves or computes numbers reads for those who need the result: a
/// counter that nobody looks at is not live, though it is added to.
void LivenessFinder::addReads(const Instruction &instruction,
                              const llvm::BitVector &behind,
                              llvm::BitVector &live) const {
  for (int32_t i = instruction.firstPair; i < instruction.endPair; ++i) {
    auto [read, written] = program.pairs[i];
    if (instruction.event == Event::Math ||
        (instruction.event == Event::Copy && behind.test(written)) ||
        (instruction.event == Event::Arithmetic &&
         behind.test(instruction.result)))
      live.set(read);
  }
  for (int32_t index : {instruction.slot, instruction.value, instruction.second,
                        instruction.coordinate})
    if (index >= 0)
      live.set(index);
  for (int32_t i = instruction.firstAccess; i < instruction.endAccess; ++i)
    live.set(program.accesses[i].slot);
}

void LivenessFinder::dropWrites(const Instruction &instruction,
                                llvm::BitVector &live) const {
  // A loop that does not run sets nothing, and another turn sets it anew.
  if (instruction.event == Event::KvBegin || instruction.event == Event::KvEnd)
    return;
  for (int32_t index : {instruction.result, instruction.secondResult})
    if (index >= 0)
      live.reset(index);
  if (instruction.event == Event::Copy)
    for (int32_t i = instruction.firstPair; i < instruction.endPair; ++i)
      live.reset(program.pairs[i].second);
}

llvm::BitVector LivenessFinder::getBehind(size_t pc) const {
  const Instruction &instruction = role.code[pc];
  llvm::BitVector live = role.live[pc + 1];
  if (instruction.event != Event::KvBegin &&
      instruction.event != Event::KvEnd && instruction.event != Event::TaskEnd)
    return live;
  llvm::BitVector jumped = role.live[instruction.target + 1];
  // The block's number is set by whichever end of the loop enters the body.
  if (instruction.result >= 0) {
    bool begins = instruction.event == Event::KvBegin;
    (begins ? live : jumped).reset(instruction.result);
  }
  live |= jumped;
  return live;
}

void LivenessFinder::find() {
  role.live.assign(role.code.size() + 1,
                   llvm::BitVector(role.registers.size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t pc = role.code.size(); pc-- > 0;) {
      llvm::BitVector behind = getBehind(pc), live = behind;
      dropWrites(role.code[pc], live);
      addReads(role.code[pc], behind, live);
      changed |= live != role.live[pc];
      role.live[pc] = std::move(live);
    }
  }
}

void protocol::findLiveRegisters(Program &program, RoleProgram &role) {
  LivenessFinder(program, role).find();
}
