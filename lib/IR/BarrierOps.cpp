// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Extent.h"
#include "Slots.h"
#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fa4;

//===----------------------------------------------------------------------===//
// custom<Arrivals>, used by the generated parser of BarrierOp
//===----------------------------------------------------------------------===//

namespace mlir::fa4 {
ParseResult parseArrivals(OpAsmParser &parser, ArrayAttr &arrivals) {
  SmallVector<Attribute> parsed;
  if (parser.parseCommaSeparatedList([&]() -> ParseResult {
        FailureOr<ArrivalAttr> arrival = ArrivalAttr::parseBare(parser);
        if (failed(arrival))
          return failure();
        parsed.push_back(*arrival);
        return success();
      }))
    return failure();
  arrivals = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

void printArrivals(OpAsmPrinter &printer, Operation *, ArrayAttr arrivals) {
  llvm::interleaveComma(
      arrivals.getAsRange<ArrivalAttr>(), printer,
      [&](ArrivalAttr arrival) { arrival.printBare(printer); });
}
} // namespace mlir::fa4

//===----------------------------------------------------------------------===//
// BarrierOp
//===----------------------------------------------------------------------===//

ArrivalAttr BarrierOp::getArrivalOf(StringRef role) {
  for (auto arrival : getArrivals().getAsRange<ArrivalAttr>())
    if (arrival.getRole().getValue() == role)
      return arrival;
  return {};
}

int64_t BarrierOp::getExpectedCount() {
  int64_t count = 0;
  for (auto arrival : getArrivals().getAsRange<ArrivalAttr>())
    count += arrival.getEngine() == Engine::Threads ? arrival.getCount() : 1;
  return count;
}

LogicalResult BarrierOp::verify() {
  int64_t slots = getSlots();
  if (slots < 1 || slots > 1024)
    return emitOpError() << "expected from 1 to 1024 slots, but got " << slots;
  if (getArrivals().empty())
    return emitOpError("expected at least one arrival a phase");
  llvm::StringSet<> roles;
  for (auto arrival : getArrivals().getAsRange<ArrivalAttr>()) {
    if (!roles.insert(arrival.getRole().getValue()).second)
      return emitOpError()
             << "expected each role once among the arrivals, but got "
             << arrival.getRole() << " again";
    int64_t limit = arrival.getEngine() == Engine::Commit    ? 1
                    : arrival.getEngine() == Engine::Threads ? 1024
                                                             : 1048575;
    if (arrival.getCount() < 1 || arrival.getCount() > limit)
      return emitOpError() << "expected from 1 to " << limit << ' '
                           << stringifyEngine(arrival.getEngine()) << " of "
                           << arrival.getRole() << ", but got "
                           << arrival.getCount();
    if (!getNamed())
      continue;
    if (arrival.getEngine() != Engine::Threads)
      return emitOpError()
             << "expected arrivals of threads on a named barrier, but got "
             << stringifyEngine(arrival.getEngine()) << " of "
             << arrival.getRole();
    if (arrival.getCount() % 32 != 0)
      return emitOpError()
             << "expected a multiple of 32 threads on a named barrier, but got "
             << arrival.getCount() << " of " << arrival.getRole();
  }
  if (getNamed() && getInitiallyFree())
    return emitOpError("expected a named barrier not to be 'initially_free'");
  if (getPerWarp() && !getNamed())
    return emitOpError("expected 'per_warp' on a named barrier only");
  if (std::optional<int64_t> at = getAt()) {
    int64_t place = *at;
    if (getNamed()) {
      int64_t last = getEndOf(place, getNumBarriers() - 1);
      if (place < 1 || last > 15)
        return emitOpError()
               << "expected ids of a named barrier from 1 to 15, but got "
               << place << " to " << last;
    } else if (place < 0 || place % 8 != 0) {
      return emitOpError() << "expected 'at' to be a multiple of 8, but got "
                           << place;
    }
  }
  return success();
}

LogicalResult BarrierOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  for (auto arrival : getArrivals().getAsRange<ArrivalAttr>()) {
    auto role = symbolTable.lookupSymbolIn<RoleOp>(kernel, arrival.getRole());
    if (!role)
      return emitOpError()
             << "expected arrivals of the kernel's roles, but there is no role "
             << arrival.getRole();
    int64_t threads = getPerWarp() ? 32 : role.getThreads();
    // The hardware counts whole warps, and all of a role run the instruction.
    if (getNamed() && arrival.getCount() != threads) {
      InFlightDiagnostic diag = emitOpError()
                                << "expected " << threads << " threads of "
                                << arrival.getRole() << " on a named barrier, "
                                << (getPerWarp() ? "those of one warp"
                                                 : "all of an instance")
                                << ", but got " << arrival.getCount();
      diag.attachNote(role.getLoc()) << "the role is here";
      return diag;
    }
    if (arrival.getEngine() == Engine::Threads &&
        arrival.getCount() > threads) {
      InFlightDiagnostic diag = emitOpError()
                                << "expected at most " << threads
                                << " threads of " << arrival.getRole()
                                << ", but got " << arrival.getCount();
      diag.attachNote(role.getLoc()) << "the role is here";
      return diag;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// WaitOp, ArriveOp
//===----------------------------------------------------------------------===//

LogicalResult WaitOp::verify() {
  auto role = (*this)->getParentOfType<RoleOp>();
  FailureOr<BarrierOp> declaration =
      verifyBarrierSlot(*this, getBarrier(), getSlot());
  if (failed(declaration))
    return failure();
  if (!declaration->getNamed())
    return success();
  if (getParity())
    return emitOpError("expected no parity on a named barrier");
  if (!declaration->getArrivalOf(role.getSymName())) {
    InFlightDiagnostic diag = emitOpError()
                              << "expected a role that named barrier \""
                              << declaration->getName()
                              << "\" counts, but got @" << role.getSymName();
    diag.attachNote(declaration->getLoc()) << "the barrier is here";
    return diag;
  }
  return success();
}

LogicalResult ArriveOp::verify() {
  auto role = (*this)->getParentOfType<RoleOp>();
  FailureOr<BarrierOp> declaration =
      verifyBarrierSlot(*this, getBarrier(), getSlot());
  if (failed(declaration))
    return failure();
  ArrivalAttr arrival = declaration->getArrivalOf(role.getSymName());
  if (!arrival) {
    InFlightDiagnostic diag = emitOpError()
                              << "expected a role whose arrival barrier \""
                              << declaration->getName()
                              << "\" declares, but got @" << role.getSymName();
    diag.attachNote(declaration->getLoc()) << "the barrier is here";
    return diag;
  }
  if (arrival.getEngine() == Engine::Bytes) {
    InFlightDiagnostic diag = emitOpError() << "expected bytes on barrier \""
                                            << declaration->getName()
                                            << "\" to arrive by 'fa4.load'";
    diag.attachNote(declaration->getLoc()) << "the barrier is here";
    return diag;
  }
  return success();
}
