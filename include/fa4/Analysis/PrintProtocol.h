// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule's contracts, and the order between its roles, for people to read.

#ifndef FA4_ANALYSIS_PRINTPROTOCOL_H
#define FA4_ANALYSIS_PRINTPROTOCOL_H

#include "fa4/IR/FA4.h"

namespace mlir::fa4 {

enum class ProtocolFormat {
  Table, ///< The contracts, and which accesses each of them orders.
  Dot,   ///< One steady iteration, for Graphviz.
  SVG,   ///< One steady iteration as a picture.
};

/// Prints a kernel, in logical time or with parities. Races are let pass. Fails
/// with a diagnostic where the kernel deadlocks or holds what the proof does
/// not model.
LogicalResult printProtocol(KernelOp kernel, ProtocolFormat format,
                            raw_ostream &os);

} // namespace mlir::fa4

#endif // FA4_ANALYSIS_PRINTPROTOCOL_H
