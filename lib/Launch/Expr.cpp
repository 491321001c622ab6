// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/Launch/Expr.h"
#include "ExprOperators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <limits>

using namespace fa4;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;

struct Expr::Node {
  ExprKind kind;
  int64_t value;
  std::string name;
  llvm::SmallVector<Expr, 3> operands;
  unsigned depth;
};

const OperatorInfo *fa4::getOperatorInfo(ExprKind kind) {
  for (const OperatorInfo &info : operatorInfos)
    if (info.kind == kind)
      return &info;
  return nullptr;
}

const FunctionInfo *fa4::getFunctionInfo(ExprKind kind) {
  for (const FunctionInfo &info : functionInfos)
    if (info.kind == kind)
      return &info;
  return nullptr;
}

Expr Expr::constant(int64_t value) {
  return Expr(std::make_shared<const Node>(
      Node{ExprKind::Constant, value, std::string(), {}, 1}));
}

Expr Expr::symbol(StringRef name) {
  return Expr(std::make_shared<const Node>(
      Node{ExprKind::Symbol, 0, name.str(), {}, 1}));
}

Expr Expr::make(ExprKind kind, llvm::ArrayRef<Expr> operands) {
  unsigned depth = 0;
  for (const Expr &operand : operands)
    depth = std::max(depth, operand.node->depth);
  return Expr(std::make_shared<const Node>(
      Node{kind, 0, std::string(),
           llvm::SmallVector<Expr, 3>(operands.begin(), operands.end()),
           depth + 1}));
}

ExprKind Expr::getKind() const { return node->kind; }

std::optional<int64_t> Expr::getConstant() const {
  if (node->kind != ExprKind::Constant)
    return std::nullopt;
  return node->value;
}

StringRef Expr::getSymbol() const { return node->name; }

llvm::ArrayRef<Expr> Expr::getOperands() const { return node->operands; }

unsigned Expr::getDepth() const { return node->depth; }

static void collectSymbols(const Expr &expr, std::vector<std::string> &names) {
  if (expr.getKind() == ExprKind::Symbol &&
      !llvm::is_contained(names, expr.getSymbol()))
    names.push_back(expr.getSymbol().str());
  for (const Expr &operand : expr.getOperands())
    collectSymbols(operand, names);
}

