// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Redundancy.h"
#include "Explore.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

bool protocol::holds(KernelOp kernel, size_t warnings) {
  FailureOr<Program> program = buildProgram(kernel);
  if (failed(program))
    return false;
  Exploration exploration = explore(*program);
  return !exploration.faulty && exploration.complete &&
         exploration.warnings.size() <= warnings;
}

void protocol::eraseBarrier(BarrierOp barrier) {
  for (Operation *user : llvm::make_early_inc_range(barrier->getUsers()))
    user->erase();
  barrier.erase();
}

static StringRef getRole(Operation *op) {
  return op->getParentOfType<RoleOp>().getSymName();
}

namespace {
/// Tries a kernel without parts of one contract.
class Remover {
public:
  Remover(KernelOp kernel, BarrierOp barrier, size_t warnings)
      : kernel(kernel), barrier(barrier), warnings(warnings) {
    for (Operation &op : *kernel.getBodyBlock())
      op.walk([&](Operation *user) {
        bool uses =
            llvm::is_contained(user->getOperands(), barrier.getBarrier());
        if (uses && isa<WaitOp>(user))
          waits[getRole(user)].push_back(user);
        else if (uses)
          arrivals[getRole(user)].push_back(user);
      });
  }

  void run();

private:
  /// Whether the kernel is right without `ops`, and without the arrival that
  /// the contract counts of `role`.
  bool doesWithout(ArrayRef<Operation *> ops, StringRef role = "");
  bool doesWithoutBarrier();
  bool remarkParts(const llvm::MapVector<StringRef, SmallVector<Operation *>> &,
                   StringRef what);
  void remarkSingle();

  KernelOp kernel;
  BarrierOp barrier;
  size_t warnings;
  llvm::MapVector<StringRef, SmallVector<Operation *>> waits, arrivals;
};
} // namespace

bool Remover::doesWithout(ArrayRef<Operation *> ops, StringRef role) {
  IRMapping mapping;
  OwningOpRef<KernelOp> clone =
      cast<KernelOp>(kernel->clone(mapping, Operation::CloneOptions::all()));
  for (Operation *op : ops)
    mapping.lookup(op)->erase();
  auto copy = cast<BarrierOp>(mapping.lookup(barrier.getOperation()));
  SmallVector<Attribute> left;
  for (auto arrival : copy.getArrivals().getAsRange<ArrivalAttr>())
    if (arrival.getRole().getValue() != role)
      left.push_back(arrival);
  copy.setArrivalsAttr(ArrayAttr::get(copy.getContext(), left));
  return holds(*clone, warnings);
}

bool Remover::doesWithoutBarrier() {
  IRMapping mapping;
  OwningOpRef<KernelOp> clone =
      cast<KernelOp>(kernel->clone(mapping, Operation::CloneOptions::all()));
  eraseBarrier(cast<BarrierOp>(mapping.lookup(barrier.getOperation())));
  return holds(*clone, warnings);
}

/// All that one role does on a barrier which others do something on too.
bool Remover::remarkParts(
    const llvm::MapVector<StringRef, SmallVector<Operation *>> &parts,
    StringRef what) {
  bool found = false;
  bool arrive = &parts == &arrivals;
  for (auto &[role, ops] : parts) {
    if (parts.size() < 2 ||
        llvm::any_of(ops, [](Operation *op) { return isa<LoadOp>(op); }) ||
        !doesWithout(ops, arrive ? role : ""))
      continue;
    found = true;
    InFlightDiagnostic diag = ops.front()->emitRemark()
                              << "'" << ops.front()->getName()
                              << "' op redundant: the other contracts "
                              << "order all that the " << what << " of @"
                              << role << " on barrier \"" << barrier.getName()
                              << "\" order";
    diag.attachNote(barrier.getLoc()) << "the barrier is here";
  }
  return found;
}

void Remover::remarkSingle() {
  for (auto *parts : {&waits, &arrivals})
    for (auto &[role, ops] : *parts)
      for (Operation *op : ops)
        if (!isa<LoadOp>(op) && doesWithout(op))
          op->emitRemark() << "'" << op->getName()
                           << "' op redundant: the kernel is right without it";
}

void Remover::run() {
  bool copies = llvm::any_of(
      barrier.getArrivals().getAsRange<ArrivalAttr>(),
      [](ArrivalAttr arrival) { return arrival.getEngine() == Engine::Bytes; });
  if (!copies && doesWithoutBarrier()) {
    barrier.emitRemark() << "'fa4.barrier' op redundant: the other contracts "
                            "order all that barrier \""
                         << barrier.getName() << "\" orders";
    return;
  }
  bool found = !barrier.getNamed() && remarkParts(waits, "waits");
  found |= remarkParts(arrivals, "arrivals");
  if (!found)
    remarkSingle();
}

void protocol::remarkRedundant(KernelOp kernel, size_t warnings) {
  for (auto barrier : kernel.getBody().getOps<BarrierOp>())
    Remover(kernel, barrier, warnings).run();
}
