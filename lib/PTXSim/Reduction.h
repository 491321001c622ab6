// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Read-modify-write operations of atomics and of bulk reductions.

#ifndef PTXSIM_LIB_REDUCTION_H
#define PTXSIM_LIB_REDUCTION_H

#include "Types.h"

#include <cstdint>
#include <mutex>
#include <string_view>

namespace ptxsim {

enum class Reduction : uint8_t {
  Add,
  Min,
  Max,
  Inc,
  Dec,
  And,
  Or,
  Xor,
  Exch,
};

/// Takes the operation's name; false when \p name is none.
bool reductionByName(std::string_view name, Reduction &what);

/// True when PTX has the operation on this type: bits for logic, and so on.
bool reductionTakes(Reduction what, Type type);

/// The new value of a word that held \p old. Values are raw bits. An atomic
/// addition in \p global memory flushes f32 subnormals and keeps f64 NaNs.
uint64_t reduce(Reduction what, Type type, uint64_t old, uint64_t value,
                bool global = false);

/// CTAs run on several host threads: an operation on global memory holds the
/// lock of its address.
std::mutex &globalLock(uint64_t address);

} // namespace ptxsim

#endif // PTXSIM_LIB_REDUCTION_H