std::vector<std::string> Expr::getSymbols() const {
  std::vector<std::string> names;
  collectSymbols(*this, names);
  return names;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void print(const Expr &expr, std::string &out);

/// Prints an operand of an operator that binds with `precedence`.
static void printOperand(const Expr &operand, int precedence, bool isRight,
                         std::string &out) {
  const OperatorInfo *info = getOperatorInfo(operand.getKind());
  // Operators group to the left; comparisons do not group at all.
  bool parentheses =
      info && (info->precedence < precedence ||
               (info->precedence == precedence &&
                (isRight || precedence == comparisonPrecedence)));
  if (parentheses)
    out += '(';
  print(operand, out);
  if (parentheses)
    out += ')';
}

static void print(const Expr &expr, std::string &out) {
  if (std::optional<int64_t> value = expr.getConstant()) {
    out += std::to_string(*value);
    return;
  }
  if (expr.getKind() == ExprKind::Symbol) {
    out += expr.getSymbol();
    return;
  }
  llvm::ArrayRef<Expr> operands = expr.getOperands();
  if (const OperatorInfo *info = getOperatorInfo(expr.getKind())) {
    printOperand(operands[0], info->precedence, /*isRight=*/false, out);
    out += ' ';
    out += info->text;
    out += ' ';
    printOperand(operands[1], info->precedence, /*isRight=*/true, out);
    return;
  }
  if (const FunctionInfo *info = getFunctionInfo(expr.getKind()))
    out += info->name;
  out += '(';
  for (size_t i = 0; i != operands.size(); ++i) {
    if (i)
      out += ", ";
    print(operands[i], out);
  }
  out += ')';
}

std::string Expr::str() const {
  std::string out;
  print(*this, out);
  return out;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t ceilDivide(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

namespace {

enum class Fault { None, DivisionByZero, Overflow, Logarithm };

struct Result {
  int64_t value;
  Fault fault;
};

} // namespace

/// One strict operator on values.
static Result apply(ExprKind kind, int64_t a, int64_t b) {
  int64_t value = 0;
  bool overflow = false;
  switch (kind) {
  case ExprKind::Add:
    overflow = llvm::AddOverflow(a, b, value);
    break;
  case ExprKind::Sub:
    overflow = llvm::SubOverflow(a, b, value);
    break;
  case ExprKind::Mul:
    overflow = llvm::MulOverflow(a, b, value);
    break;
  case ExprKind::FloorDiv:
  case ExprKind::CeilDiv:
  case ExprKind::Mod:
    if (b == 0)
      return {0, Fault::DivisionByZero};
    // The one quotient that does not fit; its remainder is 0.
    if (a == std::numeric_limits<int64_t>::min() && b == -1) {
      overflow = kind != ExprKind::Mod;
      break;
    }
    if (kind == ExprKind::Mod)
      value = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    else
      value = kind == ExprKind::FloorDiv ? floorDivide(a, b) : ceilDivide(a, b);
    break;
  case ExprKind::Min:
    value = std::min(a, b);
    break;
  case ExprKind::Max:
    value = std::max(a, b);
    break;
  case ExprKind::Eq:
    value = a == b;
    break;
  case ExprKind::Ne:
    value = a != b;
    break;
  case ExprKind::Lt:
    value = a < b;
    break;
  case ExprKind::Le:
    value = a <= b;
    break;
  case ExprKind::Gt:
    value = a > b;
    break;
  case ExprKind::Ge:
    value = a >= b;
    break;
  case ExprKind::Log2Floor:
    if (a < 1)
      return {0, Fault::Logarithm};
    value = llvm::Log2_64(static_cast<uint64_t>(a));
    break;
  case ExprKind::Constant:
  case ExprKind::Symbol:
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Select:
    break;
  }
  return {value, overflow ? Fault::Overflow : Fault::None};
}

static llvm::Error describe(const Expr &expr, Fault fault,
                            llvm::ArrayRef<int64_t> values) {
  std::string got;
  for (int64_t value : values)
    got += (got.empty() ? "" : ", ") + std::to_string(value);
  const char *what = fault == Fault::DivisionByZero ? "division by zero"
                     : fault == Fault::Overflow
                         ? "a result beyond 64 bits"
                         : "a logarithm of a value below 1";
  return createStringError(Twine(what) + " in '" + expr.str() + "' (operands " +
                           got + ")");
}

static llvm::Expected<int64_t> evaluateNode(const Expr &expr,
                                            Expr::SymbolLookup lookup) {
  if (std::optional<int64_t> value = expr.getConstant())
    return *value;
  if (expr.getKind() == ExprKind::Symbol)
    return lookup(expr.getSymbol());

  llvm::ArrayRef<Expr> operands = expr.getOperands();
  llvm::Expected<int64_t> first = evaluateNode(operands[0], lookup);
  if (!first)
    return first.takeError();
  switch (expr.getKind()) {
  case ExprKind::Select:
    return evaluateNode(operands[*first != 0 ? 1 : 2], lookup);
  case ExprKind::And:
  case ExprKind::Or: {
    bool isOr = expr.getKind() == ExprKind::Or;
    if ((*first != 0) == isOr)
      return int64_t(isOr);
    llvm::Expected<int64_t> second = evaluateNode(operands[1], lookup);
    if (!second)
      return second.takeError();
    return int64_t(*second != 0);
  }
  default:
    break;
  }
  llvm::SmallVector<int64_t, 2> values = {*first};
  if (operands.size() > 1) {
    llvm::Expected<int64_t> second = evaluateNode(operands[1], lookup);
    if (!second)
      return second.takeError();
    values.push_back(*second);
  }
  Result result =
      apply(expr.getKind(), values[0], values.size() > 1 ? values[1] : 0);
  if (result.fault != Fault::None)
    return describe(expr, result.fault, values);
  return result.value;
}

llvm::Expected<int64_t> Expr::evaluate(SymbolLookup lookup) const {
  if (node->depth > maxExprDepth)
    return createStringError("the expression nests " + Twine(node->depth) +
                             " deep, expected at most " + Twine(maxExprDepth));
  return evaluateNode(*this, lookup);
}

llvm::Expected<int64_t> Expr::evaluate(const SymbolMap &symbols) const {
  return evaluate([&](StringRef name) -> llvm::Expected<int64_t> {
    auto found = symbols.find(name);
    if (found == symbols.end())
      return createStringError("unknown symbol '" + Twine(name) + "'");
    return found->second;
  });
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

Expr Expr::fold() const {
  if (node->operands.empty())
    return *this;
  llvm::SmallVector<Expr, 3> operands;
  for (const Expr &operand : node->operands)
    operands.push_back(operand.fold());
  std::optional<int64_t> first = operands[0].getConstant();
  std::optional<int64_t> second =
      operands.size() > 1 ? operands[1].getConstant() : std::nullopt;

  switch (node->kind) {
  case ExprKind::Select:
    if (first)
      return operands[*first != 0 ? 1 : 2];
    return make(node->kind, operands);
  case ExprKind::And:
  case ExprKind::Or: {
    bool isOr = node->kind == ExprKind::Or;
    if (first && (*first != 0) == isOr)
      return constant(isOr);
    if (first && second)
      return constant(*second != 0);
    return make(node->kind, operands);
  }
  case ExprKind::Add:
    if (first == 0)
      return operands[1];
    [[fallthrough]];
  case ExprKind::Sub:
    if (second == 0)
      return operands[0];
    break;
  case ExprKind::Mul:
    if (first == 1)
      return operands[1];
    [[fallthrough]];
  case ExprKind::FloorDiv:
  case ExprKind::CeilDiv:
    if (second == 1)
      return operands[0];
    break;
  default:
    break;
  }
  if (first && (second || operands.size() == 1)) {
    Result result = apply(node->kind, *first, second.value_or(0));
    if (result.fault == Fault::None)
      return constant(result.value);
  }
  return make(node->kind, operands);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

#define FA4_BINARY(function, kind)                                             \
  Expr fa4::function(const Expr &a, const Expr &b) {                           \
    return Expr::make(ExprKind::kind, {a, b});                                 \
  }
FA4_BINARY(operator+, Add)
FA4_BINARY(operator-, Sub)
FA4_BINARY(operator*, Mul)
FA4_BINARY(operator/, FloorDiv)
FA4_BINARY(operator%, Mod)
FA4_BINARY(operator==, Eq)
FA4_BINARY(operator!=, Ne)
FA4_BINARY(operator<, Lt)
FA4_BINARY(operator<=, Le)
FA4_BINARY(operator>, Gt)
FA4_BINARY(operator>=, Ge)
FA4_BINARY(operator&&, And)
FA4_BINARY(operator||, Or)
FA4_BINARY(ceilDiv, CeilDiv)
FA4_BINARY(min, Min)
FA4_BINARY(max, Max)
#undef FA4_BINARY

Expr fa4::select(const Expr &condition, const Expr &ifTrue,
                 const Expr &ifFalse) {
  return Expr::make(ExprKind::Select, {condition, ifTrue, ifFalse});
}

Expr fa4::log2Floor(const Expr &a) {
  return Expr::make(ExprKind::Log2Floor, {a});
}
