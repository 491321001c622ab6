// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Engines.h"

using namespace ptxsim;

void Engines::issue(uint64_t queue, Action action, const Op *inside) {
  if (eager()) {
    action();
    return;
  }
  queues[queue].push_back({nextSequence++, std::move(action), inside});
}

void Engines::completeHead(uint64_t queue) {
  auto it = queues.find(queue);
  Action action = std::move(it->second.front().action);
  it->second.pop_front();
  if (it->second.empty())
    queues.erase(it);
  action();
}

void Engines::drain(uint64_t queue) {
  while (!empty(queue))
    completeHead(queue);
}

bool Engines::completeOldest() {
  if (queues.empty())
    return false;
  auto best = queues.begin();
  for (auto it = queues.begin(); it != queues.end(); ++it)
    if (it->second.front().sequence < best->second.front().sequence)
      best = it;
  completeHead(best->first);
  return true;
}

bool Engines::completeRandom(std::mt19937_64 &random) {
  if (queues.empty())
    return false;
  auto it = queues.begin();
  std::advance(it, random() % queues.size());
  completeHead(it->first);
  return true;
}

size_t Engines::pending() const {
  size_t n = 0;
  for (auto &[queue, list] : queues)
    n += list.size();
  return n;
}

const Op *Engines::oldestInside() const {
  const Pending *oldest = nullptr;
  for (auto &[queue, list] : queues)
    for (const Pending &p : list)
      if (p.inside && (!oldest || p.sequence < oldest->sequence))
        oldest = &p;
  return oldest ? oldest->inside : nullptr;
}
