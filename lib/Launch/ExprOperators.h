// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spelling and binding of the expression language, shared by the printer and
// the parser.

#ifndef FA4_LIB_LAUNCH_EXPROPERATORS_H
#define FA4_LIB_LAUNCH_EXPROPERATORS_H

#include "fa4/Launch/Expr.h"

namespace fa4 {

struct OperatorInfo {
  ExprKind kind;
  const char *text;
  int precedence;
};

struct FunctionInfo {
  ExprKind kind;
  const char *name;
  unsigned operands;
};

inline constexpr int lowestPrecedence = 1;
inline constexpr int comparisonPrecedence = 3;
inline constexpr int highestPrecedence = 5;

/// Longer spellings come before their prefixes: the parser takes the first
/// that matches.
inline constexpr OperatorInfo operatorInfos[] = {
    {ExprKind::Or, "||", 1}, {ExprKind::And, "&&", 2},
    {ExprKind::Eq, "==", 3}, {ExprKind::Ne, "!=", 3},
    {ExprKind::Le, "<=", 3}, {ExprKind::Ge, ">=", 3},
    {ExprKind::Lt, "<", 3},  {ExprKind::Gt, ">", 3},
    {ExprKind::Add, "+", 4}, {ExprKind::Sub, "-", 4},
    {ExprKind::Mul, "*", 5}, {ExprKind::FloorDiv, "/", 5},
    {ExprKind::Mod, "%", 5},
};

inline constexpr FunctionInfo functionInfos[] = {
    {ExprKind::CeilDiv, "ceildiv", 2},
    {ExprKind::Min, "min", 2},
    {ExprKind::Max, "max", 2},
    {ExprKind::Select, "select", 3},
    {ExprKind::Log2Floor, "log2floor", 1},
};

/// Null for what is not an operator, or not a function.
const OperatorInfo *getOperatorInfo(ExprKind kind);
const FunctionInfo *getFunctionInfo(ExprKind kind);

} // namespace fa4

#endif // FA4_LIB_LAUNCH_EXPROPERATORS_H
