// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A descriptor of an attention kernel, written by hand, and problems for it. It
// uses more of the language than the kernels of today: heads packed by a group
// size of the call, a scale that comes with the call.

#ifndef FA4_UNITTESTS_LAUNCH_ATTENTIONLAUNCH_H
#define FA4_UNITTESTS_LAUNCH_ATTENTIONLAUNCH_H

#include "fa4/Launch/Bind.h"

namespace fa4::test {

/// f16, non-causal, everything dynamic but the head dimension; with LSE.
LaunchDescriptor makeAttentionDescriptor(int64_t headDim = 128);

/// Contiguous B, S, H, D operands at distinct addresses.
Problem makeProblem(int64_t b, int64_t sq, int64_t skv, int64_t hq, int64_t hkv,
                    int64_t headDim = 128);

/// The parameter called `name`; a default one, and a test failure, if there is
/// none.
BoundParameter getParameter(const BoundLaunch &launch, llvm::StringRef name);

/// bind(), with a failure of the test for an error.
BoundLaunch bindOrFail(const LaunchDescriptor &descriptor,
                       const Problem &problem);
/// The error of bind(), or "".
std::string bindError(const LaunchDescriptor &descriptor,
                      const Problem &problem);

} // namespace fa4::test

#endif // FA4_UNITTESTS_LAUNCH_ATTENTIONLAUNCH_H
