// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Global memory of the simulated device: buffers mapped at chosen 64-bit
// addresses. Pages are committed by the host on first touch, so a buffer of
// several GiB that is only sparsely used costs only what is used.

#ifndef PTXSIM_MEMORY_H
#define PTXSIM_MEMORY_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ptxsim {

class Memory {
public:
  struct Region {
    std::string name;
    uint64_t base = 0;
    uint64_t size = 0;
    uint8_t *data = nullptr;
    bool writable = true;
  };

  Memory();
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Maps `size` zeroed bytes at `base`. Returns the host pointer, or null
  /// when the range is empty, wraps, overlaps another region or the host is
  /// out of memory.
  uint8_t *map(const std::string &name, uint64_t base, uint64_t size,
               bool writable = true);

  /// Maps `size` zeroed bytes at the lowest free address that is a multiple
  /// of `alignment`, with an unmapped gap on either side. Null on failure.
  Region *allocate(const std::string &name, uint64_t size,
                   uint64_t alignment = 256, bool writable = true);

  /// Host pointer for [address, address + size), or null when any byte of it
  /// lies outside every region.
  uint8_t *translate(uint64_t address, uint64_t size) const;

  /// The region that holds `address`, or null.
  const Region *find(uint64_t address) const;

  /// The region of this name, or null.
  Region *byName(const std::string &name);

  /// One line on where `address` lies relative to the nearest region.
  std::string describe(uint64_t address) const;

private:
  std::vector<std::unique_ptr<Region>> regions; // sorted by base
};

} // namespace ptxsim

#endif // PTXSIM_MEMORY_H
