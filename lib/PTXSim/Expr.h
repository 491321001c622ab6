// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The integer expressions of launch descriptors (docs/abi.md, "Expressions").

#ifndef PTXSIM_LIB_EXPR_H
#define PTXSIM_LIB_EXPR_H

#include <cstdint>
#include <functional>
#include <string>

namespace ptxsim {

/// The value of a name; false when it has none.
using NameLookup = std::function<bool(const std::string &name, int64_t &value)>;

/// Evaluates \p text. False with \p error set when it is malformed or has no
/// value.
bool evaluate(const std::string &text, const NameLookup &lookup, int64_t &value,
              std::string &error);

} // namespace ptxsim

#endif // PTXSIM_LIB_EXPR_H
