// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs that somebody looks at while they last: to say how far they are, and to
// stop them.

#ifndef PTXSIM_WATCH_H
#define PTXSIM_WATCH_H

#include "ptxsim/Simulator.h"

#include <chrono>

namespace ptxsim {

struct Progress {
  uint64_t done = 0, total = 0; // CTAs
  double seconds = 0;           // since the start
};

/// Runs the launch on a thread of its own and calls `watch` on this one each
/// `period`, also while one CTA runs on. It stops the run by returning false;
/// the result's status is Interrupted then, unless the run had come to its end.
/// `options.progress` and `options.interrupted` still are called as by run().
Result runWatched(const Module &module, const Launch &launch, Memory &memory,
                  const Options &options, std::chrono::milliseconds period,
                  const std::function<bool(const Progress &)> &watch);

} // namespace ptxsim

#endif // PTXSIM_WATCH_H
