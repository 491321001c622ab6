// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tiles, fragments and rows hold, as symbols: "S of stage 0 and K/V block
// 2 of task 1". Registers and atoms hold their numbers.

#ifndef FA4_LIB_ANALYSIS_CONTENTS_H
#define FA4_LIB_ANALYSIS_CONTENTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::fa4::protocol {

enum class Kind : int32_t {
  Block,     ///< The number of a K/V block, as loops and fa4.first_kv give it.
  Q,         ///< A query tile.
  K,         ///< A K block.
  V,         ///< A V block.
  S,         ///< Q * K^T; `done` says which steps of K, `scaled` whether a
             ///< `fa4.scale` has multiplied it, `masked` whether a `fa4.mask`
             ///< has hidden keys.
  X,         ///< S against the reference of its block.
  P,         ///< Weights against the reference of their block.
  O,         ///< P * V over blocks 1 to `block`, against the reference of
             ///< `reference`, and the steps `done` of the block after.
  Result,    ///< O divided by the sums over all blocks.
  Reference, ///< Of block `block`.
  Factor,    ///< From the reference of the block before to that of `block`.
  Sum,       ///< Of weights over blocks 1 to `block`, against its reference.
  Zero,      ///< Nothing yet: an accumulator before its first product.
};

/// Tasks and blocks count from 1. Of a tile, `begin` is where column 0 would
/// lie, in bytes from the start of the base ring's row; of a fragment, `begin`
/// and `end` are the columns that it holds.
struct Content {
  Kind kind;
  int32_t task = 0, stage = -1, block = 0, reference = 0;
  uint32_t done = 0; ///< Of a product: bit i for elements 16i to 16i + 15 of K.
  int32_t begin = 0, end = 0;
  int32_t width = 0; ///< Bytes an element, of a tile.
  bool scaled = false, masked = false;

  bool operator==(const Content &other) const;
};

/// Bits of `done` for the elements of K from `begin` to `end`, multiples of 16.
uint32_t getSteps(int64_t begin, int64_t end);

/// "S of stage 0 and K/V block 2 of task 1". Of S that lacks some of the head
/// dimension's `depth` elements, where that is given, it is "a part".
std::string describe(const Content &content, int32_t depth = 0);

/// Gives equal contents equal numbers.
class ContentTable {
public:
  int32_t getNumber(const Content &content);
  /// What a number stands for; null for a number that is no content's.
  const Content *lookup(int32_t number) const;

private:
  std::vector<Content> contents;
  llvm::DenseMap<size_t, SmallVector<int32_t, 1>> numbers;
};

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_CONTENTS_H
