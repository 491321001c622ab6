// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared between the tcgen05 instructions.

#ifndef PTXSIM_LIB_TCGEN05_H
#define PTXSIM_LIB_TCGEN05_H

#include "Decoder.h"
#include "Machine.h"

namespace ptxsim {

/// Faults unless all the columns are allocated.
bool checkColumns(Cta &cta, const Op &op, unsigned warp, uint32_t column,
                  uint32_t count, const char *what);

/// The value that all lanes of an aligned instruction must share.
bool uniformValue(Warp &w, const Op &op, uint32_t mask, const uint32_t *values,
                  const char *what, uint32_t &value);

// Decoders of parts of the family, after the first modifiers.
bool decodeMma(Decoder &d);
bool decodeTmemLdSt(Decoder &d, bool store);
bool decodeTmemCopy(Decoder &d);
bool decodeTmemShift(Decoder &d);

} // namespace ptxsim

#endif // PTXSIM_LIB_TCGEN05_H
