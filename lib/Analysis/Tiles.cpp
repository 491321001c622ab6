// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ops on tiles find there and leave there: copies, products, results.

#include "Machine.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// A tile of Q is known by its stage, one of K or V by its block.
int32_t Machine::getLoaded(int32_t agent, const Instruction &instruction) {
  const Access &access = program.accesses[instruction.firstAccess];
  Content tile{static_cast<Kind>(instruction.immediate),
               state.agents[agent].when.task};
  tile.begin = access.origin;
  tile.width = access.width;
  int32_t coordinate = getRegister(agent, instruction.coordinate);
  if (tile.kind == Kind::Q) {
    int32_t stages = KernelOp(program.kernel).getStages();
    tile.stage = coordinate;
    return coordinate < 0 || coordinate >= stages ? kUnknown
                                                  : contents->getNumber(tile);
  }
  auto block = getContent(agent, instruction.coordinate);
  if (!block || block->kind != Kind::Block || block->task != tile.task)
    return kUnknown;
  tile.block = block->block;
  return contents->getNumber(tile);
}

/// Fragments lie in the tile where their columns say; rows of a mailbox have no
/// place.
int32_t Machine::getWritten(int32_t agent, const Instruction &instruction,
                            const Access &access) const {
  auto content = getContent(agent, instruction.value);
  if (!content)
    return kUnknown;
  bool rows = content->kind == Kind::Reference ||
              content->kind == Kind::Factor || content->kind == Kind::Sum;
  if (!rows) {
    content->begin =
        access.origin + (access.column - content->begin) * access.width;
    content->end = 0;
    content->width = access.width;
  }
  return contents->getNumber(*content);
}

void Machine::readTile(int32_t agent, const Instruction &instruction,
                       const Access &access, int32_t slot) {
  if (fault)
    return;
  Occurrence here = getOccurrence(agent, instruction);
  Held held = getHeld(access, slot);
  auto tile = expectHeld(held, access, slot, here, "a tile");
  if (!tile)
    return;
  std::string place = program.getPlace(access, slot);
  int32_t task = here.when.task;
  int32_t shift = access.origin - tile->begin;
  int32_t depth = KernelOp(program.kernel).getHeadDim();
  bool whole = tile->kind == Kind::S ? tile->done == getSteps(0, depth)
                                     : tile->done == 0;
  if ((tile->kind != Kind::S && tile->kind != Kind::O) || tile->task != task)
    return refuseContent(here,
                         "expected S or O of the task at hand in " + place,
                         held.content, held.by);
  if (!whole || (tile->kind == Kind::O && tile->reference != tile->block))
    return refuseContent(here, "expected a finished product in " + place,
                         held.content, held.by);
  if (tile->width != access.width || shift % access.width != 0)
    return refuseMisplaced(
        here, "expected a tile of its own element type in " + place, access,
        slot, held);
  tile->begin = access.column + shift / access.width;
  tile->end = tile->begin + access.columns;
  tile->width = 0;
  tile->done = 0;
  setContent(agent, instruction.result, *tile);
}

