// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// f64 arithmetic in every rounding direction.

#ifndef PTXSIM_LIB_DOUBLEOPS_H
#define PTXSIM_LIB_DOUBLEOPS_H

#include "Lanewise.h"

namespace ptxsim {

enum class DoubleOp : uint8_t { Add, Sub, Mul, Fma, Div, Sqrt, Rcp };

/// One operation, rounded once in the given direction.
double roundedDouble(DoubleOp what, double a, double b, double c, Round round);

/// \p v as the nearest double in the given direction.
double integerToDouble(uint64_t v, bool isSignedInt, Round round);

/// aux2: round, imm: DoubleOp.
Step execDouble(Warp &w, const Op &op, uint32_t mask);

} // namespace ptxsim

#endif // PTXSIM_LIB_DOUBLEOPS_H
