// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_LAUNCHLOWERING_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_LAUNCHLOWERING_H

#include "fa4/IR/FA4.h"
#include "fa4/Launch/LaunchDescriptor.h"

namespace mlir::fa4 {

/// Replaces `launch` by the checks, tensor maps and gpu.launch_func that the
/// descriptor describes.
LogicalResult lowerLaunch(LaunchOp launch, SymbolRefAttr function,
                          const ::fa4::LaunchDescriptor &descriptor);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_LAUNCHLOWERING_H
