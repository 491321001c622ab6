// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tmem.h"

#include <algorithm>

using namespace ptxsim;

// An unwritten word reads as this NaN where reading it is not a fault.
static constexpr uint32_t kPoison = 0x7fffdead;

Tmem::Tmem() : words(kLanes * kColumns, kPoison), init(kLanes * kColumns, 0) {}

int Tmem::allocate(uint32_t count, unsigned line) {
  for (uint32_t column = 0; column + count <= kColumns; column += count) {
    bool free = std::none_of(allocs.begin(), allocs.end(), [&](auto &a) {
      return a.column < column + count && column < a.column + a.count;
    });
    if (!free)
      continue;
    allocs.push_back({column, count, line});
    last = count;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::fill_n(row(lane) + column, count, kPoison);
      std::fill_n(valid(lane) + column, count, 0);
    }
    return int(column);
  }
  return -1;
}

bool Tmem::release(uint32_t column, uint32_t count) {
  auto it = std::find_if(allocs.begin(), allocs.end(), [&](auto &a) {
    return a.column == column && a.count == count;
  });
  if (it == allocs.end())
    return false;
  allocs.erase(it);
  return true;
}

bool Tmem::allocated(uint32_t column, uint32_t count) const {
  // Allocations may be neighbours: walk from one to the next.
  uint64_t end = uint64_t(column) + count;
  for (uint64_t at = column; at < end;) {
    auto it = std::find_if(allocs.begin(), allocs.end(), [&](auto &a) {
      return a.column <= at && at < a.column + a.count;
    });
    if (it == allocs.end())
      return false;
    at = it->column + it->count;
  }
  return true;
}

void Tmem::count(const Use &use, int delta) {
  total[use.kind] += delta;
  for (unsigned g = use.lane / 16; g < (use.lane + use.lanes + 15) / 16; ++g)
    for (unsigned c = use.column; c < use.column + use.columns; ++c)
      uses[use.kind][g][c] = uint16_t(uses[use.kind][g][c] + delta);
}

bool Tmem::pending(const Use &use) const {
  if (total[use.kind] == 0)
    return false;
  for (unsigned g = use.lane / 16; g < (use.lane + use.lanes + 15) / 16; ++g)
    for (unsigned c = use.column; c < use.column + use.columns; ++c)
      if (uses[use.kind][g][c])
        return true;
  return false;
}
