// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules that many ops of the dialect share.

#ifndef FA4_IR_FA4TRAITS_H
#define FA4_IR_FA4TRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::fa4 {

/// Fails unless `op` lies in a `fa4.role`.
LogicalResult verifyInRole(Operation *op);

/// An op that lies in a `fa4.role`.
template <typename ConcreteType>
class InRole : public OpTrait::TraitBase<ConcreteType, InRole> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyInRole(op); }
};

} // namespace mlir::fa4

#endif // FA4_IR_FA4TRAITS_H
