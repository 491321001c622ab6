// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handoffs as barriers: which of them share one, its slots, name and place.

#include "Derive.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// Ids of named barriers that a kernel has for its own.
static constexpr int64_t kNamedBarriers = 15;

namespace {
/// What a handoff hands over, in the field's words.
struct Words {
  StringRef thing;
  StringRef event; ///< Empty where the thing says it all.

  std::string join() const {
    return event.empty() ? thing.str() : (thing + "_" + event).str();
  }
};

class Merger {
public:
  Merger(const Program &program, const std::vector<Handoff> &handoffs,
         bool perWarp)
      : program(program), handoffs(handoffs), perWarp(perWarp) {}

  std::vector<Contract> run();

private:
  void merge();
  void findSlots(Contract &contract) const;
  void sort();
  void takeNamedBarriers();
  void nameAll();

  RoleOp getRole(int32_t role) const { return program.roles[role].op; }
  AllocOp getRing(const Handoff &handoff) const {
    return program.rings[handoff.ring].op;
  }
  Words getWords(const Handoff &handoff, bool byRing) const;
  std::string getName(const Contract &contract, bool byRing) const;

  const Program &program;
  const std::vector<Handoff> &handoffs;
  bool perWarp;
  std::vector<Contract> contracts;
};
} // namespace

