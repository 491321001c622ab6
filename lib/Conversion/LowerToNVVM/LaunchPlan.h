// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// How a kernel is launched: its parameters, tensor maps and grid as expressions
// over the sizes of a problem.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_LAUNCHPLAN_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_LAUNCHPLAN_H

#include "fa4/IR/FA4.h"
#include "fa4/Launch/LaunchDescriptor.h"

namespace mlir::fa4 {

/// A size that device code uses: a constant, or parameter number `parameter`.
struct PlannedSize {
  std::optional<int64_t> constant;
  unsigned parameter = 0;
};

struct LaunchPlan {
  ::fa4::LaunchDescriptor descriptor;
  PlannedSize seqQ, seqKv, queryHeads, tileHeads, tileHeadsPerKv, mBlocks,
      tasks, headsPerSection, blocks;
  /// Parameters of Q, K, V, O (tensor maps) and LSE (pointer), in the order of
  /// the kernel's arguments; they come first.
  unsigned tensorParameters = 0;
};

/// Plans the launch of a kernel whose storage is allocated. Fails with a
/// diagnostic where static sizes or strides cannot be launched.
FailureOr<LaunchPlan> planLaunch(KernelOp kernel, StringRef ptxVersion);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_LAUNCHPLAN_H
