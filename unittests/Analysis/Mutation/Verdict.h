// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler says to a mutant, and why those that it lets pass are
// right.

#ifndef FA4_UNITTESTS_ANALYSIS_VERDICT_H
#define FA4_UNITTESTS_ANALYSIS_VERDICT_H

#include "Mutants.h"

namespace mlir::fa4::mutation {

enum class Verdict {
  Malformed, ///< A verifier refuses it.
  Refused,   ///< The proof does.
  Later,     ///< Storage or phases cannot be decided.
  Warned,    ///< The proof has a warning.
  Passes,
};

StringRef getName(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::Passes;
  std::string message; ///< The first error, else the first warning.
};

/// Clones the kernel, changes the clone and judges it. A mutant without a
/// change is the kernel itself.
Judgement judge(KernelOp kernel, const Mutant &mutant);

/// Why a mutant that passes, or is warned of, is as good as the schedule. Null
/// if no rule covers it.
struct Rule {
  StringRef name, reason;
};
const Rule *findRule(const Mutant &mutant);

} // namespace mlir::fa4::mutation

#endif // FA4_UNITTESTS_ANALYSIS_VERDICT_H
