// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which accesses of one agent must come behind which of another.

#include "Derive.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
/// A step's access to one atom.
struct Touch {
  Place place;
  int32_t step;
  bool reads, writes, cursor;
  int32_t ring, slot;
};

class Finder {
public:
  Finder(const Program &program, const Sample &sample)
      : program(program), sample(sample) {}

  FailureOr<std::vector<Dependence>> run();

private:
  void collect();
  LogicalResult sort(std::vector<Touch> &touches);
  void addDependences(ArrayRef<Touch> touches);
  void shareNeighbours();
  void keepStrongest();
  bool isStronger(const Dependence &a, const Dependence &b) const;

  const Step &getStep(int32_t step) const { return sample.steps[step]; }
  int32_t getAgent(int32_t step) const { return sample.steps[step].agent; }
  int32_t getIndex(int32_t step) const { return sample.steps[step].index; }

  const Program &program;
  const Sample &sample;
  std::vector<std::vector<Touch>> atoms;
  std::vector<Dependence> found;
};
} // namespace

void Finder::collect() {
  atoms.resize(program.atoms);
  for (auto [index, step] : llvm::enumerate(sample.steps))
    for (auto [touched, version] : llvm::zip(step.touched, step.versions)) {
      const Ring &ring = program.rings[touched.access->ring];
      // Through a cursor, what belongs together is what has its value.
      Place place =
          version < 0 ? step.place : Place{version, 0, step.place.rank};
      for (int32_t i = touched.access->from; i < touched.access->to; ++i)
        atoms[ring.firstAtom + touched.slot * ring.getAtoms() + i].push_back(
            {place, static_cast<int32_t>(index), touched.reads, touched.writes,
             version >= 0, touched.access->ring, touched.slot});
    }
}

/// Puts the accesses in sequential order, which each role has to keep.
LogicalResult Finder::sort(std::vector<Touch> &touches) {
  llvm::sort(touches, [&](const Touch &a, const Touch &b) {
    if (a.place < b.place || b.place < a.place)
      return a.place < b.place;
    return std::pair(getAgent(a.step), getIndex(a.step)) <
           std::pair(getAgent(b.step), getIndex(b.step));
  });
  llvm::DenseMap<int32_t, int32_t> last;
  for (const Touch &touch : touches) {
    int32_t &before = last.try_emplace(getAgent(touch.step), -1).first->second;
    if (before >= 0 && getIndex(before) > getIndex(touch.step)) {
      InFlightDiagnostic diag = getStep(touch.step).op->emitOpError()
                                << "expected the role to touch a tile in the "
                                   "order of the blocks, and "
                                   "within a block in that of the data";
      diag.attachNote(getStep(before).op->getLoc())
          << "this comes later, but the role does it earlier";
      return diag;
    }
    before = touch.step;
  }
  return success();
}

void Finder::addDependences(ArrayRef<Touch> touches) {
  const Touch *write = nullptr;
  SmallVector<const Touch *> reads;
  auto add = [&](const Touch &from, const Touch &to) {
    if (getAgent(from.step) != getAgent(to.step))
      found.push_back({from.step, to.step, to.ring, to.slot,
                       from.writes && to.reads, to.cursor});
  };
  for (const Touch &touch : touches) {
    if (write && (touch.reads || reads.empty()))
      add(*write, touch);
    if (!touch.writes) {
      reads.push_back(&touch);
      continue;
    }
    for (const Touch *read : reads)
      add(*read, touch);
    reads.clear();
    write = &touch;
  }
}

/// Messages of several mailboxes that are put one after the other, and taken
/// one after the other, are handed over together.
void Finder::shareNeighbours() {
  auto areNeighbours = [&](int32_t a, int32_t b) {
    return getAgent(a) == getAgent(b) &&
           std::abs(getIndex(a) - getIndex(b)) == 1 &&
           getStep(a).op->getBlock() == getStep(b).op->getBlock() &&
           getStep(a).op->getName() == getStep(b).op->getName() &&
           isa<PublishOp, CollectOp>(getStep(a).op);
  };
  SmallVector<Dependence *> messages;
  for (Dependence &dependence : found)
    if (isa<PublishOp, CollectOp>(getStep(dependence.from).op))
      messages.push_back(&dependence);
  for (Dependence *first : messages)
    for (Dependence *second : messages) {
      Dependence &a = *first, &b = *second;
      if (a.ring != b.ring && areNeighbours(a.from, b.from) &&
          areNeighbours(a.to, b.to)) {
        a.from = b.from = getIndex(a.from) < getIndex(b.from) ? b.from : a.from;
        a.to = b.to = getIndex(a.to) < getIndex(b.to) ? a.to : b.to;
        b.ring = a.ring = std::min(a.ring, b.ring);
      }
    }
}

/// Whether `a` orders all that `b` does for a tile of the same agents: a later
/// access comes before an earlier one. Copies land in any order, so of them
/// each speaks for itself.
bool Finder::isStronger(const Dependence &a, const Dependence &b) const {
  if (isa<LoadOp>(getStep(b.from).op) && a.from != b.from)
    return false;
  return getIndex(a.from) >= getIndex(b.from) &&
         getIndex(a.to) <= getIndex(b.to);
}

void Finder::keepStrongest() {
  // Only those of one tile between the same two agents compare.
  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t>, SmallVector<size_t>>
      groups;
  for (auto [i, dependence] : llvm::enumerate(found))
    groups[{dependence.ring, dependence.slot, getAgent(dependence.from),
            getAgent(dependence.to)}]
        .push_back(i);
  llvm::BitVector implied(found.size());
  for (const auto &[key, group] : groups)
    for (size_t i : group) {
      const Dependence &weak = found[i];
      implied[i] = llvm::any_of(group, [&](size_t j) {
        const Dependence &strong = found[j];
        bool same = strong.from == weak.from && strong.to == weak.to;
        // Of equals the first flow stays, or else the first.
        bool precedes = strong.flow != weak.flow ? strong.flow : j < i;
        return j != i && isStronger(strong, weak) && (!same || precedes);
      });
    }
  std::vector<Dependence> kept;
  for (auto [i, dependence] : llvm::enumerate(found))
    if (!implied[i])
      kept.push_back(dependence);
  found = std::move(kept);
}

FailureOr<std::vector<Dependence>> Finder::run() {
  collect();
  for (std::vector<Touch> &touches : atoms) {
    if (failed(sort(touches)))
      return failure();
    addDependences(touches);
  }
  shareNeighbours();
  keepStrongest();
  return std::move(found);
}

FailureOr<std::vector<Dependence>>
protocol::findDependences(const Program &program, const Sample &sample) {
  return Finder(program, sample).run();
}
