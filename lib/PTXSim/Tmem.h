// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tensor memory: 128 lanes of 512 columns of 32 bits, its allocator, and
// what is known of each word.

#ifndef PTXSIM_LIB_TMEM_H
#define PTXSIM_LIB_TMEM_H

#include <cstdint>
#include <string>
#include <vector>

namespace ptxsim {

class Tmem {
public:
  static constexpr unsigned kLanes = 128, kColumns = 512;

  struct Allocation {
    uint32_t column;
    uint32_t count;
    unsigned line;
  };

  Tmem();

  uint32_t *row(unsigned lane) { return &words[lane * kColumns]; }
  uint8_t *valid(unsigned lane) { return &init[lane * kColumns]; }

  /// First column of a fresh allocation, or -1 when there is no room now.
  int allocate(uint32_t count, unsigned line);
  bool release(uint32_t column, uint32_t count);
  /// True when all of [column, column + count) is allocated.
  bool allocated(uint32_t column, uint32_t count) const;
  const std::vector<Allocation> &allocations() const { return allocs; }
  uint32_t lastCount() const { return last; }
  bool relinquished = false;

  /// What operations in flight will do to columns, in groups of 16 lanes: a
  /// thread's access to them is unordered.
  enum UseKind : uint8_t {
    StoreWrite,
    TensorWrite,
    TensorRead,
    LoadRead,
    NumUses
  };
  struct Use {
    UseKind kind;
    unsigned lane, lanes, column, columns;
  };
  void begin(const Use &use) { count(use, 1); }
  void end(const Use &use) { count(use, -1); }
  /// True when an operation of this kind is pending on any of the words.
  bool pending(const Use &use) const;

private:
  std::vector<uint32_t> words;
  std::vector<uint8_t> init;
  std::vector<Allocation> allocs;
  uint32_t last = kColumns;
  uint16_t uses[NumUses][8][kColumns] = {};
  uint32_t total[NumUses] = {};

  void count(const Use &use, int delta);
};

} // namespace ptxsim

#endif // PTXSIM_LIB_TMEM_H
