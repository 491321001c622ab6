// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PTXSIM_LIB_CLUSTERBARRIER_H
#define PTXSIM_LIB_CLUSTERBARRIER_H

#include "Decoder.h"
#include "Machine.h"

namespace ptxsim {

/// barrier.cluster, after these two parts.
bool decodeClusterBarrier(Decoder &d);

} // namespace ptxsim

#endif // PTXSIM_LIB_CLUSTERBARRIER_H
