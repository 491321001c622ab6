// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The interpreter: lanes that agree run together, diverged lanes meet again at
// the branch's immediate post-dominator.

#include "Machine.h"

#include <algorithm>

using namespace ptxsim;

Warp::Warp(Cta &cta, unsigned id, uint32_t lanes)
    : cta(cta), id(id), lanes(lanes), live(lanes),
      tmemLoads(*this, cta.options.poisonUnwaitedLoads) {
  const Program &p = cta.program;
  // Registers start as a NaN of every width.
  storage.assign(p.regBytes + 64, 0xff);
  uintptr_t base = reinterpret_cast<uintptr_t>(storage.data());
  regs = storage.data() + (64 - base % 64) % 64;
  for (const Program::Constant &k : p.constants) {
    for (unsigned i = 0; i < 32; ++i) {
      if (k.bits == 16)
        reg<uint16_t>(k.offset)[i] = uint16_t(k.value);
      else if (k.bits == 32)
        reg<uint32_t>(k.offset)[i] = uint32_t(k.value);
      else if (k.bits == 64)
        reg<uint64_t>(k.offset)[i] = k.value;
    }
  }
  const auto &block = cta.launch.block, &grid = cta.launch.grid;
  for (auto &special : p.specials) {
    const std::string &name = special.first;
    const auto &slot = special.second;
    auto axis = [&](const std::array<uint32_t, 3> &v) {
      return v[name.back() - 'x'];
    };
    if (slot.second == Type::U64) { // %gridid
      std::fill_n(reg<uint64_t>(slot.first), 32, name == "%gridid");
      continue;
    }
    if (slot.second == Type::Pred) { // %is_explicit_cluster
      pred(slot.first) = p.fn->explicitCluster ? ~0u : 0;
      continue;
    }
    for (unsigned i = 0; i < 32; ++i) {
      uint32_t linear = id * 32 + i, v = 0;
      if (name.compare(0, 5, "%tid.") == 0)
        v = axis({linear % block[0], linear / block[0] % block[1],
                  linear / block[0] / block[1]});
      else if (name.compare(0, 6, "%ntid.") == 0)
        v = axis(block);
      else if (name.compare(0, 7, "%ctaid.") == 0 ||
               name.compare(0, 11, "%clusterid.") == 0)
        v = axis(cta.id);
      else if (name.compare(0, 8, "%nctaid.") == 0 ||
               name.compare(0, 12, "%nclusterid.") == 0)
        v = axis(grid);
      else if (name == "%laneid")
        v = i;
      else if (name == "%warpid")
        v = id;
      else if (name == "%nwarpid")
        v = 64;
      else if (name == "%nsmid")
        v = 148;
      else if (name == "%smid")
        v = (cta.id[0] + grid[0] * (cta.id[1] + grid[1] * cta.id[2])) % 148;
      else if (name == "%lanemask_eq")
        v = 1u << i;
      else if (name == "%lanemask_lt")
        v = (1u << i) - 1;
      else if (name == "%lanemask_le")
        v = (2u << i) - 1;
      else if (name == "%lanemask_ge")
        v = ~((1u << i) - 1);
      else if (name == "%lanemask_gt")
        v = ~((2u << i) - 1);
      else if (name == "%dynamic_smem_size")
        v = cta.launch.dynamicSharedBytes;
      else if (name == "%total_smem_size") // in units that are allocated
        v = (cta.shared.end() - kSharedBase + 127) / 128 * 128;
      else if (name == "%aggr_smem_size") // with what the system reserves
        v = (cta.shared.end() + 127) / 128 * 128;
      else if (name == "%reserved_smem_offset_end" ||
               name == "%reserved_smem_offset_cap")
        v = kSharedBase;
      else if (name.compare(0, 16, "%cluster_nctaid.") == 0 ||
               name == "%cluster_nctarank")
        v = 1;
      reg<uint32_t>(slot.first)[i] = v;
    }
  }
  local.assign(p.localBytes * 32, 0xff);
  splits.push_back({0, lanes, nullptr, false, 0});
}

