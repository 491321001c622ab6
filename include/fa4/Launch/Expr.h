// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The integer expressions of launch descriptors: how a shape, a stride or a
// grid follows from the sizes of a problem.
//
//   expr   := or
//   or     := and ('||' and)*
//   and    := cmp ('&&' cmp)*
//   cmp    := sum (('==' | '!=' | '<' | '<=' | '>' | '>=') sum)?
//   sum    := term (('+' | '-') term)*
//   term   := unary (('*' | '/' | '%') unary)*
//   unary  := '-' unary | atom
//   atom   := number | symbol | '(' expr ')'
//           | ('ceildiv' | 'min' | 'max') '(' expr ',' expr ')'
//           | 'select' '(' expr ',' expr ',' expr ')' | 'log2floor' '(' expr
//           ')'
//   symbol := name ('.' name)*            e.g. Skv, q.stride0
//
// Values are 64-bit signed integers. '/' rounds towards minus infinity,
// 'ceildiv' towards plus infinity, and '%' is what '/' leaves: a == (a / b) * b
// + a % b, with the sign of b. Comparisons and logic give 0 or 1; anything but
// 0 is true. 'select', '&&' and '||' evaluate only the operands they need.
//
// Errors: division by zero, a result that does not fit 64 bits, log2floor of
// a value below 1, an unknown symbol, nesting deeper than `maxExprDepth`.

#ifndef FA4_LAUNCH_EXPR_H
#define FA4_LAUNCH_EXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace fa4 {

enum class ExprKind {
  Constant,
  Symbol,
  Add,
  Sub,
  Mul,
  FloorDiv,
  Mod,
  CeilDiv,
  Min,
  Max,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  Log2Floor,
  Select,
};

/// Parentheses, calls and operators that may nest in one expression.
inline constexpr unsigned maxExprDepth = 200;

/// An immutable expression; copies share their nodes.
class Expr {
public:
  using SymbolMap = llvm::StringMap<int64_t>;
  using SymbolLookup =
      llvm::function_ref<llvm::Expected<int64_t>(llvm::StringRef)>;

  /// The constant 0.
  Expr() : Expr(constant(0)) {}
  /// A constant, so that `2 * Expr::symbol("B")` reads as it should.
  template <typename Int,
            typename = std::enable_if_t<std::is_integral_v<Int> &&
                                        !std::is_same_v<Int, bool>>>
  Expr(Int value) : Expr(constant(static_cast<int64_t>(value))) {}

  static Expr constant(int64_t value);
  /// A named value. The name is checked by isValidSymbol where text or a
  /// descriptor is read; any other name is unknown to evaluate().
  static Expr symbol(llvm::StringRef name);
  /// An operator or function of `kind` with one, two or three operands.
  static Expr make(ExprKind kind, llvm::ArrayRef<Expr> operands);

  /// Errors read "column 7: expected ')', but got end of text".
  static llvm::Expected<Expr> parse(llvm::StringRef text);
  /// Whether `name` is a symbol of the grammar and not a function's name.
  static bool isValidSymbol(llvm::StringRef name);

  ExprKind getKind() const;
  /// The value of a constant.
  std::optional<int64_t> getConstant() const;
  /// The name of a symbol; empty for anything else.
  llvm::StringRef getSymbol() const;
  llvm::ArrayRef<Expr> getOperands() const;
  /// 1 for a constant or a symbol, one more than its deepest operand otherwise.
  unsigned getDepth() const;

  /// The canonical text: one space around operators, parentheses only where
  /// the grammar needs them. parse(str()) has the same structure.
  std::string str() const;
  bool isSame(const Expr &other) const { return str() == other.str(); }

  /// Constant operands folded, neutral ones dropped (x + 0, x * 1, ...), and
  /// select, && and || decided where their condition is. What cannot be
  /// evaluated, such as 1 / 0, stays for evaluate() to refuse.
  Expr fold() const;

  llvm::Expected<int64_t> evaluate(const SymbolMap &symbols) const;
  llvm::Expected<int64_t> evaluate(SymbolLookup lookup) const;

  /// The names in it, once each, in order of appearance.
  std::vector<std::string> getSymbols() const;

private:
  struct Node;
  explicit Expr(std::shared_ptr<const Node> node) : node(std::move(node)) {}

  std::shared_ptr<const Node> node;
};

Expr operator+(const Expr &a, const Expr &b);
Expr operator-(const Expr &a, const Expr &b);
Expr operator*(const Expr &a, const Expr &b);
/// Rounds towards minus infinity.
Expr operator/(const Expr &a, const Expr &b);
Expr operator%(const Expr &a, const Expr &b);
/// Comparisons and logic build expressions too; structure is compared by
/// Expr::isSame.
Expr operator==(const Expr &a, const Expr &b);
Expr operator!=(const Expr &a, const Expr &b);
Expr operator<(const Expr &a, const Expr &b);
Expr operator<=(const Expr &a, const Expr &b);
Expr operator>(const Expr &a, const Expr &b);
Expr operator>=(const Expr &a, const Expr &b);
Expr operator&&(const Expr &a, const Expr &b);
Expr operator||(const Expr &a, const Expr &b);
Expr ceilDiv(const Expr &a, const Expr &b);
Expr min(const Expr &a, const Expr &b);
Expr max(const Expr &a, const Expr &b);
Expr select(const Expr &condition, const Expr &ifTrue, const Expr &ifFalse);
Expr log2Floor(const Expr &a);

} // namespace fa4

#endif // FA4_LAUNCH_EXPR_H
