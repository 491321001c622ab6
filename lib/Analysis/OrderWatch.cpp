// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about the order of two accesses, while a machine runs.

#include "Machine.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

/// Whether `after` at one time is to be compared with `before` at the other.
static bool isPair(const Watch &watch, When before, When after) {
  if (!watch.countsTasks)
    return true;
  return before.task == after.task - watch.tasks &&
         (!watch.countsBlocks || before.block == after.block - watch.blocks);
}

/// Of several accesses that one access is compared with, the last stands for
/// those of its timeline.
static bool isOneTime(const Watch &watch, When a, When b) {
  return !watch.countsTasks ||
         (a.task == b.task && (!watch.countsBlocks || a.block == b.block));
}

void Machine::watchBefore(const Watch &watch, WatchState &watched,
                          WatchResult &result, const Record &record) {
  for (const Seen &early : watched.early)
    if (!result.unordered && isPair(watch, record.by.when, early.when)) {
      Occurrence after{watch.after.agent, watch.after.site, early.when};
      result = {true, true, record.by, after, record.done, state.decisions};
    }
  Seen seen{record.done, record.proxy, record.issued, record.by.when};
  auto same = llvm::find_if(watched.before, [&](const Seen &known) {
    return known.done.component == seen.done.component &&
           isOneTime(watch, known.when, seen.when);
  });
  if (same == watched.before.end())
    watched.before.push_back(seen);
  else
    *same = seen;
}

void Machine::watchAfter(const Watch &watch, WatchState &watched,
                         WatchResult &result, const Record &record,
                         const int32_t *knowledge, bool async) {
  for (const Seen &before : watched.before) {
    if (result.unordered || !isPair(watch, before.when, record.by.when))
      continue;
    bool crosses = async && before.proxy.component >= 0;
    bool ordered = isBefore(crosses ? before.proxy : before.done, knowledge);
    if (ordered && result.met)
      continue;
    Occurrence by{watch.before.agent, watch.before.site, before.when};
    result = {true, !ordered, by, record.by, before.done, state.decisions};
  }
  if (llvm::none_of(watched.early, [&](const Seen &known) {
        return isOneTime(watch, known.when, record.by.when);
      }))
    watched.early.push_back({{}, {}, record.issued, record.by.when});
}

/// Drops accesses that no other will be compared with.
void Machine::forget(const Watch &watch, WatchState &watched) const {
  if (!watch.countsTasks)
    return;
  // Whether an agent may yet run its access at a time.
  auto mayCome = [&](const Watch::End &end, int32_t task, int32_t block) {
    const AgentState &agent = state.agents[end.agent];
    if (agent.when.task <= 0)
      return agent.when.task == 0;
    if (task != agent.when.task)
      return task > agent.when.task;
    return !watch.countsBlocks ||
           (agent.pc <= end.loopEnd && block >= agent.when.block);
  };
  llvm::erase_if(watched.before, [&](const Seen &seen) {
    return !mayCome(watch.after, seen.when.task + watch.tasks,
                    seen.when.block + watch.blocks);
  });
  llvm::erase_if(watched.early, [&](const Seen &seen) {
    return !mayCome(watch.before, seen.when.task - watch.tasks,
                    seen.when.block - watch.blocks);
  });
}

void Machine::forget() {
  for (auto [watch, watched] : llvm::zip(program.watches, state.watches))
    forget(watch, watched);
}

void Machine::watch(const Record &record, const int32_t *knowledge,
                    bool async) {
  for (auto [watch, watched, result] :
       llvm::zip(program.watches, state.watches, watchResults)) {
    bool after = record.by.site == watch.after.site &&
                 record.by.agent == watch.after.agent;
    bool before = record.by.site == watch.before.site &&
                  record.by.agent == watch.before.agent;
    if (!after && !before)
      continue;
    // An MMA has several accesses; it does not come after itself.
    bool again = llvm::any_of(watched.before, [&](const Seen &seen) {
      return seen.issued.component == record.issued.component &&
             seen.issued.index == record.issued.index;
    });
    if (after)
      watchAfter(watch, watched, result, record, knowledge, async);
    if (before && !again)
      watchBefore(watch, watched, result, record);
  }
}
