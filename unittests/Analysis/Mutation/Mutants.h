// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every small way to break a schedule.

#ifndef FA4_UNITTESTS_ANALYSIS_MUTANTS_H
#define FA4_UNITTESTS_ANALYSIS_MUTANTS_H

#include "fa4/IR/FA4.h"
#include "mlir/IR/IRMapping.h"
#include <functional>

namespace mlir::fa4::mutation {

/// A change in one place of a kernel. It is made on a clone, to which the
/// mapping leads.
struct Mutant {
  std::string kind; ///< "delete", "slot".
  Operation *op;    ///< What is changed.
  /// The op that it changes places with, of "swap".
  Operation *other = nullptr;
  std::string detail; ///< "1 for 0".
  std::function<void(IRMapping &)> apply;
};

/// All mutants of a kernel, in the order of its text.
///
///   delete     an op is gone; a cursor is not moved
///   duplicate  it stands there twice
///   swap       it has changed places with the next op that is not pure
///   hoist      the first op of a loop stands in front of it
///   sink       the last op of a loop stands behind it
///   slot       it names another slot of its ring or barrier
///   barrier    it waits for, or arrives on, another barrier
///   role       another role waits; another role's arrival is counted
///   count      a count of slots, arrivals or stores is one off
///   columns    it touches the columns beside, or a step of K more or less
///   geometry   an alias lies elsewhere
///   flag       a flag is the other way round
///   parity     it waits for the other parity; a loop begins with another, or
///   does
///              not flip it (where phases are materialized)
///   scale      it multiplies S by another number
///   source     it copies another tile; a loop runs over other blocks
std::vector<Mutant> findMutants(KernelOp kernel);

/// "fa4.tmem_wait load": the op with what tells its variants apart.
std::string getLabel(Operation *op);
/// "@softmax", or "-" outside of the roles.
std::string getRoleName(Operation *op);
/// The op's text in one line.
std::string getText(Operation *op);

} // namespace mlir::fa4::mutation

#endif // FA4_UNITTESTS_ANALYSIS_MUTANTS_H
