// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiles, fragments and rows hold, and whether each op is given what
// belongs there: attention, step by step.

#include "Machine.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

std::optional<Content> Machine::getContent(int32_t agent, int32_t index) const {
  const Content *content =
      index < 0 ? nullptr : contents->lookup(getRegister(agent, index));
  return content ? std::optional<Content>(*content) : std::nullopt;
}

void Machine::setContent(int32_t agent, int32_t index, const Content &content) {
  setRegister(agent, index, contents->getNumber(content));
}

Held Machine::getHeld(const Access &access, int32_t slot) const {
  const Ring &ring = program.rings[access.ring];
  const Atom *atoms = &state.atoms[ring.firstAtom + slot * ring.getAtoms()];
  Held held{atoms[access.from].content, atoms[access.from].content,
            atoms[access.from].write.by};
  for (int32_t index = access.from; index < access.to; ++index)
    if (atoms[index].content != held.content) {
      held.other = atoms[index].content;
      held.by = atoms[index].write.by;
      break;
    }
  return held;
}

void Machine::setHeld(const Access &access, int32_t slot, int32_t content) {
  const Ring &ring = program.rings[access.ring];
  for (int32_t index = access.from; index < access.to; ++index)
    state.atoms[ring.firstAtom + slot * ring.getAtoms() + index].content =
        content;
}

void Machine::refuseContent(const Occurrence &here, const Twine &expected,
                            int32_t got, const Occurrence &there) {
  Finding finding{Fault::Content, here, there, {}};
  const Content *content = contents->lookup(got);
  finding.text = ((content ? "" : "incomplete: ") + expected).str();
  finding.got = content ? describe(*content) : "what the proof cannot tell";
  refuse(std::move(finding));
}

std::optional<Content> Machine::expectHeld(const Held &held,
                                           const Access &access, int32_t slot,
                                           const Occurrence &here,
                                           StringRef expected) {
  std::string what =
      ("expected " + expected + " in " + program.getPlace(access, slot)).str();
  const Content *content = contents->lookup(held.content);
  const Content *other = contents->lookup(held.other);
  if (!content || !other) {
    refuseContent(here, what, kUnknown, held.by);
    return {};
  }
  if (held.content != held.other) {
    refuseContent(here, what + " alone, beside " + describe(*content),
                  held.other, held.by);
    return {};
  }
  return *content;
}

std::optional<Content> Machine::expect(int32_t agent,
                                       const Instruction &instruction,
                                       int32_t index, Kind kind,
                                       const Twine &what) {
  std::optional<Content> content = getContent(agent, index);
  if (content && content->kind == kind &&
      content->task == state.agents[agent].when.task)
    return content;
  refuseContent(getOccurrence(agent, instruction), "expected " + what,
                index < 0 ? kUnknown : getRegister(agent, index));
  return {};
}

std::pair<int32_t, bool> Machine::getBlocks(int32_t task) const {
  int32_t blocks = 1;
  for (Decision decision : state.decisions) {
    if (decision > Decision::Unmasked) {
      if (--task == 0)
        return {blocks, false};
      blocks = 1;
    } else {
      ++blocks;
    }
  }
  return {blocks, true};
}

/// Whether a content covers all blocks of its task.
bool Machine::isLast(const Content &content) const {
  auto [blocks, more] = getBlocks(content.task);
  return !more && content.block == blocks;
}

//===----------------------------------------------------------------------===//
// Math
//===----------------------------------------------------------------------===//

std::optional<Content> Machine::expectRow(int32_t agent,
                                          const Instruction &instruction,
                                          Kind kind, StringRef what) {
  std::optional<Content> row;
  SmallVector<std::pair<int32_t, int32_t>> ranges;
  for (int32_t i = instruction.firstPair; i < instruction.endPair; ++i) {
    int32_t index = program.pairs[i].first;
    auto content =
        expect(agent, instruction, index, kind, what + " of the task at hand");
    if (!content)
      return {};
    if (!row)
      row = content;
    if (content->stage != row->stage || content->block != row->block) {
      refuseContent(getOccurrence(agent, instruction),
                    "expected fragments of one tile, beside " + describe(*row),
                    getRegister(agent, index));
      return {};
    }
    ranges.push_back({content->begin, content->end});
  }
  llvm::sort(ranges);
  int32_t column = 0;
  bool once = true;
  for (auto [begin, end] : ranges) {
    once &= begin == column;
    column = end;
  }
  if (once && column == KernelOp(program.kernel).getTileKeys())
    return row;
  Finding finding{Fault::Content, getOccurrence(agent, instruction), {}, {}};
  finding.text = ("expected each column of " + what + " once").str();
  refuse(std::move(finding));
  return {};
}

