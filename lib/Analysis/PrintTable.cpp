// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contracts as text.

#include "Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
/// One kind of order: a role's reads or writes of columns before another's.
struct Line {
  int32_t before, after; ///< Roles.
  bool wrote, writes;
  int32_t ring;
  SmallVector<int32_t> barriers;
  int32_t begin = INT32_MAX, end = 0;

  bool isLike(const Line &other) const {
    return before == other.before && after == other.after &&
           wrote == other.wrote && writes == other.writes &&
           ring == other.ring && barriers == other.barriers;
  }
};

class TablePrinter {
public:
  TablePrinter(const Program &program, const Trace &trace, raw_ostream &os)
      : program(program), trace(trace), os(os) {}

  void print();

private:
  void collect();
  void printBarrier(int32_t index);
  std::string getRole(int32_t role) const {
    return ("@" + RoleOp(program.roles[role].op).getSymName()).str();
  }
  StringRef getName(int32_t barrier) const {
    return BarrierOp(program.barriers[barrier].op).getName();
  }
  std::string getPhases(int32_t barrier) const;
  std::string getArrivals(const Barrier &barrier) const;
  std::string getWaits(int32_t barrier) const;
  void printLine(StringRef head, const Line &line);

  const Program &program;
  const Trace &trace;
  raw_ostream &os;
  std::vector<Line> lines;
};
} // namespace

void TablePrinter::collect() {
  for (const OrderedPair &pair : trace.pairs) {
    if (pair.barriers.empty())
      continue;
    auto getRoleOf = [&](int32_t event) {
      return program.agents[trace.events[event].by.agent].role;
    };
    Line line{getRoleOf(pair.before),
              getRoleOf(pair.after),
              pair.first.writes,
              pair.second.writes,
              pair.first.access->ring,
              pair.barriers,
              0,
              0};
    auto known = llvm::find_if(
        lines, [&](const Line &other) { return line.isLike(other); });
    if (known == lines.end()) {
      lines.push_back(line);
      known = lines.end() - 1;
      known->begin = INT32_MAX;
    }
    known->begin = std::min(known->begin, std::max(pair.first.access->begin,
                                                   pair.second.access->begin));
    known->end = std::max(
        known->end, std::min(pair.first.access->end, pair.second.access->end));
  }
}

/// How many phases all slots complete in a task of n blocks.
std::string TablePrinter::getPhases(int32_t barrier) const {
  // Tasks 1 and 2 of the run have 2 and 5 blocks; the first also has what comes
  // once, so tasks are counted by when the arriving side is in them.
  int64_t counts[2] = {0, 0};
  for (const TraceEvent &event : trace.events) {
    int32_t task = event.by.when.task;
    if (!program.hasTasks)
      task = 1;
    if (event.kind != TraceEvent::Arrives || task < 1 || task > 2 ||
        program.barrierOfSlot[event.slot] != barrier)
      continue;
    // Each phase has one arrival of the first entry.
    const Barrier &contract = program.barriers[barrier];
    if (program.agents[event.by.agent].role == contract.roles.front())
      ++counts[task - 1];
  }
  if (!program.hasBlocks)
    return std::to_string(counts[0]);
  int64_t blocks = (counts[1] - counts[0]) / 3;
  int64_t rest = counts[0] - 2 * blocks;
  std::string text;
  if (blocks != 0)
    text = blocks == 1 ? "n" : std::to_string(blocks) + "n";
  if (rest != 0 || blocks == 0)
    text += (blocks != 0 ? " + " : "") + std::to_string(rest);
  return text;
}

std::string TablePrinter::getArrivals(const Barrier &barrier) const {
  SmallVector<std::string> parts;
  for (auto [role, count, engine] :
       llvm::zip(barrier.roles, barrier.counts, barrier.engines)) {
    std::string who = getRole(role);
    if (engine == Engine::Commit)
      parts.push_back(who + " by commit");
    else
      parts.push_back(who + " " + std::to_string(count) +
                      (engine == Engine::Bytes ? " bytes" : " threads"));
  }
  return llvm::join(parts, ", ");
}

std::string TablePrinter::getWaits(int32_t barrier) const {
  SmallVector<std::string> parts;
  for (auto [index, role] : llvm::enumerate(program.roles))
    if (llvm::any_of(role.code, [&](const Instruction &instruction) {
          return instruction.event == Event::Wait &&
                 instruction.barrier == barrier;
        }))
      parts.push_back(getRole(index));
  return parts.empty() ? "nobody" : llvm::join(parts, ", ");
}

void TablePrinter::printLine(StringRef head, const Line &line) {
  const Ring &ring = program.rings[line.ring];
  std::string place = ("\"" + AllocOp(ring.op).getName() + "\"").str();
  if (line.begin != 0 || line.end != ring.cuts.back())
    place = "columns " + std::to_string(line.begin) + " to " +
            std::to_string(line.end) + " of " + place;
  os << "  " << left_justify(head, 10) << getRole(line.before)
     << (line.wrote ? " writes " : " reads ") << place << " before "
     << getRole(line.after) << (line.writes ? " writes" : " reads") << " it";
  if (line.barriers.size() > 1) {
    os << ", behind ";
    llvm::interleaveComma(
        ArrayRef(line.barriers).drop_back(), os,
        [&](int32_t barrier) { os << "\"" << getName(barrier) << "\""; });
  }
  os << "\n";
}

void TablePrinter::printBarrier(int32_t index) {
  const Barrier &barrier = program.barriers[index];
  int64_t slots = BarrierOp(barrier.op).getSlots();
  os << "\nbarrier \"" << getName(index) << "\": " << slots
     << (slots == 1 ? " slot" : " slots");
  if (barrier.named)
    os << ", named"
       << (BarrierOp(barrier.op).getPerWarp() ? ", a pair of warps each" : "");
  if (barrier.free)
    os << ", free at first";
  os << "\n  phases    " << getPhases(index)
     << (program.hasTasks ? " in a task" : "")
     << (program.hasBlocks ? " of n blocks" : "");
  os << "\n  arrives   " << getArrivals(barrier) << "\n  waits     "
     << getWaits(index) << "\n";
  StringRef head = "orders";
  for (const Line &line : lines)
    if (line.barriers.back() == index)
      printLine(std::exchange(head, ""), line);
}

void TablePrinter::print() {
  collect();
  size_t contracts = program.barriers.size();
  os << "kernel @" << KernelOp(program.kernel).getSymName() << ": " << contracts
     << (contracts == 1 ? " contract" : " contracts") << " with "
     << program.slots << (program.slots == 1 ? " slot\n" : " slots\n");
  for (int32_t index = 0, end = program.barriers.size(); index < end; ++index)
    printBarrier(index);
}

void protocol::printTable(const Program &program, const Trace &trace,
                          raw_ostream &os) {
  TablePrinter(program, trace, os).print();
}
