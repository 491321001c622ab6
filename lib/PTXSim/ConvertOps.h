// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PTXSIM_LIB_CONVERTOPS_H
#define PTXSIM_LIB_CONVERTOPS_H

#include "Lanewise.h"

namespace ptxsim {

/// True when the instruction at hand is a form of PackedConvertOps.cpp.
bool isPackedConvert(const Decoder &d);
bool decodePackedConvert(Decoder &d);

} // namespace ptxsim

#endif // PTXSIM_LIB_CONVERTOPS_H
