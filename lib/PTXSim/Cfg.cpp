// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Immediate post-dominators of branches: where diverged lanes meet again.

#include "Program.h"

#include <algorithm>

using namespace ptxsim;

namespace {

// Basic blocks; the last one is the virtual exit.
struct Graph {
  std::vector<uint32_t> begin;              // first op of a block
  std::vector<uint32_t> blockOf;            // block of an op
  std::vector<std::vector<uint32_t>> succs; // may repeat
  std::vector<std::vector<uint32_t>> preds;
};

Graph buildGraph(const Program &p) {
  uint32_t n = p.ops.size();
  std::vector<bool> leader(n + 1, false);
  leader[0] = true;
  auto targets = [&](const Op &op, auto &&visit) {
    if (op.kind == OpKind::Branch)
      visit(op.target);
    if (op.kind == OpKind::BranchIndexed)
      for (uint32_t i = 0; i < op.count; ++i)
        visit(p.lists[op.list + i]);
  };
  for (uint32_t i = 0; i < n; ++i) {
    if (p.ops[i].kind == OpKind::Plain)
      continue;
    leader[i + 1] = true;
    targets(p.ops[i], [&](uint32_t t) { leader[t] = true; });
  }
  Graph g;
  g.blockOf.resize(n);
  for (uint32_t i = 0; i < n; ++i) {
    if (leader[i])
      g.begin.push_back(i);
    g.blockOf[i] = g.begin.size() - 1;
  }
  uint32_t blocks = g.begin.size(), exit = blocks;
  g.succs.resize(blocks + 1);
  g.preds.resize(blocks + 1);
  for (uint32_t b = 0; b < blocks; ++b) {
    uint32_t last = (b + 1 < blocks ? g.begin[b + 1] : n) - 1;
    const Op &op = p.ops[last];
    auto edge = [&](uint32_t to) {
      g.succs[b].push_back(to);
      g.preds[to].push_back(b);
    };
    targets(op, [&](uint32_t t) { edge(g.blockOf[t]); });
    bool conditional = op.guard != kNone;
    if (op.kind == OpKind::Exit)
      edge(exit);
    if (op.kind == OpKind::Plain || conditional)
      edge(last + 1 < n ? g.blockOf[last + 1] : exit);
  }
  return g;
}

} // namespace

// Cooper, Harvey and Kennedy's algorithm on the reversed graph.
void ptxsim::computeReconvergence(Program &program) {
  Graph g = buildGraph(program);
  uint32_t blocks = g.succs.size(), exit = blocks - 1;
  std::vector<uint32_t> order; // post-order of the reversed graph
  std::vector<uint32_t> number(blocks, kNone);
  std::vector<std::pair<uint32_t, size_t>> stack{{exit, 0}};
  std::vector<bool> seen(blocks, false);
  seen[exit] = true;
  while (!stack.empty()) {
    auto &[b, next] = stack.back();
    if (next < g.preds[b].size()) {
      uint32_t p = g.preds[b][next++];
      if (!seen[p]) {
        seen[p] = true;
        stack.push_back({p, 0});
      }
      continue;
    }
    number[b] = order.size();
    order.push_back(b);
    stack.pop_back();
  }
  std::vector<uint32_t> ipdom(blocks, kNone);
  ipdom[exit] = exit;
  auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = ipdom[a];
      while (number[b] < number[a])
        b = ipdom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size(); i-- > 0;) {
      uint32_t b = order[i];
      if (b == exit)
        continue;
      uint32_t best = kNone;
      for (uint32_t s : g.succs[b])
        if (ipdom[s] != kNone)
          best = best == kNone ? s : intersect(best, s);
      if (best != ipdom[b]) {
        ipdom[b] = best;
        changed = true;
      }
    }
  }
  for (size_t i = 0; i < program.ops.size(); ++i) {
    Op &op = program.ops[i];
    if (op.kind != OpKind::Branch && op.kind != OpKind::BranchIndexed)
      continue;
    uint32_t p = ipdom[g.blockOf[i]];
    op.reconv = p == kNone || p == exit ? kNone : g.begin[p];
  }
}
