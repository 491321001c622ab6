// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExprOperators.h"
#include "fa4/Launch/Expr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace fa4;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;

static bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_'; }
static bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_'; }

/// The length of the symbol at the start of `text`; 0 if none starts there.
static size_t getSymbolLength(StringRef text) {
  size_t length = 0;
  while (true) {
    if (length == text.size() || !isNameStart(text[length]))
      return 0;
    while (length != text.size() && isNamePart(text[length]))
      ++length;
    if (length == text.size() || text[length] != '.')
      return length;
    ++length;
  }
}

static const FunctionInfo *findFunction(StringRef name) {
  for (const FunctionInfo &info : functionInfos)
    if (name == info.name)
      return &info;
  return nullptr;
}

bool Expr::isValidSymbol(StringRef name) {
  return !name.empty() && getSymbolLength(name) == name.size() &&
         !findFunction(name);
}

namespace {

/// Recursive descent over the grammar in Expr.h. Every level that recurses
/// counts, so that text of any shape ends in an error and not in a full stack.
class Parser {
public:
  explicit Parser(StringRef text) : text(text) {}

  llvm::Expected<Expr> parse() {
    llvm::Expected<Expr> result = parseLevel(lowestPrecedence);
    if (!result)
      return result;
    skipSpace();
    if (position != text.size())
      return expected("an operator or the end of the text");
    return result;
  }

private:
  StringRef text;
  size_t position = 0;
  unsigned depth = 0;

  /// Counts nesting for as long as it lives.
  struct Scope {
    unsigned &depth;
    explicit Scope(unsigned &depth) : depth(depth) { ++depth; }
    ~Scope() { --depth; }
  };

  void skipSpace() {
    while (position != text.size() && llvm::isSpace(text[position]))
      ++position;
  }

  std::string describeHere() {
    if (position == text.size())
      return "the end of the text";
    if (size_t length = getSymbolLength(text.substr(position)))
      return ("'" + text.substr(position, length) + "'").str();
    return ("'" + text.substr(position, 1) + "'").str();
  }

  llvm::Error error(const Twine &message) {
    return createStringError("column " + Twine(position + 1) + ": " + message);
  }

  llvm::Error expected(const Twine &what) {
    skipSpace();
    return error("expected " + what + ", but got " + describeHere());
  }

  bool consume(StringRef token) {
    skipSpace();
    if (!text.substr(position).starts_with(token))
      return false;
    position += token.size();
    return true;
  }

  const OperatorInfo *consumeOperator(int precedence) {
    skipSpace();
    StringRef rest = text.substr(position);
    for (const OperatorInfo &info : operatorInfos) {
      if (!rest.starts_with(info.text))
        continue;
      if (info.precedence != precedence)
        return nullptr;
      position += StringRef(info.text).size();
      return &info;
    }
    return nullptr;
  }

  llvm::Error tooDeep() {
    return error("the expression nests too deep, expected at most " +
                 Twine(maxExprDepth) + " levels");
  }

  llvm::Expected<Expr> parseLevel(int precedence) {
    if (precedence > highestPrecedence)
      return parseUnary();
    llvm::Expected<Expr> result = parseLevel(precedence + 1);
    if (!result)
      return result;
    // A chain groups to the left, so each operator is one level of the tree.
    unsigned chain = 0;
    while (const OperatorInfo *info = consumeOperator(precedence)) {
      if (chain && precedence == comparisonPrecedence) {
        position -= StringRef(info->text).size();
        return expected("parentheses around one of the comparisons");
      }
      if (depth + ++chain >= maxExprDepth)
        return tooDeep();
      llvm::Expected<Expr> right = parseLevel(precedence + 1);
      if (!right)
        return right;
      result = Expr::make(info->kind, {*result, *right});
    }
    return result;
  }

  llvm::Expected<Expr> parseUnary() {
    skipSpace();
    if (!consume("-"))
      return parseAtom();
    skipSpace();
    // A negative number is one constant, so that -2^63 can be written.
    if (position != text.size() && llvm::isDigit(text[position]))
      return parseNumber(/*isNegative=*/true);
    Scope scope(depth);
    if (depth >= maxExprDepth)
      return tooDeep();
    llvm::Expected<Expr> operand = parseUnary();
    if (!operand)
      return operand;
    return Expr::make(ExprKind::Sub, {Expr::constant(0), *operand});
  }

  llvm::Expected<Expr> parseNumber(bool isNegative) {
    size_t start = position;
    while (position != text.size() && llvm::isDigit(text[position]))
      ++position;
    StringRef digits = text.substr(start, position - start);
    uint64_t magnitude;
    uint64_t limit = (uint64_t(1) << 63) - (isNegative ? 0 : 1);
    if (digits.getAsInteger(10, magnitude) || magnitude > limit) {
      position = start;
      return error("expected a number that fits 64 bits, but got '" + digits +
                   "'");
    }
    if (position != text.size() && isNamePart(text[position]))
      return expected("an operator after the number");
    return Expr::constant(
        static_cast<int64_t>(isNegative ? 0 - magnitude : magnitude));
  }

  llvm::Expected<Expr> parseAtom() {
    skipSpace();
    Scope scope(depth);
    if (depth >= maxExprDepth)
      return tooDeep();
    if (consume("(")) {
      llvm::Expected<Expr> inner = parseLevel(lowestPrecedence);
      if (!inner)
        return inner;
      if (!consume(")"))
        return expected("')'");
      return inner;
    }
    if (position != text.size() && llvm::isDigit(text[position]))
      return parseNumber(/*isNegative=*/false);
    size_t length = getSymbolLength(text.substr(position));
    if (length == 0)
      return expected("a number, a symbol, a function or '('");
    StringRef name = text.substr(position, length);
    position += length;
    if (const FunctionInfo *function = findFunction(name))
      return parseCall(*function);
    skipSpace();
    if (position != text.size() && text[position] == '(') {
      return error("expected ceildiv, min, max, select or log2floor before "
                   "'(', but got '" +
                   name + "'");
    }
    return Expr::symbol(name);
  }

  llvm::Expected<Expr> parseCall(const FunctionInfo &function) {
    if (!consume("("))
      return expected(Twine("'(' after ") + function.name);
    llvm::SmallVector<Expr, 3> operands;
    for (unsigned i = 0; i != function.operands; ++i) {
      if (i && !consume(","))
        return expected("',' and operand " + Twine(i + 1) + " of " +
                        Twine(function.operands) + " of " + function.name);
      llvm::Expected<Expr> operand = parseLevel(lowestPrecedence);
      if (!operand)
        return operand;
      operands.push_back(*operand);
    }
    if (!consume(")"))
      return expected(
          Twine("')' after ") + Twine(function.operands) +
          (function.operands == 1 ? " operand of " : " operands of ") +
          function.name);
    return Expr::make(function.kind, operands);
  }
};

} // namespace

llvm::Expected<Expr> Expr::parse(StringRef text) {
  llvm::Expected<Expr> result = Parser(text).parse();
  if (!result)
    return result;
  if (result->getDepth() > maxExprDepth)
    return createStringError("the expression nests " +
                             Twine(result->getDepth()) +
                             " deep, expected at most " + Twine(maxExprDepth));
  return result;
}
