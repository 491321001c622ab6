// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Checked access of a thread to the state spaces.

#ifndef PTXSIM_LIB_ACCESS_H
#define PTXSIM_LIB_ACCESS_H

#include "Machine.h"

namespace ptxsim {

enum class Space : uint8_t { Generic, Global, Shared, Local, Param };

/// Host pointer for \p size bytes at \p address, or null after a fault. A
/// write marks shared memory as initialised.
/// An \p atomic access races with no other.
uint8_t *resolve(Warp &w, const Op &op, unsigned lane, Space space,
                 uint64_t address, unsigned size, bool write,
                 bool atomic = false);

} // namespace ptxsim

#endif // PTXSIM_LIB_ACCESS_H
