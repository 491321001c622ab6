// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on slots, parities and flags: small numbers that follow from the
// text.

#include "Program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fa4;
using namespace mlir::fa4::protocol;

static bool isInteger(Type type) { return isa<IndexType, IntegerType>(type); }

bool protocol::isArithmetic(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isInteger(select.getCondition().getType());
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
         op->getNumResults() == 1 && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperandTypes(), isInteger) &&
         isInteger(op->getResult(0).getType());
}

/// A bit is 0 or 1, where signed comparison takes it for 0 or -1.
static std::optional<int64_t> compare(arith::CmpIOp op, int64_t a, int64_t b) {
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = op.getPredicate();
  bool isSigned = predicate >= Predicate::slt && predicate <= Predicate::sge;
  bool bits = op.getLhs().getType().isInteger(1);
  if (predicate > Predicate::ne && (isSigned ? bits : a < 0 || b < 0))
    return std::nullopt;
  switch (predicate) {
  case Predicate::eq:
    return a == b;
  case Predicate::ne:
    return a != b;
  case Predicate::slt:
  case Predicate::ult:
    return a < b;
  case Predicate::sle:
  case Predicate::ule:
    return a <= b;
  case Predicate::sgt:
  case Predicate::ugt:
    return a > b;
  case Predicate::sge:
  case Predicate::uge:
    return a >= b;
  }
  return std::nullopt;
}

/// In the integers, as far as the result does not depend on a width.
static std::optional<int64_t> compute(Operation *op, ArrayRef<int64_t> v) {
  using Result = std::optional<int64_t>;
  bool natural = llvm::all_of(v, [](int64_t value) { return value >= 0; });
  bool bits = op->getOperand(0).getType().isInteger(1);
  auto when = [](bool holds, int64_t value) {
    return holds ? Result(value) : std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return v[0] + v[1]; })
      .Case([&](arith::SubIOp) { return v[0] - v[1]; })
      .Case([&](arith::MulIOp) { return v[0] * v[1]; })
      .Case([&](arith::AndIOp) { return v[0] & v[1]; })
      .Case([&](arith::OrIOp) { return v[0] | v[1]; })
      .Case([&](arith::XOrIOp) { return v[0] ^ v[1]; })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) {
        return natural && v[1] != 0 && !bits ? Result(v[0] % v[1])
                                             : std::nullopt;
      })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) {
        return natural && v[1] != 0 && !bits ? Result(v[0] / v[1])
                                             : std::nullopt;
      })
      .Case<arith::MinUIOp, arith::MinSIOp>(
          [&](auto) { return when(natural && !bits, std::min(v[0], v[1])); })
      .Case<arith::MaxUIOp, arith::MaxSIOp>(
          [&](auto) { return when(natural && !bits, std::max(v[0], v[1])); })
      .Case<arith::ShRUIOp, arith::ShRSIOp>([&](auto) {
        return natural && v[1] < 24 && !bits ? Result(v[0] >> v[1])
                                             : std::nullopt;
      })
      .Case([&](arith::ShLIOp) {
        return natural && v[1] < 24 && !bits ? Result(v[0] << v[1])
                                             : std::nullopt;
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return when(natural, v[0]); })
      .Case<arith::ExtSIOp, arith::IndexCastOp>(
          [&](auto) { return bits ? -v[0] : v[0]; })
      .Case([&](arith::TruncIOp) { return v[0]; })
      .Case([&](arith::CmpIOp compareOp) {
        return compare(compareOp, v[0], v[1]);
      })
      .Default(std::nullopt);
}

int32_t protocol::evaluate(Operation *op, ArrayRef<int32_t> operands) {
  auto known = [](int64_t value) {
    return value > -kFirstContent && value < kFirstContent;
  };
  if (isa<arith::SelectOp>(op)) {
    if (operands[0] != 0 && operands[0] != 1)
      return kUnknown;
    return operands[operands[0] ? 1 : 2];
  }
  if (!llvm::all_of(operands, known))
    return kUnknown;
  std::optional<int64_t> result =
      compute(op, SmallVector<int64_t>(operands.begin(), operands.end()));
  if (!result)
    return kUnknown;
  Type type = op->getResult(0).getType();
  if (type.isInteger(1))
    return *result & 1;
  // A narrow integer that wraps is none that anyone counts slots with.
  int64_t limit = kFirstContent;
  if (auto integer = dyn_cast<IntegerType>(type);
      integer && integer.getWidth() < 24)
    limit = int64_t(1) << (integer.getWidth() - 1);
  return *result >= -limit && *result < limit ? *result : kUnknown;
}