Step Warp::fault(const Op &op, const char *kind, std::string message) {
  cta.fault(op, id, kind, std::move(message));
  return Step::Fault;
}

bool Warp::run(unsigned budget) {
  bool active = false;
  for (size_t i = 0; i < splits.size() && !cta.faulted();) {
    current = i;
    unsigned left = budget;
    Stop stop = runSplit(left);
    active |= stop == Stop::Budget || stop == Stop::Gone;
    if (stop == Stop::Gone) {
      // The split was removed; its successor took its place.
      continue;
    }
    ++i;
  }
  return active;
}

Warp::Stop Warp::runSplit(unsigned &budget) {
  const Program &program = cta.program;
  for (;;) {
    if (splits[current].meet && splits[current].pc == splits[current].meet->pc)
      if (!meet())
        return Stop::Gone;
    if (budget == 0)
      return Stop::Budget;
    --budget;
    Split &s = splits[current];
    const Op &op = program.ops[s.pc];
    uint32_t mask = s.mask;
    if (op.guard != kNone)
      mask &= predMask(op.guard, op.guardNegated);
    ++cta.stats.warpInstructions;
    if (op.flags & kLoaded)
      tmemLoads.touch(op, mask);
    if (op.kind != OpKind::Plain) {
      if (op.kind == OpKind::Exit) {
        exitLanes(mask);
        if (splits[current].mask == 0) {
          splits.erase(splits.begin() + current);
          return Stop::Gone;
        }
        ++splits[current].pc;
      } else if (op.kind == OpKind::Branch) {
        branch(op, mask, op.target);
      } else if (!branchIndexed(op, mask)) {
        return Stop::Blocked;
      }
      continue;
    }
    if (mask == 0 && !(op.flags & kAlways)) {
      ++s.pc;
      continue;
    }
    if ((op.flags & kAligned) && mask != live) {
      fault(op, "divergence",
            "an '.aligned' instruction is executed by lanes " +
                hexString(mask) + " of a warp whose live lanes are " +
                hexString(live));
      return Stop::Blocked;
    }
    if (op.flags & kSums)
      formSums(op, mask);
    Step step;
    if (op.flags & kWarpSync)
      step = warpSync(op, mask);
    else
      step = op.fn(*this, op, mask);
    switch (step) {
    case Step::Next: {
      Split &now = splits[current];
      now.armed = false;
      ++now.pc;
      break;
    }
    case Step::Yield:
      splits[current].armed = false;
      ++splits[current].pc;
      return Stop::Yield;
    case Step::Blocked:
    case Step::Fault:
      return Stop::Blocked;
    }
  }
}

void Warp::formSums(const Op &op, uint32_t mask) {
  for (uint32_t i = 0; i < op.sumCount; ++i) {
    const Program::Sum &s = cta.program.sums[op.sums + i];
    forLanes(mask, [&](unsigned lane) {
      if (s.bits == 32)
        reg<uint32_t>(s.to)[lane] =
            reg<uint32_t>(s.from)[lane] + uint32_t(s.value);
      else
        reg<uint64_t>(s.to)[lane] =
            reg<uint64_t>(s.from)[lane] + uint64_t(s.value);
    });
  }
}

// At its meeting point the split waits for the other lanes. False when it was
// merged away.
bool Warp::meet() {
  while (splits[current].meet &&
         splits[current].pc == splits[current].meet->pc) {
    auto point = splits[current].meet;
    point->arrived |= splits[current].mask;
    if ((point->members & live & ~point->arrived) != 0) {
      if (std::find(parked.begin(), parked.end(), point) == parked.end())
        parked.push_back(point);
      splits.erase(splits.begin() + current);
      return false;
    }
    parked.erase(std::remove(parked.begin(), parked.end(), point),
                 parked.end());
    splits[current].mask = point->arrived & live;
    splits[current].meet = point->outer;
  }
  return true;
}