std::optional<int32_t> protocol::getConstantSlot(Value slot) {
  APInt constant;
  if (matchPattern(slot, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Which handoffs share a barrier
//===----------------------------------------------------------------------===//

/// Of different roles, and waited for at the same points, phase by phase: one
/// barrier counts all.
static bool areOneWait(const Handoff &a, const Handoff &b) {
  return a.fromRank != kLoad && b.fromRank != kLoad && a.from != b.from &&
         a.to == b.to && a.free == b.free && a.slots == b.slots &&
         a.waits.size() == b.waits.size() &&
         llvm::all_of(a.waits, [&](const Point &point) {
           return llvm::is_contained(b.waits, point);
         });
}

static std::optional<SmallVector<int32_t>>
getConstantSlots(ArrayRef<Point> points) {
  SmallVector<int32_t> slots;
  for (const Point &point : points) {
    std::optional<int32_t> slot = getConstantSlot(point.slot);
    if (!slot)
      return std::nullopt;
    if (!llvm::is_contained(slots, *slot))
      slots.push_back(*slot);
  }
  return slots;
}

/// The same of one role, but for different roles, each with slots of its own.
static bool areOneArrival(const Handoff &a, const Handoff &b) {
  auto key = [](const Handoff &handoff) {
    return std::tie(handoff.from, handoff.ring, handoff.flow, handoff.fromRank,
                    handoff.toRank, handoff.ordinal, handoff.free);
  };
  if (a.fromRank == kLoad || a.to == b.to || key(a) != key(b))
    return false;
  auto slotsOfA = getConstantSlots(a.waits),
       slotsOfB = getConstantSlots(b.waits);
  return slotsOfA && slotsOfB && llvm::none_of(*slotsOfA, [&](int32_t slot) {
           return llvm::is_contained(*slotsOfB, slot);
         });
}

/// A role's copies into one ring signal one barrier.
static bool areOneCopy(const Handoff &a, const Handoff &b) {
  return a.fromRank == kLoad && b.fromRank == kLoad && a.from == b.from &&
         a.ring == b.ring;
}

void Merger::merge() {
  for (const Handoff &handoff : handoffs) {
    auto same = llvm::find_if(contracts, [&](const Contract &contract) {
      return llvm::any_of(
          ArrayRef{areOneCopy, areOneWait, areOneArrival}, [&](auto areOne) {
            return llvm::all_of(contract.parts, [&](const Handoff *part) {
              return areOne(handoff, *part);
            });
          });
    });
    if (same == contracts.end())
      contracts.push_back({{&handoff}, "", false, {}});
    else
      same->parts.push_back(&handoff);
  }
  for (Contract &contract : contracts) {
    // As the roles stand in the text.
    llvm::sort(contract.parts, [](const Handoff *a, const Handoff *b) {
      return std::pair(a->from, a->to) < std::pair(b->from, b->to);
    });
    findSlots(contract);
  }
}

/// Slots that nobody names have no barrier.
void Merger::findSlots(Contract &contract) const {
  const Handoff &first = *contract.parts.front();
  SmallVector<int32_t> &slots = contract.slots;
  bool constant = first.fromRank != kLoad;
  for (const Handoff *part : contract.parts)
    for (ArrayRef<Point> points :
         {ArrayRef(part->waits), ArrayRef(part->arrivals)}) {
      auto named = getConstantSlots(points);
      constant &= named.has_value();
      if (named)
        slots.append(*named);
    }
  if (!constant) {
    slots.clear();
    for (int32_t slot = 0; slot < program.rings[first.ring].slots; ++slot)
      slots.push_back(slot);
    return;
  }
  llvm::sort(slots);
  slots.erase(llvm::unique(slots), slots.end());
}

/// What one warpgroup hands to another goes by one of the hardware's own
/// barriers. Those are few; what comes back does without.
void Merger::takeNamedBarriers() {
  int64_t taken = 0;
  for (Contract &contract : contracts) {
    const Handoff &part = *contract.parts.front();
    int64_t ids = contract.slots.size() * (perWarp ? 4 : 1);
    contract.named = contract.parts.size() == 1 && part.flow && !part.free &&
                     part.fromRank != kLoad && !part.commits &&
                     getRole(part.from).getThreads() == 128 &&
                     getRole(part.to).getThreads() == 128 &&
                     taken + ids <= kNamedBarriers;
    if (contract.named)
      taken += ids;
  }
}

//===----------------------------------------------------------------------===//
// Names and order
//===----------------------------------------------------------------------===//

/// The rank of who makes what is handed over, or makes it anew when it comes
/// back.
static int32_t getMaker(const Handoff &handoff) {
  return handoff.flow ? handoff.fromRank : handoff.toRank;
}

Words Merger::getWords(const Handoff &handoff, bool byRing) const {
  struct Entry {
    int32_t maker;
    Words there;
    StringRef back;
  };
  static constexpr Entry field[] = {
      {kScores, {"s", "ready"}, "free"},  {kWeights, {"p", "ready"}, "free"},
      {kProduct, {"o", "ready"}, "free"}, {kRescale, {"o", "rescale"}, "free"},
      {kPublish, {"stats", ""}, "empty"}, {kStage, {"o", "full"}, "empty"}};
  int32_t maker = getMaker(handoff);
  if (!byRing)
    for (const Entry &entry : field)
      if (entry.maker == maker)
        return handoff.flow ? entry.there
                            : Words{entry.there.thing, entry.back};
  return {getRing(handoff).getName(), handoff.flow ? "full" : "empty"};
}

/// "q_full"; of several handoffs each its thing, and the last one's event:
/// "p_o_rescale". The second segment of a tile is "p_ready_2".
std::string Merger::getName(const Contract &contract, bool byRing) const {
  std::vector<Words> words;
  for (const Handoff *part : contract.parts) {
    Words own = getWords(*part, byRing);
    if (words.empty() || words.back().join() != own.join())
      words.push_back(own);
  }
  std::string name;
  for (const Words &before : ArrayRef(words).drop_back())
    name += (before.thing + "_").str();
  name += words.back().join();
  int32_t ordinal = contract.parts.front()->ordinal;
  return ordinal == 0 ? name : name + "_" + std::to_string(ordinal + 1);
}

void Merger::nameAll() {
  // Where several rings would go by one of the field's names, each has its own.
  llvm::StringMap<llvm::SmallDenseSet<int32_t>> rings;
  for (const Contract &contract : contracts)
    rings[getName(contract, false)].insert(contract.parts.front()->ring);
  llvm::StringMap<int64_t> bearers;
  for (Contract &contract : contracts) {
    contract.name = getName(contract, false);
    if (rings[contract.name].size() > 1)
      contract.name = getName(contract, true);
    ++bearers[contract.name];
  }
  // What roles of one kind have each for themselves is numbered.
  llvm::StringMap<int64_t> next;
  llvm::StringSet<> taken;
  for (Contract &contract : contracts) {
    std::string name = contract.name;
    if (bearers[name] > 1)
      contract.name = name + "_" + std::to_string(next[name]++);
    while (!taken.insert(contract.name).second)
      contract.name = name + "_" + std::to_string(next[name]++);
  }
}

/// Tiles that are loaded, tiles in tensor memory in the order of the data,
/// mailboxes, tiles to be stored; each ring handed over, then handed back.
void Merger::sort() {
  auto getKey = [&](const Contract &contract) {
    const Handoff &part = *contract.parts.front();
    int32_t maker = getMaker(part);
    int32_t kind = maker == kLoad      ? 0
                   : maker == kPublish ? 2
                   : maker == kStage   ? 3
                   : maker < 0         ? 4
                                       : 1;
    return std::tuple(kind, kind == 1 ? maker : 0, part.ring, !part.flow,
                      part.fromRank, part.toRank, part.ordinal, part.from,
                      part.to);
  };
  llvm::sort(contracts, [&](const Contract &a, const Contract &b) {
    return getKey(a) < getKey(b);
  });
}

std::vector<Contract> Merger::run() {
  merge();
  sort();
  takeNamedBarriers();
  nameAll();
  return std::move(contracts);
}

std::vector<Contract>
protocol::findContracts(const Program &program,
                        const std::vector<Handoff> &handoffs, bool perWarp) {
  return Merger(program, handoffs, perWarp).run();
}
