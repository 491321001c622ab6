// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products into a warpgroup's own registers: their accesses and what they hold.

#include "Machine.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// Reads its slots through the asynchronous proxy until a wait of the agent
/// covers it. Its registers need no order: the types see to it that only the
/// wait hands them out.
void Machine::stepProduct(int32_t agent, const Instruction &instruction) {
  const Components &own = program.agents[agent].components;
  Occurrence here = getOccurrence(agent, instruction);
  Record record;
  record.by = here;
  record.issued = {own.program, tick(agent)};
  record.done = issue(own.mma, here);
  SmallVector<int32_t, 2> slots;
  for (int32_t index = instruction.firstAccess; index < instruction.endAccess;
       ++index) {
    const Access &access = program.accesses[index];
    slots.push_back(getRingSlot(agent, access, here));
    if (fault)
      return;
    touch(access, slots.back(), getClock(agent), record, /*async=*/true,
          /*reads=*/true, kUnknown);
    if (fault)
      return;
  }
  int32_t content = instruction.value < 0
                        ? multiplyScores(agent, instruction, slots)
                        : multiplyWeights(agent, instruction, slots.front());
  setRegister(agent, instruction.result, content);
}

/// S = Q * K^T.
int32_t Machine::multiplyScores(int32_t agent, const Instruction &instruction,
                                ArrayRef<int32_t> slots) {
  Occurrence here = getOccurrence(agent, instruction);
  Kind kinds[] = {Kind::Q, Kind::K};
  StringRef names[] = {"Q of the task at hand", "K of the task at hand"};
  Content operands[2];
  for (int32_t i : {0, 1}) {
    const Access &access = program.accesses[instruction.firstAccess + i];
    Held held = getHeld(access, slots[i]);
    auto tile = expectHeld(held, access, slots[i], here, names[i]);
    if (!tile)
      return kUnknown;
    if (tile->kind != kinds[i] || tile->task != here.when.task ||
        !instruction.transposed) {
      refuseContent(here,
                    instruction.transposed
                        ? "expected " + names[i] + " in " +
                              program.getPlace(access, slots[i])
                        : Twine("expected 'transpose_b' with Q"),
                    held.content, held.by);
      return kUnknown;
    }
    operands[i] = *tile;
  }
  if (instruction.second >= 0) {
    refuseContent(here, "expected nothing that S is added to",
                  getRegister(agent, instruction.second));
    return kUnknown;
  }
  Content result{Kind::S, operands[0].task, operands[0].stage,
                 operands[1].block};
  result.end = KernelOp(program.kernel).getTileKeys();
  return contents->getNumber(result);
}

/// O + P * V.
int32_t Machine::multiplyWeights(int32_t agent, const Instruction &instruction,
                                 int32_t slot) {
  Occurrence here = getOccurrence(agent, instruction);
  auto p = expect(agent, instruction, instruction.value, Kind::P,
                  "P of the task at hand");
  const Access &access = program.accesses[instruction.firstAccess];
  Held held = getHeld(access, slot);
  auto v = expectHeld(held, access, slot, here, "V of the task at hand");
  if (!p || !v)
    return kUnknown;
  if (v->kind != Kind::V || v->task != here.when.task || v->block != p->block ||
      instruction.transposed) {
    refuseContent(here,
                  instruction.transposed
                      ? Twine("expected no 'transpose_b' with P")
                      : "expected V that goes with " + describe(*p) + " in " +
                            program.getPlace(access, slot),
                  held.content, held.by);
    return kUnknown;
  }
  if (instruction.immediate) {
    refuseContent(here, "expected no 'negate_a' with P",
                  getRegister(agent, instruction.value));
    return kUnknown;
  }
  Content result{Kind::O, p->task, p->stage, p->block, p->block};
  result.end = KernelOp(program.kernel).getValueDim();
  auto sum = getContent(agent, instruction.second);
  bool starts = instruction.second < 0 || (sum && sum->kind == Kind::Zero);
  Content needed = result;
  needed.block = p->block - 1;
  if (starts ? p->block != 1 : !sum || !(*sum == needed)) {
    refuseContent(
        here,
        starts ? "expected P of a task's first block"
               : "expected " + describe(needed) + " as what is added to",
        getRegister(agent, starts ? instruction.value : instruction.second));
    return kUnknown;
  }
  return contents->getNumber(result);
}

/// O of the blocks before, brought to the reference of the next.
void Machine::stepScaleRows(int32_t agent, const Instruction &instruction) {
  int32_t input = program.pairs[instruction.firstPair].first;
  auto o = expect(agent, instruction, input, Kind::O, "O of the task at hand");
  auto factor = expect(agent, instruction, instruction.value, Kind::Factor,
                       "a factor of the task at hand");
  if (!o || !factor)
    return;
  if (o->stage != factor->stage || o->block + 1 != factor->block ||
      o->reference != o->block)
    return refuseContent(getOccurrence(agent, instruction),
                         "expected O that lacks " + describe(*factor),
                         getRegister(agent, input));
  o->reference = factor->block;
  setContent(agent, instruction.result, *o);
}
