// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Damaged text must end in a value or an error, never in a crash. The seeds are
// fixed, so that a failure repeats.

#include "AttentionLaunch.h"
#include "gtest/gtest.h"
#include <random>

using namespace fa4;
using namespace fa4::test;

static std::string damage(std::string text, std::mt19937 &random,
                          llvm::StringRef alphabet) {
  int edits = 1 + random() % 4;
  for (int i = 0; i != edits && !text.empty(); ++i) {
    size_t position = random() % text.size();
    char letter = alphabet[random() % alphabet.size()];
    switch (random() % 5) {
    case 0:
      text.erase(position, 1 + random() % 3);
      break;
    case 1:
      text.insert(position, 1, letter);
      break;
    case 2:
      text[position] = letter;
      break;
    case 3: {
      size_t length = 1 + random() % 20;
      text.insert(random() % text.size(), text.substr(position, length));
      break;
    }
    case 4:
      if (random() % 8 == 0)
        text.resize(position);
      else
        text[position] = static_cast<char>(random());
      break;
    }
  }
  return text;
}

TEST(Fuzz, Expressions) {
  const std::string seeds[] = {
      "select(Skv > 0, ceildiv(2 * q.stride0, 16), -9223372036854775808)",
      "min(a, b) % max(c, 1) == 0 || log2floor(x) / 3 <= 7 && a != b",
      "((((1))))-(-(-2))*3/4%5",
  };
  std::mt19937 random(20240501);
  Expr::SymbolMap symbols;
  for (const char *name : {"Skv", "q.stride0", "a", "b", "c", "x"})
    symbols[name] = static_cast<int64_t>(random()) - 2147483648LL;
  int good = 0, bad = 0;
  for (int i = 0; i != 60000; ++i) {
    std::string text =
        damage(seeds[i % 3], random, "()+-*/%<>=!&|,. 0123456789aqx_");
    llvm::Expected<Expr> expr = Expr::parse(text);
    if (!expr) {
      ++bad;
      EXPECT_FALSE(llvm::toString(expr.takeError()).empty());
      continue;
    }
    ++good;
    // What parses prints to text that parses to the same.
    std::string printed = expr->str();
    llvm::Expected<Expr> again = Expr::parse(printed);
    ASSERT_TRUE(bool(again)) << text << " printed as " << printed << ": "
                             << llvm::toString(again.takeError());
    ASSERT_EQ(again->str(), printed) << text;
    // Folding keeps the value, or turns an error into a value where the error
    // was in an operand that is not needed.
    llvm::Expected<int64_t> value = expr->evaluate(symbols);
    llvm::Expected<int64_t> folded = expr->fold().evaluate(symbols);
    if (value) {
      ASSERT_TRUE(bool(folded)) << text;
      ASSERT_EQ(*value, *folded) << text;
    } else {
      llvm::consumeError(value.takeError());
      if (!folded)
        llvm::consumeError(folded.takeError());
    }
  }
  // Both outcomes are well represented.
  EXPECT_GT(good, 3000);
  EXPECT_GT(bad, 3000);
}

TEST(Fuzz, Descriptors) {
  std::string seed = makeAttentionDescriptor().toJSON();
  Problem problem = makeProblem(2, 100, 300, 8, 2);
  std::mt19937 random(77);
  int good = 0, bad = 0;
  for (int i = 0; i != 3000; ++i) {
    std::string text =
        damage(seed, random, "{}[]\",:0123456789.-+eE\\ truefalsnBSqkvH*/()");
    auto descriptor = LaunchDescriptor::fromJSON(text);
    if (!descriptor) {
      ++bad;
      EXPECT_FALSE(llvm::toString(descriptor.takeError()).empty());
      continue;
    }
    ++good;
    auto again = LaunchDescriptor::fromJSON(descriptor->toJSON());
    ASSERT_TRUE(bool(again)) << llvm::toString(again.takeError());
    llvm::Expected<BoundLaunch> launch = bind(*descriptor, problem);
    if (!launch)
      llvm::consumeError(launch.takeError());
  }
  EXPECT_GT(good, 50);
  EXPECT_GT(bad, 500);
}

TEST(Fuzz, EveryPrefixOfADescriptor) {
  std::string text = makeAttentionDescriptor().toJSON();
  // All but the final newline.
  for (size_t length = 0; length + 1 < text.size(); length += 13) {
    auto descriptor =
        LaunchDescriptor::fromJSON(llvm::StringRef(text).take_front(length));
    ASSERT_FALSE(bool(descriptor));
    EXPECT_FALSE(llvm::toString(descriptor.takeError()).empty());
  }
}

// Descriptors that never went through verify() must not hurt bind() either.
TEST(Fuzz, UnverifiedDescriptors) {
  std::mt19937 random(5);
  for (int i = 0; i != 2000; ++i) {
    LaunchDescriptor d = makeAttentionDescriptor();
    switch (random() % 6) {
    case 0:
      d.symbols.erase(d.symbols.begin() + random() % d.symbols.size());
      break;
    case 1:
      d.symbols[random() % d.symbols.size()].index =
          random() % 2 ? -1 - int(random() % 9) : 4 + int(random() % 9);
      break;
    case 2:
      d.tensors[random() % d.tensors.size()].strides.pop_back();
      break;
    case 3:
      d.tensors[random() % d.tensors.size()].shape.clear();
      break;
    case 4:
      d.parameters[random() % 4].tensorMap.box.clear();
      break;
    case 5:
      d.derived.erase(d.derived.begin() + random() % d.derived.size());
      break;
    }
    EXPECT_NE(llvm::toString(d.verify()), "");
    llvm::Expected<BoundLaunch> launch =
        bind(d, makeProblem(2, 100, 300, 8, 2));
    if (!launch)
      EXPECT_FALSE(llvm::toString(launch.takeError()).empty());
  }
}
