// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Launch/Expr.h"
#include "gtest/gtest.h"
#include <limits>

using namespace fa4;

static constexpr int64_t int64Min = std::numeric_limits<int64_t>::min();
static constexpr int64_t int64Max = std::numeric_limits<int64_t>::max();

static Expr parsed(llvm::StringRef text) {
  llvm::Expected<Expr> expr = Expr::parse(text);
  if (expr)
    return *expr;
  ADD_FAILURE() << text.str() << ": " << llvm::toString(expr.takeError());
  return Expr();
}

static std::string parseError(llvm::StringRef text) {
  llvm::Expected<Expr> expr = Expr::parse(text);
  return expr ? "" : llvm::toString(expr.takeError());
}

static Expr::SymbolMap symbols() {
  Expr::SymbolMap map;
  map["B"] = 2;
  map["Sq"] = 100;
  map["Skv"] = 0;
  map["Hq"] = 32;
  map["Hkv"] = 8;
  map["q.stride0"] = 409600;
  map["big"] = int64Max;
  return map;
}

static int64_t valueOf(llvm::StringRef text) {
  llvm::Expected<int64_t> value = parsed(text).evaluate(symbols());
  if (value)
    return *value;
  ADD_FAILURE() << text.str() << ": " << llvm::toString(value.takeError());
  return 0;
}

static std::string valueError(llvm::StringRef text) {
  llvm::Expected<int64_t> value = parsed(text).evaluate(symbols());
  return value ? "" : llvm::toString(value.takeError());
}

TEST(Expr, Evaluates) {
  EXPECT_EQ(valueOf("1 + 2 * 3"), 7);
  EXPECT_EQ(valueOf("(1 + 2) * 3"), 9);
  EXPECT_EQ(valueOf("10 - 4 - 3"), 3);
  EXPECT_EQ(valueOf("100 / 7 / 2"), 7);
  EXPECT_EQ(valueOf("2 * q.stride0"), 819200);
  EXPECT_EQ(valueOf("-B"), -2);
  EXPECT_EQ(valueOf("--B"), 2);
  EXPECT_EQ(valueOf("3 - -4"), 7);
  EXPECT_EQ(valueOf("min(3, B) + max(3, B)"), 5);
  EXPECT_EQ(valueOf("select(Skv > 0, 1, 2)"), 2);
  EXPECT_EQ(valueOf("log2floor(1)"), 0);
  EXPECT_EQ(valueOf("log2floor(127)"), 6);
  EXPECT_EQ(valueOf("log2floor(big)"), 62);
  EXPECT_EQ(valueOf("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 == 1 && 1 != 2"),
            1);
  EXPECT_EQ(valueOf("2 < 1 || 3 <= 2 || 2 > 3 || 2 >= 3 || 1 == 2 || 1 != 1"),
            0);
  EXPECT_EQ(valueOf("5 && 7"), 1);
  EXPECT_EQ(valueOf("0 || 7"), 1);
  EXPECT_EQ(valueOf("1 || 0 && 0"), 1);
  EXPECT_EQ(valueOf("-9223372036854775808"), int64Min);
  EXPECT_EQ(valueOf(" 1+\t2 "), 3);
}

// For every sign: the quotient is floored or ceiled as real division says, and
// the remainder is what the floor leaves.
TEST(Expr, DivisionOfEverySign) {
  for (int64_t a = -20; a <= 20; ++a)
    for (int64_t b = -7; b <= 7; ++b) {
      if (b == 0)
        continue;
      auto eval = [&](const Expr &e) {
        llvm::Expected<int64_t> value = e.evaluate(symbols());
        return value ? *value : int64Min;
      };
      // The largest q with q <= a / b, by counting.
      int64_t floor = -100;
      while (b > 0 ? (floor + 1) * b <= a : (floor + 1) * b >= a)
        ++floor;
      bool exact = floor * b == a;
      EXPECT_EQ(eval(Expr(a) / b), floor) << a << " / " << b;
      EXPECT_EQ(eval(ceilDiv(a, b)), exact ? floor : floor + 1)
          << a << " " << b;
      EXPECT_EQ(eval(Expr(a) % b), a - floor * b) << a << " % " << b;
    }
}

TEST(Expr, EvaluatesOnlyWhatIsNeeded) {
  EXPECT_EQ(valueOf("select(Skv > 0, 1 / Skv, 5)"), 5);
  EXPECT_EQ(valueOf("Skv == 0 || 10 / Skv > 1"), 1);
  EXPECT_EQ(valueOf("Skv != 0 && nowhere"), 0);
}

