// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a call does beyond running the callee's body.

#ifndef PTXSIM_LIB_CALLS_H
#define PTXSIM_LIB_CALLS_H

#include "Machine.h"

namespace ptxsim {

/// Copies aux3 bytes of local memory from aux2 to aux.
Step execCopyLocal(Warp &w, const Op &op, uint32_t mask);

/// The calls that every program may make. The list holds the local addresses
/// of their arguments, aux that of the result.
Step execPrintf(Warp &w, const Op &op, uint32_t mask);
Step execAssertFail(Warp &w, const Op &op, uint32_t mask);

} // namespace ptxsim

#endif // PTXSIM_LIB_CALLS_H
