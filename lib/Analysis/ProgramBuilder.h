// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flattens a kernel: numbers its rings, slots, registers and ops.

#ifndef FA4_LIB_ANALYSIS_PROGRAMBUILDER_H
#define FA4_LIB_ANALYSIS_PROGRAMBUILDER_H

#include "Program.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::fa4::protocol {

class ProgramBuilder {
public:
  explicit ProgramBuilder(KernelOp kernel) : kernel(kernel) {}

  FailureOr<Program> build();

private:
  LogicalResult addRings();
  LogicalResult addBarriers();
  void cutRings();
  void addAgents();
  void findWaits();

  LogicalResult addBlock(Block &block);
  LogicalResult addOp(Operation *op);
  LogicalResult addTaskLoop(ForTaskOp loop);
  LogicalResult addKvLoop(ForKvOp loop);
  LogicalResult addBarrierOp(Operation *op);
  LogicalResult addTileOp(Operation *op);
  LogicalResult addIssuedOp(Operation *op);
  LogicalResult addMma(MmaOp op);
  LogicalResult addProduct(WarpgroupMmaOp op);
  LogicalResult checkScale(Operation *op);
  LogicalResult checkSign(Operation *op, bool transposed, bool negated);
  void addMath(Operation *op);
  LogicalResult checkCoordinates(Operation *op, ValueRange coordinates);
  LogicalResult checkMask(MaskOp op);
  LogicalResult refuseRegions(Operation *op);

  /// A new event of `op`, whose accesses follow.
  Instruction begin(Operation *op, Event event);
  void end(Instruction instruction);

  void addUses(Operation *op);
  void addCopy(ValueRange from, ValueRange to);
  void addAccess(Value ring, Value slot, int64_t begin, int64_t end, bool reads,
                 bool writes);
  void addWholeTile(Value ring, Value slot, bool reads, bool writes);

  /// Registers of fragments, as the operands of a Math event.
  void addOperands(Instruction &instruction, ValueRange fragments);
  static bool isTracked(Value value);
  int32_t getRegister(Value value);

  KernelOp kernel;
  Program program;
  RoleProgram *role = nullptr;
  Operation *current = nullptr;
  bool complete = true;
  /// Loops of the task at hand, in order.
  SmallVector<ForKvOp> kvLoops;
  bool inKvLoop = false;
  ForTaskOp taskLoop;

  DenseMap<Attribute, int32_t> roleOf;
  DenseMap<Value, int32_t> ringOf, barrierOf;
  DenseMap<Value, int32_t> registerOf;
  /// Fragments that a `fa4.read_tile` of the role fills.
  DenseMap<Value, int32_t> readOf;
  /// Values of the role that reach an effect.
  llvm::DenseSet<Value> needed;
  /// The first product of Q, and whether it takes -Q.
  std::pair<Operation *, bool> scores;
  /// The first `fa4.scale` and its factor; the first op that scales S for its
  /// exponents, and its scale.
  std::pair<Operation *, FloatAttr> factors, scales;
};

} // namespace mlir::fa4::protocol

#endif // FA4_LIB_ANALYSIS_PROGRAMBUILDER_H