void Machine::rescale(int32_t agent, const Instruction &instruction,
                      const Access &access, int32_t slot, const Held &held,
                      const Content &factor) {
  if (fault)
    return;
  Occurrence here = getOccurrence(agent, instruction);
  auto tile = expectHeld(held, access, slot, here, "O");
  if (!tile)
    return;
  if (tile->kind != Kind::O || tile->task != factor.task ||
      tile->stage != factor.stage || tile->done != 0 ||
      tile->block + 1 != factor.block || tile->reference != tile->block)
    return refuseContent(here,
                         "expected O that lacks " + describe(factor) + " in " +
                             program.getPlace(access, slot),
                         held.content, held.by);
  tile->reference = factor.block;
  setHeld(access, slot, contents->getNumber(*tile));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The tile of an operand: of the kind and the task that belong there, at its
/// own columns.
std::optional<Content> Machine::expectOperand(const Occurrence &here,
                                              const Access &access,
                                              int32_t slot, const Held &held,
                                              Kind kind) {
  StringRef name = kind == Kind::Q   ? "Q"
                   : kind == Kind::K ? "K"
                   : kind == Kind::V ? "V"
                                     : "P";
  std::string what = (name + " of the task at hand").str();
  auto tile = expectHeld(held, access, slot, here, what);
  if (!tile)
    return {};
  bool right = tile->kind == kind && tile->task == here.when.task;
  if (right && tile->begin == access.origin && tile->width == access.width)
    return tile;
  what = "expected " + what + " in " + program.getPlace(access, slot);
  if (right)
    refuseMisplaced(here, what + " at its columns", access, slot, held);
  else
    refuseContent(here, what, held.content, held.by);
  return {};
}

/// S adds up over steps of the head dimension, O over steps of the keys and
/// over blocks.
int32_t Machine::multiply(int32_t agent, const Instruction &instruction,
                          ArrayRef<int32_t> slots, ArrayRef<Held> held) {
  Occurrence here = getOccurrence(agent, instruction);
  ArrayRef<Access> accesses(program.accesses.data() + instruction.firstAccess,
                            3);
  bool scores = instruction.transposed;
  auto a = expectOperand(here, accesses[0], slots[0], held[0],
                         scores ? Kind::Q : Kind::P);
  if (!a)
    return kUnknown;
  auto b = expectOperand(here, accesses[1], slots[1], held[1],
                         scores ? Kind::K : Kind::V);
  if (!b)
    return kUnknown;
  if (!scores && a->block != b->block) {
    refuseContent(here,
                  "expected V that goes with " + describe(*a) + " in " +
                      program.getPlace(accesses[1], slots[1]),
                  held[1].content, held[1].by);
    return kUnknown;
  }
  if (!scores && instruction.immediate) {
    refuseContent(here, "expected no 'negate_a'", held[0].content, held[0].by);
    return kUnknown;
  }

  const Access &into = accesses[2];
  Content result{scores ? Kind::S : Kind::O, a->task, a->stage};
  result.begin = into.origin;
  result.width = into.width;
  (scores ? result.block : result.reference) = b->block;
  int32_t begin = accesses[0].column, end = begin + accesses[0].columns;
  uint32_t steps = getSteps(begin, end);
  int32_t flag =
      instruction.value < 0 ? 0 : getRegister(agent, instruction.value);
  if (flag == kUnknown) {
    refuseContent(here, "expected a flag that follows from the text", kUnknown);
    return kUnknown;
  }
  if (flag == 0 && !scores && b->block != 1) {
    refuseContent(here, "expected to accumulate, or P of a task's first block",
                  held[0].content, held[0].by);
    return kUnknown;
  }
  if (flag != 0) {
    // What it adds to is the same product without these steps.
    auto sum = expectHeld(held[2], into, slots[2], here,
                          scores ? "a part of S" : "a part of O");
    if (!sum)
      return kUnknown;
    result.done = sum->done;
    if (!scores)
      result.block = b->block - 1;
    if (!(*sum == result) || (sum->done & steps)) {
      refuseContent(here,
                    "expected what elements " + std::to_string(begin) + " to " +
                        std::to_string(end) + " of " +
                        describe(scores ? *b : *a) + " can be added to in " +
                        program.getPlace(into, slots[2]),
                    held[2].content, held[2].by);
      return kUnknown;
    }
  }
  result.done |= steps;
  KernelOp kernel = program.kernel;
  if (!scores && result.done == getSteps(0, kernel.getTileKeys())) {
    result.block = b->block;
    result.done = 0;
  }
  return contents->getNumber(result);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Each stage of each task once.
void Machine::noteStored(const Occurrence &here, const Content &content,
                         uint32_t Stored::*what) {
  auto known = llvm::find_if(state.stored, [&](const Stored &stored) {
    return stored.task == content.task;
  });
  if (known == state.stored.end()) {
    state.stored.push_back({content.task});
    known = std::prev(state.stored.end());
  }
  uint32_t bit = uint32_t(1) << content.stage;
  if ((*known).*what & bit) {
    Finding finding{Fault::Content, here, {}, {}};
    finding.text = "expected each tile to be stored once";
    finding.got = describe(content) + " again";
    return refuse(std::move(finding));
  }
  (*known).*what |= bit;
}

void Machine::storeTile(int32_t agent, const Instruction &instruction,
                        const Access &access, int32_t slot) {
  if (fault)
    return;
  Occurrence here = getOccurrence(agent, instruction);
  Held held = getHeld(access, slot);
  int32_t stage = getRegister(agent, instruction.coordinate);
  std::string what = "the result of stage " +
                     (stage == kUnknown ? "?" : std::to_string(stage)) +
                     " of the task at hand";
  auto tile = expectHeld(held, access, slot, here, what);
  if (!tile)
    return;
  what = "expected " + what + " in " + program.getPlace(access, slot);
  if (tile->kind != Kind::Result || tile->task != here.when.task ||
      tile->stage != stage)
    return refuseContent(here, what, held.content, held.by);
  if (tile->begin != access.origin || tile->width != access.width)
    return refuseMisplaced(here, what + " at its columns", access, slot, held);
  noteStored(here, *tile, &Stored::results);
}

void Machine::stepStoreLse(int32_t agent, const Instruction &instruction) {
  auto reference = expect(agent, instruction, instruction.value,
                          Kind::Reference, "a reference of the task at hand");
  auto sum = expect(agent, instruction, instruction.second, Kind::Sum,
                    "a sum of the task at hand");
  if (!reference || !sum)
    return;
  Occurrence here = getOccurrence(agent, instruction);
  int32_t stage = getRegister(agent, instruction.coordinate);
  for (const Content &rows : {*reference, *sum})
    if (rows.stage != stage || !isLast(rows))
      return refuseContent(here,
                           "expected rows of stage " + std::to_string(stage) +
                               " over all K/V blocks of the task",
                           contents->getNumber(rows));
  noteStored(here, *sum, &Stored::sums);
}

/// When the last role leaves a task, it has stored what it should.
void Machine::leaveTask(int32_t task) {
  for (auto [index, self] : llvm::enumerate(state.agents))
    if (program.roles[program.agents[index].role].hasTasks &&
        self.when.task >= 0 && self.when.task <= task)
      return;
  Stored stored;
  llvm::erase_if(state.stored, [&](const Stored &entry) {
    if (entry.task == task)
      stored = entry;
    return entry.task <= task;
  });
  if (!program.stores)
    return;
  KernelOp kernel = program.kernel;
  for (int32_t stage = 0, end = kernel.getStages(); stage < end; ++stage) {
    bool result = stored.results >> stage & 1;
    if (result && (!kernel.getLse() || stored.sums >> stage & 1))
      continue;
    Finding finding{Fault::Unstored, {}, {}, {}};
    finding.phase = task;
    finding.text = std::string(result ? "the log-sum-exp" : "the result") +
                   " of stage " + std::to_string(stage);
    return refuse(std::move(finding));
  }
}
