// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the program of one role, an op a call, in the role's order. Waits,
// arrivals and what these need are derived from the programs of all roles.

#ifndef FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_ROLEBUILDER_H
#define FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_ROLEBUILDER_H

#include "Schedule.h"

namespace mlir::fa4::schedule {

/// One task as a role sees it.
struct Task {
  Value batch, head, mBlock;

  /// Coordinates of a query tile, and of a K/V block.
  SmallVector<Value> tile(Value stage) const {
    return {batch, head, mBlock, stage};
  }
  SmallVector<Value> block(Value kvBlock) const {
    return {batch, head, kvBlock};
  }
};

/// A row's reference and factor.
struct RowMax {
  Value reference, factor;
};

class RoleBuilder {
public:
  /// Appends a role to the kernel; with `instanced`, one for each warpgroup.
  RoleBuilder(Schedule &schedule, StringRef name, WarpRange warps,
              int64_t registers, bool instanced = false);

  const Schedule &schedule;
  const Plan &plan;

  Value instance() { return role.getInstance(); }

  // Loops. The body of a K/V loop returns what it hands to the next iteration.
  void forTask(function_ref<void(Task)> body);
  void forKv(KvRange range, Value mBlock,
             function_ref<void(Value kvBlock)> body);
  ResultRange forKv(
      KvRange range, Value mBlock, ValueRange inits,
      function_ref<SmallVector<Value>(Value kvBlock, ValueRange carried)> body);
  Value firstKv(Value mBlock);

  Value next(Value ring);
  /// Waits until what was read of tensor memory is there.
  void awaitReads();

  // Copies.
  void load(Value source, ValueRange coordinates, Value ring, Value slot,
            Value barrier);
  void store(Value ring, Value slot, Value target, ValueRange coordinates);
  void storeWait(int64_t pending);

  // Products: S = Q * K^T, and a segment of O += P * V.
  void multiplyQK(int64_t stage, Value kvSlot);
  void multiplyPV(int64_t stage, Value kvSlot, Value accumulate, int64_t begin,
                  int64_t end);

  // Fragments and row values.
  Value readTile(Value ring, Value slot, int64_t column, int64_t columns);
  void writeTile(Value fragment, Value ring, Value slot, int64_t column);
  Value mask(Value fragment, Value mBlock, Value stage, Value kvBlock,
             int64_t column);
  Value scale(Value fragment, float factor);
  RowMax rowMax(ValueRange fragments, Value old);
  Value exp2(Value fragment, Value reference, bool polynomial);
  Value rowSum(ValueRange fragments, Value old, Value factor);
  Value convert(Value fragment);
  Value normalize(Value fragment, Value sum);
  void rescale(Value ring, Value slot, Value factor);
  void publish(Value rows, Value mailbox, Value slot);
  Value collect(Value mailbox, Value slot);
  void storeLse(Value reference, Value sum, ValueRange coordinates);

private:
  OpBuilder builder;
  Location loc;
  RoleOp role;
};

/// Normalises the O tile of `slot`, stages it for the store and writes its LSE;
/// `reference` is read only where the kernel has an LSE.
void buildEpilogue(RoleBuilder &role, const Task &task, Value slot,
                   Value reference, Value sum);

} // namespace mlir::fa4::schedule

#endif // FA4_LIB_TRANSFORMS_SCHEDULEATTENTION_ROLEBUILDER_H