/// References and sums go from block to block, so a chain of them has every
/// block of the task once, in order.
void Machine::stepRowMax(int32_t agent, const Instruction &instruction) {
  auto row = expectRow(agent, instruction, Kind::S, "S");
  if (!row)
    return;
  Occurrence here = getOccurrence(agent, instruction);
  std::string block = std::to_string(row->block);
  if (instruction.value < 0) {
    if (row->block != 1)
      return refuseContent(here,
                           "expected 'against' the reference of the block "
                           "before, or S of a task's first block",
                           contents->getNumber(*row));
  } else {
    auto old = expect(agent, instruction, instruction.value, Kind::Reference,
                      "a reference of the task at hand");
    if (!old)
      return;
    if (old->stage != row->stage || old->block + 1 != row->block)
      return refuseContent(
          here, "expected the block behind that of " + describe(*old),
          contents->getNumber(*row));
  }
  Content result{Kind::Reference, row->task, row->stage, row->block};
  setContent(agent, instruction.result, result);
  result.kind = Kind::Factor;
  setContent(agent, instruction.secondResult, result);
}

void Machine::stepRowSum(int32_t agent, const Instruction &instruction) {
  auto row = expectRow(agent, instruction, Kind::P, "P");
  if (!row)
    return;
  Occurrence here = getOccurrence(agent, instruction);
  if (instruction.value < 0) {
    if (row->block != 1)
      return refuseContent(here,
                           "expected 'plus' the sum of the blocks before, or P "
                           "of a task's first block",
                           contents->getNumber(*row));
  } else {
    auto old = expect(agent, instruction, instruction.value, Kind::Sum,
                      "a sum of the task at hand");
    if (!old)
      return;
    if (old->stage != row->stage || old->block + 1 != row->block)
      return refuseContent(
          here, "expected the block behind that of " + describe(*old),
          contents->getNumber(*row));
    auto factor = expect(agent, instruction, instruction.second, Kind::Factor,
                         "'times' the factor of the block");
    if (!factor)
      return;
    if (factor->stage != row->stage || factor->block != row->block)
      return refuseContent(
          here, "expected the factor that goes with " + describe(*row),
          contents->getNumber(*factor));
  }
  setContent(agent, instruction.result,
             {Kind::Sum, row->task, row->stage, row->block});
}

void Machine::stepMath(int32_t agent, const Instruction &instruction) {
  Occurrence here = getOccurrence(agent, instruction);
  int32_t task = here.when.task;
  int32_t input = instruction.firstPair == instruction.endPair
                      ? -1
                      : program.pairs[instruction.firstPair].first;
  switch (instruction.math) {
  case Math::FirstBlock:
    return setContent(agent, instruction.result, {Kind::Block, task, -1, 1});
  case Math::Keep:
    return setRegister(agent, instruction.result, getRegister(agent, input));
  case Math::Mask: {
    auto x =
        expect(agent, instruction, input, Kind::S, "S of the task at hand");
    if (!x)
      return;
    auto block = getContent(agent, instruction.second);
    if (getRegister(agent, instruction.coordinate) != x->stage || !block ||
        block->block != x->block || instruction.immediate != x->begin)
      return refuseContent(
          here, "expected S of the stage, K/V block and columns that it names",
          getRegister(agent, input));
    return setContent(agent, instruction.result, *x);
  }
  case Math::RowMax:
    return stepRowMax(agent, instruction);
  case Math::RowSum:
    return stepRowSum(agent, instruction);
  case Math::Exp2: {
    auto x =
        expect(agent, instruction, input, Kind::S, "S of the task at hand");
    auto reference = expect(agent, instruction, instruction.value,
                            Kind::Reference, "a reference of the task at hand");
    if (!x || !reference)
      return;
    if (reference->stage != x->stage || reference->block != x->block)
      return refuseContent(
          here, "expected the reference that goes with " + describe(*x),
          contents->getNumber(*reference));
    x->kind = Kind::P;
    return setContent(agent, instruction.result, *x);
  }
  case Math::Normalize: {
    auto x =
        expect(agent, instruction, input, Kind::O, "O of the task at hand");
    auto sum = expect(agent, instruction, instruction.value, Kind::Sum,
                      "a sum of the task at hand");
    if (!x || !sum)
      return;
    if (!isLast(*x))
      return refuseContent(here, "expected O over all K/V blocks of the task",
                           contents->getNumber(*x));
    if (sum->stage != x->stage || sum->block != x->block)
      return refuseContent(here,
                           "expected the sum that goes with " + describe(*x),
                           contents->getNumber(*sum));
    x->kind = Kind::Result;
    x->block = x->reference = 0;
    return setContent(agent, instruction.result, *x);
  }
  case Math::Fill:
    return setContent(agent, instruction.result, {Kind::Zero});
  case Math::ScaleRows:
    return stepScaleRows(agent, instruction);
  case Math::StoreLse:
    return stepStoreLse(agent, instruction);
  }
}

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
    return refuseContent(here,
                         "expected a tile of its own element type in " + place,
                         held.content, held.by);
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