TEST(Expr, EvaluationErrors) {
  EXPECT_EQ(valueError("Hq / Skv"),
            "division by zero in 'Hq / Skv' (operands 32, 0)");
  EXPECT_EQ(valueError("1 + Hq % Skv"),
            "division by zero in 'Hq % Skv' (operands 32, 0)");
  EXPECT_EQ(valueError("ceildiv(1, 0)"),
            "division by zero in 'ceildiv(1, 0)' (operands 1, 0)");
  EXPECT_EQ(valueError("big + 1"), "a result beyond 64 bits in 'big + 1' "
                                   "(operands 9223372036854775807, 1)");
  EXPECT_EQ(valueError("-big - 2"), "a result beyond 64 bits in '0 - big - 2' "
                                    "(operands -9223372036854775807, 2)");
  EXPECT_EQ(valueError("big * 2"), "a result beyond 64 bits in 'big * 2' "
                                   "(operands 9223372036854775807, 2)");
  EXPECT_EQ(valueError("(-9223372036854775808) / -1"),
            "a result beyond 64 bits in '-9223372036854775808 / -1' (operands "
            "-9223372036854775808, -1)");
  EXPECT_EQ(valueOf("-9223372036854775808 % -1"), 0);
  EXPECT_EQ(valueError("log2floor(Skv)"),
            "a logarithm of a value below 1 in 'log2floor(Skv)' (operands 0)");
  EXPECT_EQ(valueError("B + seq"), "unknown symbol 'seq'");
  EXPECT_EQ(valueError("q.stride9"), "unknown symbol 'q.stride9'");
}

TEST(Expr, ParseErrorsHaveColumns) {
  EXPECT_EQ(parseError(""), "column 1: expected a number, a symbol, a function "
                            "or '(', but got the end of the text");
  EXPECT_EQ(parseError("1 +"), "column 4: expected a number, a symbol, a "
                               "function or '(', but got the end of the text");
  EXPECT_EQ(parseError("(1 + 2"),
            "column 7: expected ')', but got the end of the text");
  EXPECT_EQ(parseError("1 2"), "column 3: expected an operator or the end of "
                               "the text, but got '2'");
  EXPECT_EQ(parseError("min(1)"),
            "column 6: expected ',' and operand 2 of 2 of "
            "min, but got ')'");
  EXPECT_EQ(parseError("max(1, 2, 3)"),
            "column 9: expected ')' after 2 operands of max, but got ','");
  EXPECT_EQ(
      parseError("log2floor(1, 2)"),
      "column 12: expected ')' after 1 operand of log2floor, but got ','");
  EXPECT_EQ(parseError("select + 1"),
            "column 8: expected '(' after select, but got '+'");
  EXPECT_EQ(parseError("sqrt(4)"),
            "column 5: expected ceildiv, min, max, select or log2floor before "
            "'(', but got 'sqrt'");
  EXPECT_EQ(parseError("a < b < c"),
            "column 7: expected parentheses around one of the comparisons, but "
            "got '<'");
  EXPECT_EQ(parseError("9223372036854775808"),
            "column 1: expected a number that fits 64 bits, but got "
            "'9223372036854775808'");
  EXPECT_EQ(parseError("12ab"),
            "column 3: expected an operator after the number, but got 'ab'");
  EXPECT_EQ(parseError("q."),
            "column 1: expected a number, a symbol, a function "
            "or '(', but got 'q'");
  EXPECT_EQ(parseError("a & b"), "column 3: expected an operator or the end of "
                                 "the text, but got '&'");
  EXPECT_EQ(parseError("1.5"), "column 2: expected an operator or the end of "
                               "the text, but got '.'");
}

TEST(Expr, NestingIsBounded) {
  auto repeat = [](llvm::StringRef text, int times) {
    std::string result;
    for (int i = 0; i != times; ++i)
      result += text;
    return result;
  };
  EXPECT_EQ(parseError(repeat("(", 100) + "1" + repeat(")", 100)), "");
  EXPECT_EQ(parseError("1" + repeat(" + 1", 150)), "");
  for (const std::string &text :
       {repeat("(", 100000), repeat("-", 100000) + "x",
        "1" + repeat(" + 1", 100000), repeat("min(", 100000),
        "1" + repeat(" - (1", 100000)})
    EXPECT_NE(parseError(text).find("too deep, expected at most 200 levels"),
              std::string::npos)
        << parseError(text);
  Expr deep = Expr::symbol("B");
  for (int i = 0; i != 300; ++i)
    deep = deep + 1;
  llvm::Expected<int64_t> value = deep.evaluate(symbols());
  ASSERT_FALSE(bool(value));
  EXPECT_EQ(llvm::toString(value.takeError()),
            "the expression nests 301 deep, expected at most 200");
}

