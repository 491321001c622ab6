// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Analysis/Order.h"
#include "Explore.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

namespace {
/// What a run did about a mark: who learned of it by which wait, and which
/// arrivals carried it.
class Tracker final : public Observer {
public:
  explicit Tracker(Mark mark) : mark(mark) {}

  void arrive(const Occurrence &here, int32_t slot, int32_t phase,
              const int32_t *knowledge) override {
    // A copy's arrival is what the mark is about.
    if (knows(knowledge) || (mark.component == slot && mark.index == phase))
      arrivals.push_back({here, slot, phase});
  }
  void wait(const Occurrence &here, int32_t slot, int32_t phase,
            const int32_t *before, const int32_t *now) override {
    if (!knows(before) && knows(now))
      waits.push_back({here, slot, phase});
  }
  /// Arrivals and waits from the agent of the mark to another, backwards.
  SmallVector<int32_t> getPath(int32_t from, int32_t to) const;

private:
  struct Step {
    Occurrence here;
    int32_t slot, phase;
  };
  bool knows(const int32_t *knowledge) const {
    return knowledge[mark.component] >= mark.index;
  }

  Mark mark;
  std::vector<Step> arrivals, waits;
};
} // namespace

SmallVector<int32_t> Tracker::getPath(int32_t from, int32_t to) const {
  SmallVector<int32_t> path;
  // Each agent learns once, so the chain ends.
  for (size_t learned = 0; to != from && learned < waits.size(); ++learned) {
    auto wait = llvm::find_if(
        waits, [&](const Step &step) { return step.here.agent == to; });
    if (wait == waits.end())
      break;
    auto arrival = llvm::find_if(arrivals, [&](const Step &step) {
      return step.slot == wait->slot && step.phase == wait->phase &&
             step.here.agent != to;
    });
    if (arrival == arrivals.end())
      break;
    path.push_back(wait->here.site);
    path.push_back(arrival->here.site);
    to = arrival->here.agent;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

/// The event of an access: its site and the end of the loop around it.
static LogicalResult findEnd(const Program &program, AccessPoint point,
                             Watch::End &end) {
  static constexpr Event kAccesses[] = {
      Event::Load,  Event::Store,   Event::Mma, Event::Product, Event::Read,
      Event::Write, Event::Rescale, Event::Put, Event::Get};
  if (!point.op)
    return failure();
  for (auto [index, agent] : llvm::enumerate(program.agents)) {
    const RoleProgram &role = program.roles[agent.role];
    if (agent.instance != point.instance ||
        !RoleOp(role.op)->isAncestor(point.op))
      continue;
    for (const Instruction &instruction : role.code)
      if (instruction.site >= 0 &&
          program.sites[instruction.site] == point.op &&
          llvm::is_contained(kAccesses, instruction.event))
        end = {instruction.site, static_cast<int32_t>(index), -1};
    auto loop = point.op->getParentOfType<ForKvOp>();
    for (auto [pc, instruction] : llvm::enumerate(role.code))
      if (loop && instruction.event == Event::KvEnd &&
          program.sites[instruction.site] == loop)
        end.loopEnd = pc;
  }
  if (end.site >= 0)
    return success();
  return point.op->emitOpError()
         << "expected an access to a tile or a mailbox, in a role that has "
            "instance "
         << point.instance;
}

static FailureOr<Watch> makeWatch(const Program &program,
                                  const OrderQuery &query) {
  Watch watch;
  if (failed(findEnd(program, query.before, watch.before)) ||
      failed(findEnd(program, query.after, watch.after)))
    return failure();
  watch.tasks = query.tasks;
  watch.blocks = query.blocks;
  watch.countsTasks = query.before.op->getParentOfType<ForTaskOp>() &&
                      query.after.op->getParentOfType<ForTaskOp>();
  watch.countsBlocks = watch.countsTasks && query.tasks == 0 &&
                       watch.before.loopEnd >= 0 && watch.after.loopEnd >= 0;
  return watch;
}

static OrderAnswer getAnswer(const Program &program, const Watch &watch,
                             const WatchResult &result) {
  OrderAnswer answer;
  if (!result.met)
    return answer;
  answer.verdict =
      result.unordered ? OrderVerdict::NotAlways : OrderVerdict::Always;
  answer.before = {result.before.when.task, result.before.when.block};
  answer.after = {result.after.when.task, result.after.when.block};
  if (program.hasTasks)
    answer.run.push_back(1);
  for (Decision decision : result.decisions) {
    if (decision == Decision::Task)
      answer.run.push_back(1);
    else if (decision != Decision::End)
      ++answer.run.back();
  }
  if (result.unordered)
    return answer;
  // The same run again, with an eye on the one access.
  Tracker tracker(result.done);
  Machine machine(program);
  machine.observer = &tracker;
  machine.run();
  for (Decision decision : result.decisions)
    machine.decide(decision);
  for (int32_t site : tracker.getPath(watch.before.agent, watch.after.agent))
    answer.path.push_back(program.sites[site]);
  return answer;
}

FailureOr<SmallVector<OrderAnswer>>
fa4::queryOrder(KernelOp kernel, ArrayRef<OrderQuery> queries) {
  FailureOr<Program> program = buildProgram(kernel);
  if (failed(program))
    return failure();
  program->lenient = true;
  for (const OrderQuery &query : queries) {
    FailureOr<Watch> watch = makeWatch(*program, query);
    if (failed(watch))
      return failure();
    program->watches.push_back(*watch);
  }
  Exploration exploration = explore(*program);
  if (exploration.faulty) {
    emitFault(*program, *exploration.faulty);
    return failure();
  }
  if (!exploration.complete)
    return kernel.emitOpError("incomplete: expected the state of the handoffs "
                              "to repeat");
  SmallVector<OrderAnswer> answers;
  for (auto [watch, result] : llvm::zip(program->watches, exploration.watches))
    answers.push_back(getAnswer(*program, watch, result));
  return answers;
}