int32_t Machine::multiply(int32_t agent, const Instruction &instruction,
                          ArrayRef<int32_t> slots, ArrayRef<Held> held) {
  Occurrence here = getOccurrence(agent, instruction);
  ArrayRef<Access> accesses(program.accesses.data() + instruction.firstAccess,
                            3);
  bool scores = instruction.transposed;
  Kind kinds[] = {scores ? Kind::Q : Kind::P, scores ? Kind::K : Kind::V};
  StringRef names[] = {scores ? "Q" : "P", scores ? "K" : "V"};
  Content operands[2];
  for (int32_t i : {0, 1}) {
    std::string what = (names[i] + " of the task at hand").str();
    auto tile = expectHeld(held[i], accesses[i], slots[i], here, what);
    if (!tile)
      return kUnknown;
    if (tile->kind != kinds[i] || tile->task != here.when.task ||
        tile->begin != accesses[i].origin || tile->width != accesses[i].width) {
      std::string place = program.getPlace(accesses[i], slots[i]);
      bool shifted = tile->kind == kinds[i] && tile->task == here.when.task;
      refuseContent(here,
                    "expected " + what + " in " + place +
                        (shifted ? " at its columns" : ""),
                    held[i].content, held[i].by);
      return kUnknown;
    }
    operands[i] = *tile;
  }
  const Content &a = operands[0], &b = operands[1];
  const Access &into = accesses[2];
  if (!scores && (a.block != b.block || instruction.immediate)) {
    refuseContent(here,
                  instruction.immediate
                      ? "expected no 'negate_a'"
                      : "expected V that goes with " + describe(a) + " in " +
                            program.getPlace(accesses[1], slots[1]),
                  held[1].content, held[1].by);
    return kUnknown;
  }
  uint32_t steps =
      getSteps(accesses[0].column, accesses[0].column + accesses[0].columns);
  int64_t extent = scores ? KernelOp(program.kernel).getHeadDim()
                          : KernelOp(program.kernel).getTileKeys();
  int32_t flag =
      instruction.value < 0 ? 0 : getRegister(agent, instruction.value);
  Content result{scores ? Kind::S : Kind::O, a.task, a.stage};
  result.begin = into.origin;
  result.width = into.width;
  if (scores)
    result.block = b.block;
  else
    result.reference = b.block;
  if (flag == kUnknown) {
    refuseContent(here, "expected a flag that follows from the text", kUnknown);
    return kUnknown;
  }
  if (flag == 0) {
    if (!scores && b.block != 1) {
      refuseContent(here,
                    "expected to accumulate, or P of a task's first block",
                    held[0].content, held[0].by);
      return kUnknown;
    }
    result.done = steps;
  } else {
    // What it adds to has to be the same product without these steps.
    std::string what = "expected ";
    what += scores ? "a part of S" : "O that lacks a part";
    auto sum = expectHeld(held[2], into, slots[2], here,
                          scores ? "a part of S" : "a part of O");
    if (!sum)
      return kUnknown;
    result.done = sum->done;
    if (!scores)
      result.block = b.block - 1;
    if (!(*sum == result) || (sum->done & steps)) {
      refuseContent(
          here,
          "expected what " + describe(scores ? b : a) + " of steps " +
              std::to_string(accesses[0].column) + " to " +
              std::to_string(accesses[0].column + accesses[0].columns) +
              " can be added to in " + program.getPlace(into, slots[2]),
          held[2].content, held[2].by);
      return kUnknown;
    }
    result.done |= steps;
  }
  if (!scores && result.done == getSteps(0, extent)) {
    result.block = b.block;
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
  if (tile->kind != Kind::Result || tile->task != here.when.task ||
      tile->stage != stage || tile->begin != access.origin ||
      tile->width != access.width)
    return refuseContent(
        here, "expected " + what + " in " + program.getPlace(access, slot),
        held.content, held.by);
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