TEST(Expr, PrintsCanonically) {
  const std::pair<const char *, const char *> texts[] = {
      {"1+2*3", "1 + 2 * 3"},
      {"(1+2)*3", "(1 + 2) * 3"},
      {"((a))", "a"},
      {"a-(b-c)", "a - (b - c)"},
      {"(a-b)-c", "a - b - c"},
      {"a*(b/c)", "a * (b / c)"},
      {"a%b*c", "a % b * c"},
      {"-a*b", "(0 - a) * b"},
      {"a- -5", "a - -5"},
      {"(a<b)==(c<d)", "(a < b) == (c < d)"},
      {"a||b&&c", "a || b && c"},
      {"(a||b)&&c", "(a || b) && c"},
      {"a||(b||c)", "a || (b || c)"},
      {"select( a>0 ,min(b,c),ceildiv(d,2))",
       "select(a > 0, min(b, c), ceildiv(d, 2))"},
      {"log2floor(a+1)", "log2floor(a + 1)"},
      {"a==b+1", "a == b + 1"},
  };
  for (auto [text, canonical] : texts) {
    EXPECT_EQ(parsed(text).str(), canonical);
    EXPECT_EQ(parsed(canonical).str(), canonical);
  }
}

TEST(Expr, BuildsFromOperators) {
  Expr b = Expr::symbol("B"), hq = Expr::symbol("Hq"),
       hkv = Expr::symbol("Hkv");
  EXPECT_EQ((2 * (b + 1) % 3).str(), "2 * (B + 1) % 3");
  EXPECT_EQ((128 / (hq / hkv) - b).str(), "128 / (Hq / Hkv) - B");
  EXPECT_EQ(select(b > 1 && hq != hkv || b <= 0, min(b, 2), max(1, hq)).str(),
            "select(B > 1 && Hq != Hkv || B <= 0, min(B, 2), max(1, Hq))");
  EXPECT_EQ((log2Floor(b) == ceilDiv(hq, 3)).str(),
            "log2floor(B) == ceildiv(Hq, 3)");
  EXPECT_EQ((b < 1).str(), "B < 1");
  EXPECT_EQ((b >= 1).str(), "B >= 1");
  EXPECT_EQ(Expr().str(), "0");
  EXPECT_TRUE((b + hq).isSame(parsed("B + Hq")));
  EXPECT_FALSE((b + hq).isSame(hq + b));
  EXPECT_EQ((b + hq * b + hkv).getSymbols(),
            (std::vector<std::string>{"B", "Hq", "Hkv"}));
}

TEST(Expr, Folds) {
  const std::pair<const char *, const char *> texts[] = {
      {"1 + 2 * 3", "7"},
      {"B + 0", "B"},
      {"0 + B", "B"},
      {"B - 0", "B"},
      {"1 * B * 1", "B"},
      {"B / 1", "B"},
      {"ceildiv(B, 1)", "B"},
      {"0 - B", "0 - B"},
      {"select(1 < 2, B, 1 / 0)", "B"},
      {"select(B > 1, 2 * 8, 16)", "select(B > 1, 16, 16)"},
      {"0 && nowhere", "0"},
      {"2 || nowhere", "1"},
      {"1 && 7", "1"},
      {"1 && B", "1 && B"},
      {"1 / 0", "1 / 0"},
      {"9223372036854775807 + 1", "9223372036854775807 + 1"},
      {"log2floor(4 * 16)", "6"},
      {"log2floor(0)", "log2floor(0)"},
      {"min(3, 2) + max(3, 2) + -7 % 4", "6"},
  };
  for (auto [text, folded] : texts)
    EXPECT_EQ(parsed(text).fold().str(), folded) << text;
}

TEST(Expr, SymbolNames) {
  for (const char *name : {"B", "Skv", "_x", "q.stride0", "a.b.c", "select2"})
    EXPECT_TRUE(Expr::isValidSymbol(name)) << name;
  for (const char *name : {"", "1a", "a.", ".a", "a..b", "a b", "min", "max",
                           "select", "ceildiv", "log2floor", "a-b", "a.1"})
    EXPECT_FALSE(Expr::isValidSymbol(name)) << name;
}
