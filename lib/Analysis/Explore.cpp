// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Explore.h"
#include "llvm/ADT/Hashing.h"
#include <deque>
#include <unordered_map>

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// More markings than any schedule of a sane ring size has.
static constexpr size_t kMostMarkings = 4096;

namespace {
struct FactsHash {
  size_t operator()(const std::vector<int32_t> &facts) const {
    return llvm::hash_combine_range(facts.begin(), facts.end());
  }
};

class Explorer {
public:
  explicit Explorer(const Program &program) : program(program) {}

  Exploration explore();

private:
  /// Notes what a machine has found; false after a fault.
  bool collect(std::unique_ptr<Machine> &machine);
  /// Keeps a machine to go on from, unless one that knows no more was seen.
  void add(std::unique_ptr<Machine> machine);
  SmallVector<Decision> getDecisions(const State &state) const;

  const Program &program;
  Exploration result;
  /// Knowledge, by facts.
  std::unordered_map<std::vector<int32_t>, std::vector<std::vector<uint32_t>>,
                     FactsHash>
      seen;
  std::deque<std::unique_ptr<Machine>> open;
};
} // namespace

/// What may come next, nearest end first. Masked blocks come before unmasked.
SmallVector<Decision> Explorer::getDecisions(const State &state) const {
  SmallVector<Decision> next;
  if (program.hasTasks) {
    next.push_back(Decision::End);
    next.push_back(Decision::Task);
  }
  if (program.hasBlocks) {
    next.push_back(Decision::Unmasked);
    if (program.splitsMasked && (state.decisions.empty() ||
                                 state.decisions.back() != Decision::Unmasked))
      next.push_back(Decision::Masked);
  }
  return next;
}

bool Explorer::collect(std::unique_ptr<Machine> &machine) {
  result.events += std::exchange(machine->events, 0);
  for (const Finding &warning : machine->warnings)
    if (llvm::none_of(result.warnings, [&](const Finding &known) {
          return known.there.site == warning.there.site;
        }))
      result.warnings.push_back(warning);
  for (auto [known, seen] : llvm::zip(result.watches, machine->watchResults))
    if (seen.met && (!known.met || (seen.unordered && !known.unordered)))
      known = seen;
  if (!machine->fault)
    return true;
  result.faulty = std::move(machine);
  return false;
}

/// Whether `more` has all bits of `less`.
static bool includes(ArrayRef<uint32_t> more, ArrayRef<uint32_t> less) {
  if (more.size() != less.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(more, less))
    if (b & ~a)
      return false;
  return true;
}

void Explorer::add(std::unique_ptr<Machine> machine) {
  Marking marking = getMarking(program, *machine);
  // Whether a masked block may come next is not in the machine.
  bool unmasked = !machine->state.decisions.empty() &&
                  machine->state.decisions.back() == Decision::Unmasked;
  marking.facts.push_back(unmasked);
  // What is watched, every run has to show.
  bool exact = !program.watches.empty();
  auto &known = seen[std::move(marking.facts)];
  if (llvm::any_of(known, [&](const std::vector<uint32_t> &other) {
        return exact ? marking.knowledge == other
                     : includes(marking.knowledge, other);
      }))
    return;
  known.push_back(std::move(marking.knowledge));
  ++result.markings;
  open.push_back(std::move(machine));
}

Exploration Explorer::explore() {
  result.watches.resize(program.watches.size());
  auto first = std::make_unique<Machine>(program);
  first->run();
  if (!program.hasTasks)
    first->finish();
  if (!collect(first))
    return std::move(result);
  if (program.hasTasks)
    add(std::move(first));
  while (!open.empty() && result.complete && !result.faulty) {
    std::unique_ptr<Machine> from = std::move(open.front());
    open.pop_front();
    for (Decision decision : getDecisions(from->state)) {
      auto next = std::make_unique<Machine>(*from);
      next->decide(decision);
      if (decision == Decision::End)
        next->finish();
      if (!collect(next))
        break;
      // An end has no future.
      if (decision != Decision::End)
        add(std::move(next));
    }
    result.complete = result.markings <= kMostMarkings;
  }
  if (!result.complete && !open.empty())
    result.unrepeated = std::move(open.back());
  return std::move(result);
}

Exploration protocol::explore(const Program &program) {
  return Explorer(program).explore();
}
