// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptxsim/Memory.h"

#include <algorithm>
#include <cstdlib>

using namespace ptxsim;

Memory::Memory() = default;

Memory::~Memory() {
  for (auto &r : regions)
    std::free(r->data);
}

uint8_t *Memory::map(const std::string &name, uint64_t base, uint64_t size,
                     bool writable) {
  if (size == 0 || base + size < base)
    return nullptr;
  auto next = std::lower_bound(
      regions.begin(), regions.end(), base,
      [](auto &r, uint64_t address) { return r->base < address; });
  if (next != regions.end() && (*next)->base < base + size)
    return nullptr;
  if (next != regions.begin()) {
    auto &before = *std::prev(next);
    if (before->base + before->size > base)
      return nullptr;
  }
  // The host commits zero pages on first touch.
  auto *data = static_cast<uint8_t *>(std::calloc(size, 1));
  if (!data)
    return nullptr;
  auto region = std::make_unique<Region>();
  region->name = name;
  region->base = base;
  region->size = size;
  region->data = data;
  region->writable = writable;
  regions.insert(next, std::move(region));
  return data;
}

Memory::Region *Memory::allocate(const std::string &name, uint64_t size,
                                 uint64_t alignment, bool writable) {
  constexpr uint64_t kFirst = uint64_t(1) << 32, kGap = 1 << 16;
  uint64_t base = kFirst;
  for (auto &r : regions) {
    if (r->base >= kGap && base + size <= r->base - kGap)
      break;
    base = std::max(base, r->base + r->size + kGap);
    base = (base + alignment - 1) / alignment * alignment;
  }
  if (!map(name, base, std::max<uint64_t>(size, 1), writable))
    return nullptr;
  for (auto &r : regions)
    if (r->base == base) {
      r->size = size;
      return r.get();
    }
  return nullptr;
}

const Memory::Region *Memory::find(uint64_t address) const {
  auto next = std::upper_bound(regions.begin(), regions.end(), address,
                               [](uint64_t a, auto &r) { return a < r->base; });
  if (next == regions.begin())
    return nullptr;
  const Region *r = std::prev(next)->get();
  return address - r->base < r->size ? r : nullptr;
}

uint8_t *Memory::translate(uint64_t address, uint64_t size) const {
  const Region *r = find(address);
  if (!r || size > r->size - (address - r->base))
    return nullptr;
  return r->data + (address - r->base);
}

Memory::Region *Memory::byName(const std::string &name) {
  for (auto &r : regions)
    if (r->name == name)
      return r.get();
  return nullptr;
}

std::string Memory::describe(uint64_t address) const {
  const Region *best = nullptr;
  uint64_t distance = ~uint64_t(0);
  for (auto &r : regions) {
    uint64_t d = address < r->base ? r->base - address
                 : address - r->base < r->size
                     ? 0
                     : address - (r->base + r->size) + 1;
    if (d < distance) {
      distance = d;
      best = r.get();
    }
  }
  if (!best)
    return "nothing is mapped";
  if (address < best->base)
    return std::to_string(best->base - address) + " bytes before '" +
           best->name + "'";
  return std::to_string(address - best->base) + " bytes into '" + best->name +
         "' of " + std::to_string(best->size) + " bytes" +
         (best->writable ? "" : ", which is read-only");
}
