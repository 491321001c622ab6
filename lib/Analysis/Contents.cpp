// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Contents.h"
#include "Program.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

bool Content::operator==(const Content &other) const {
  return kind == other.kind && task == other.task && stage == other.stage &&
         block == other.block && reference == other.reference &&
         done == other.done && begin == other.begin && end == other.end &&
         width == other.width && scaled == other.scaled &&
         masked == other.masked;
}

uint32_t protocol::getSteps(int64_t begin, int64_t end) {
  uint64_t below = (uint64_t(1) << begin / 16) - 1;
  return ((uint64_t(1) << end / 16) - 1) & ~below;
}

int32_t ContentTable::getNumber(const Content &content) {
  size_t hash = llvm::hash_combine(
      static_cast<int32_t>(content.kind), content.task, content.stage,
      content.block, content.reference, content.done, content.begin,
      content.end, content.width, content.scaled, content.masked);
  // The map keeps two keys for itself.
  SmallVector<int32_t, 1> &known = numbers[hash >> 1];
  for (int32_t index : known)
    if (contents[index] == content)
      return kFirstContent + index;
  known.push_back(contents.size());
  contents.push_back(content);
  return kFirstContent + known.back();
}

const Content *ContentTable::lookup(int32_t number) const {
  int64_t index = int64_t(number) - kFirstContent;
  if (index < 0 || index >= static_cast<int64_t>(contents.size()))
    return nullptr;
  return &contents[index];
}

std::string protocol::describe(const Content &content, int32_t depth) {
  std::string task = " of task " + std::to_string(content.task);
  std::string stage = "stage " + std::to_string(content.stage);
  std::string block = "K/V block " + std::to_string(content.block);
  switch (content.kind) {
  case Kind::Block:
    return block + task;
  case Kind::Q:
    return "Q of " + stage + task;
  case Kind::K:
    return "K of " + block + task;
  case Kind::V:
    return "V of " + block + task;
  case Kind::S:
    return std::string(content.done != 0 && depth != 0 &&
                               content.done != getSteps(0, depth)
                           ? "a part of "
                           : "") +
           (content.masked ? "masked " : "") +
           (content.scaled ? "scaled S of " : "S of ") + stage + " and " +
           block + task;
  case Kind::X:
    return "exponents of " + stage + " and " + block + task;
  case Kind::P:
    return "P of " + stage + " and " + block + task;
  case Kind::O: {
    std::string sum = "O of " + stage + task;
    if (content.block > 0)
      sum += " over K/V blocks 1 to " + std::to_string(content.block);
    if (content.done)
      sum += std::string(content.block > 0 ? " and" : " over") +
             " a part of block " + std::to_string(content.block + 1);
    return sum + " against the reference of block " +
           std::to_string(content.reference);
  }
  case Kind::Result:
    return "the result of " + stage + task;
  case Kind::Reference:
    return "the reference of " + stage + " and " + block + task;
  case Kind::Factor:
    return "the factor of " + stage + " and " + block + task;
  case Kind::Sum:
    return "the sum of " + stage + " up to " + block + task;
  case Kind::Zero:
    return "zeros";
  }
  return "";
}
