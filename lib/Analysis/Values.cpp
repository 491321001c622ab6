// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiles, fragments and rows hold, and whether each op is given what
// belongs there: attention, step by step.

#include "Machine.h"
#include "llvm/ADT/StringExtras.h"

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

static int32_t getDepth(const Program &program) {
  return KernelOp(program.kernel).getHeadDim();
}

/// "columns 32 to 64 of S of ...": which columns of a tile lie where an access
/// comes upon it.
std::string Machine::describePart(const Access &access, int32_t slot,
                                  int32_t number) const {
  const Ring &ring = program.rings[access.ring];
  const Atom *atoms = &state.atoms[ring.firstAtom + slot * ring.getAtoms()];
  const Content &content = *contents->lookup(number);
  int32_t from = access.from;
  while (from < access.to && atoms[from].content != number)
    ++from;
  int32_t to = from;
  while (to < access.to && atoms[to].content == number)
    ++to;
  std::string text = describe(content, getDepth(program));
  if (from == to || content.width == 0)
    return text;
  int32_t unit = ring.space == MemorySpace::TMEM ? 4 : content.width;
  int32_t begin = ring.cuts[from] * unit - content.begin;
  int32_t end = ring.cuts[to] * unit - content.begin;
  if (begin < 0 || begin % content.width != 0 || end % content.width != 0)
    return text;
  text = "columns " + std::to_string(begin / content.width) + " to " +
         std::to_string(end / content.width) + " of " + text;
  if (content.width != access.width)
    text += " in elements of " + std::to_string(content.width) + " bytes";
  return text;
}

/// Refuses columns that hold two things. Where these are called the same, they
/// differ in the columns that lie there.
void Machine::refuseMixed(const Occurrence &here, const Twine &expected,
                          const Access &access, int32_t slot,
                          const Held &held) {
  std::string one =
      describe(*contents->lookup(held.content), getDepth(program));
  std::string two = describe(*contents->lookup(held.other), getDepth(program));
  if (one == two) {
    one = describePart(access, slot, held.content);
    two = describePart(access, slot, held.other);
  }
  Finding finding{Fault::Content, here, held.by, {}};
  finding.text = (expected + " alone, beside " + one).str();
  finding.got = two;
  refuse(std::move(finding));
}

/// Refuses what is right but for the place or the type that it is read with.
void Machine::refuseMisplaced(const Occurrence &here, const Twine &expected,
                              const Access &access, int32_t slot,
                              const Held &held) {
  Finding finding{Fault::Content, here, held.by, {}};
  finding.text = expected.str();
  finding.got = describePart(access, slot, held.content);
  refuse(std::move(finding));
}

void Machine::refuseContent(const Occurrence &here, const Twine &expected,
                            int32_t got, const Occurrence &there) {
  Finding finding{Fault::Content, here, there, {}};
  const Content *content = contents->lookup(got);
  finding.text = ((content ? "" : "incomplete: ") + expected).str();
  finding.got = content ? describe(*content, getDepth(program))
                        : "what the proof cannot tell";
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
    refuseMixed(here, what, access, slot, held);
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

/// Which of `columns` columns the ranges do not have, or have twice; empty if
/// they have each once.
static std::string
findWrongColumns(SmallVector<std::pair<int32_t, int32_t>> ranges,
                 int32_t columns) {
  llvm::sort(ranges);
  ranges.push_back({columns, columns});
  int32_t column = 0;
  for (auto [begin, end] : ranges) {
    if (begin > column)
      return "no columns " + std::to_string(column) + " to " +
             std::to_string(begin);
    if (begin < column)
      return "columns " + std::to_string(begin) + " to " +
             std::to_string(std::min(end, column)) + " twice";
    column = end;
  }
  return "";
}

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
    if (kind == Kind::S && !expectMasked(agent, instruction, *content))
      return {};
    if (content->stage != row->stage || content->block != row->block ||
        content->scaled != row->scaled) {
      refuseContent(getOccurrence(agent, instruction),
                    "expected fragments of one tile, beside " + describe(*row),
                    getRegister(agent, index));
      return {};
    }
    ranges.push_back({content->begin, content->end});
  }
  std::string wrong =
      findWrongColumns(ranges, KernelOp(program.kernel).getTileKeys());
  if (wrong.empty())
    return row;
  Finding finding{Fault::Content, getOccurrence(agent, instruction), {}, {}};
  finding.text = ("expected each column of " + what + " once").str();
  finding.got = wrong;
  refuse(std::move(finding));
  return {};
}

/// Where one S is multiplied by `fa4.scale`, all of them are.
bool Machine::expectScaled(int32_t agent, const Instruction &instruction,
                           const Content &content) {
  if (content.scaled == program.scales)
    return true;
  refuseContent(getOccurrence(agent, instruction),
                "expected S that 'fa4.scale' has multiplied, as elsewhere",
                contents->getNumber(content));
  return false;
}