void Warp::branch(const Op &op, uint32_t taken, uint32_t target) {
  Split &s = splits[current];
  uint32_t rest = s.mask & ~taken;
  if (rest == 0) {
    s.pc = target;
    return;
  }
  if (taken == 0) {
    ++s.pc;
    return;
  }
  if (!cta.strict() && op.reconv != kNone &&
      !(s.meet && s.meet->pc == op.reconv)) {
    auto point = std::make_shared<Rendezvous>();
    point->pc = op.reconv;
    point->members = s.mask;
    point->outer = s.meet;
    s.meet = point;
  }
  Split other = s;
  other.pc = target;
  other.mask = taken;
  s.mask = rest;
  ++s.pc;
  splits.push_back(std::move(other));
}

bool Warp::branchIndexed(const Op &op, uint32_t mask) {
  const uint32_t *index = reg<uint32_t>(op.a);
  uint32_t bad = 0;
  forLanes(mask, [&](unsigned lane) {
    if (index[lane] >= op.count)
      bad |= 1u << lane;
  });
  if (bad) {
    fault(op, "bad-branch",
          "branch index " + std::to_string(index[__builtin_ctz(bad)]) +
              " is outside a list of " + std::to_string(op.count) + " targets");
    return false;
  }
  if (mask == 0) {
    ++splits[current].pc;
    return true;
  }
  // One target at a time; the remaining lanes come back to this instruction.
  uint32_t first = index[__builtin_ctz(mask)], same = 0;
  forLanes(mask, [&](unsigned lane) {
    if (index[lane] == first)
      same |= 1u << lane;
  });
  uint32_t whole = splits[current].mask;
  branch(op, same, cta.program.lists[op.list + first]);
  if (same != whole && mask != same)
    --splits[current].pc; // the rest still has to branch
  return true;
}

void Warp::exitLanes(uint32_t mask) {
  splits[current].mask &= ~mask;
  live &= ~mask;
  if (mask) {
    ++cta.epoch;
    for (unsigned i = 0; i < 16; ++i)
      cta.namedBarrierCheck(i);
    releaseParked();
  }
}

// Lanes that exited are no longer waited for.
void Warp::releaseParked() {
  for (size_t i = 0; i < parked.size();) {
    auto point = parked[i];
    if (point->members & live & ~point->arrived) {
      ++i;
      continue;
    }
    parked.erase(parked.begin() + i);
    uint32_t mask = point->arrived & live;
    if (mask)
      splits.push_back({point->pc, mask, point->outer, false, 0});
  }
}

// Instructions with a member mask wait for all of its lanes; the instruction
// then runs once for all of them.
Step Warp::warpSync(const Op &op, uint32_t mask) {
  const uint32_t *members = reg<uint32_t>(op.member);
  uint32_t want = members[__builtin_ctz(mask)];
  bool same = true;
  forLanes(mask, [&](unsigned lane) { same &= members[lane] == want; });
  if (!same)
    return fault(op, "divergence", "lanes give different member masks");
  if (mask & ~want)
    return fault(op, "divergence",
                 "lanes " + hexString(mask & ~want) +
                     " execute this but are not in the member mask " +
                     hexString(want));
  uint32_t pc = splits[current].pc, together = 0;
  std::vector<size_t> group;
  for (size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].pc != pc || (i != current && !splits[i].armed))
      continue;
    uint32_t m = splits[i].mask;
    if (op.guard != kNone)
      m &= predMask(op.guard, op.guardNegated);
    if (members[__builtin_ctz(m ? m : 1)] != want)
      continue;
    together |= m;
    group.push_back(i);
  }
  if (want & live & ~together) {
    splits[current].armed = true;
    return Step::Blocked;
  }
  Step step = op.fn(*this, op, together);
  if (step != Step::Next || group.size() == 1)
    return step;
  // Without meeting points the lanes stay together from here on.
  for (size_t i = group.size(); i-- > 0;) {
    Split &s = splits[group[i]];
    s.armed = false;
    if (group[i] == current)
      continue;
    if (s.meet == splits[current].meet) {
      splits[current].mask |= s.mask;
      splits.erase(splits.begin() + group[i]);
      if (group[i] < current)
        --current;
    } else {
      ++s.pc;
    }
  }
  return Step::Next;
}