/// Why a block has keys that not every row may see; empty where it has none.
/// The first block is the last of K. Of the others the loop says what they are,
/// about those that its agent has yet to come to too: masked ones come first.
std::string Machine::findMaskReason(int32_t agent,
                                    const Instruction &instruction,
                                    const Content &content) const {
  if (content.block == 1)
    return program.partial.empty()
               ? ""
               : ("the first block that a task visits has in a kernel " +
                  program.partial)
                     .str();
  int32_t block = state.agents[agent].when.block;
  bool inLoop = block > 0;
  if (inLoop && instruction.range == KvRange::RestUnmasked &&
      content.block >= block)
    return "";
  std::string loop =
      inLoop ? " of '" + stringifyKvRange(instruction.range).str() + "'" : "";
  bool masked = inLoop && instruction.range == KvRange::RestMasked;
  if (!masked && !KernelOp(program.kernel).getCausal())
    return "";
  return "a turn" + loop + " has" + (masked ? "" : " in a causal kernel");
}

/// Where a mask hides nothing, S with and without it is the same.
bool Machine::expectMasked(int32_t agent, const Instruction &instruction,
                           const Content &content) {
  if (content.masked)
    return true;
  std::string reason = findMaskReason(agent, instruction, content);
  if (reason.empty())
    return true;
  refuseContent(getOccurrence(agent, instruction),
                "expected 'fa4.mask' behind columns " +
                    std::to_string(content.begin) + " to " +
                    std::to_string(content.end) +
                    " of S, which may hold hidden keys, as " + reason,
                contents->getNumber(content));
  return !fault;
}

/// References and sums go from block to block, so a chain of them has every
/// block of the task once, in order.
void Machine::stepRowMax(int32_t agent, const Instruction &instruction) {
  auto row = expectRow(agent, instruction, Kind::S, "S");
  if (!row || !expectScaled(agent, instruction, *row))
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
  auto before = getContent(agent, instruction.value);
  bool starts = instruction.value < 0 || (before && before->kind == Kind::Zero);
  if (starts) {
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
  }
  if (instruction.value >= 0) {
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

/// The mask names the stage, the block and the first column of what it is
/// given.
void Machine::stepMask(int32_t agent, const Instruction &instruction,
                       int32_t input) {
  auto x = expect(agent, instruction, input, Kind::S, "S of the task at hand");
  if (!x)
    return;
  SmallVector<std::string> expected, got;
  bool known = true;
  int32_t stage = getRegister(agent, instruction.coordinate);
  if (stage != x->stage) {
    known &= stage != kUnknown;
    expected.push_back("stage " + std::to_string(x->stage));
    got.push_back(stage == kUnknown ? "a stage that the proof cannot tell"
                                    : "stage " + std::to_string(stage));
  }
  Content right{Kind::Block, x->task, -1, x->block};
  auto block = getContent(agent, instruction.second);
  if (!block || !(*block == right)) {
    known &= block.has_value();
    expected.push_back(describe(right));
    got.push_back(block ? describe(*block)
                        : "a K/V block that the proof cannot tell");
  }
  if (instruction.immediate != x->begin) {
    expected.push_back("columns from " + std::to_string(x->begin));
    got.push_back("columns from " + std::to_string(instruction.immediate));
  }
  if (expected.empty()) {
    x->masked = true;
    return setContent(agent, instruction.result, *x);
  }
  Finding finding{Fault::Content, getOccurrence(agent, instruction), {}, {}};
  finding.text = (known ? "" : "incomplete: ") +
                 ("expected the mask to name " + llvm::join(expected, " and ") +
                  ", as the S that it is given has");
  finding.got = llvm::join(got, " and ");
  refuse(std::move(finding));
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
  case Math::Scale: {
    auto x =
        expect(agent, instruction, input, Kind::S, "S of the task at hand");
    if (!x)
      return;
    if (x->scaled)
      return refuseContent(here, "expected S that nothing has multiplied yet",
                           getRegister(agent, input));
    x->scaled = true;
    return setContent(agent, instruction.result, *x);
  }
  case Math::Mask:
    return stepMask(agent, instruction, input);
  case Math::RowMax:
    return stepRowMax(agent, instruction);
  case Math::RowSum:
    return stepRowSum(agent, instruction);
  case Math::Exp2:
    if (instruction.value < 0) {
      auto x = expect(agent, instruction, input, Kind::X,
                      "exponents of the task at hand");
      if (!x)
        return;
      x->kind = Kind::P;
      return setContent(agent, instruction.result, *x);
    }
    [[fallthrough]];
  case Math::Exponents: {
    auto x =
        expect(agent, instruction, input, Kind::S, "S of the task at hand");
    auto reference = expect(agent, instruction, instruction.value,
                            Kind::Reference, "a reference of the task at hand");
    if (!x || !reference || !expectScaled(agent, instruction, *x) ||
        !expectMasked(agent, instruction, *x))
      return;
    if (reference->stage != x->stage || reference->block != x->block)
      return refuseContent(
          here, "expected the reference that goes with " + describe(*x),
          contents->getNumber(*reference));
    x->kind = instruction.math == Math::Exp2 ? Kind::P : Kind::X;
    x->scaled = x->masked = false;
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
