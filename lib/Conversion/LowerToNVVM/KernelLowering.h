// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the conversion patterns of one kernel share: the values that every role
// uses, and where storage lives.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_KERNELLOWERING_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_KERNELLOWERING_H

#include "fa4/IR/FA4.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::fa4 {

/// PTX state spaces as LLVM address spaces.
constexpr unsigned globalSpace = 1, sharedSpace = 3, tmemSpace = 6;

/// One kernel on its way to NVVM. Values are defined in the entry block of the
/// lowered function, so that they dominate every role.
struct KernelLowering {
  // Copied from the `fa4.kernel`, which is gone while patterns run.
  TargetAttr target;
  Scheduler scheduler = Scheduler::LinearPersistent;
  bool causal = false;
  int64_t stages = 2, tileRows = 128, tileKeys = 128, pack = 1;
  Type elementType; // f16 or bf16

  // Extents of the problem as i32: constants where static, else parameters.
  Value seqQ;            // positions of Q
  Value seqKv;           // keys
  Value queryHeads;      // query heads in all
  Value tileHeads;       // heads that tiles are made for: queryHeads / pack
  Value tileHeadsPerKv;  // tile heads that share a K/V head
  Value mBlocks;         // M blocks of one head
  Value tasks;           // tasks in all
  Value headsPerSection; // longest first: heads whose tasks interleave
  Value blocks;          // blocks of the grid

  // Who arrives how, and which synchronisation stands in a role that touches
  // tensor memory: known while roles are still ops.
  llvm::DenseMap<Operation *, ArrivalAttr> arrivals;
  llvm::DenseMap<Operation *, int64_t> roleThreads;
  llvm::DenseSet<Operation *> tmemSynchronization;

  Value smem;        // ptr<3>: dynamic shared memory, 1024-byte aligned
  Value smemAddress; // i32: the same as an address of the shared window
  Value tmem;        // i32: first tensor-memory column of the block, lane 0
  Value warp;        // i32, uniform: warp of the block
  Value thread; // i32: thread of the warpgroup, 0..127, that is the row of its
                // tile
  Value
      tmemLane;  // i32: this warp's first lane (32 * (warp % 4)) in bits 31..16
  Value elected; // i1: true in one thread of each warp

  /// Whether a wait or arrive orders accesses to tensor memory.
  bool ordersTmem(Operation *op) const {
    return tmemSynchronization.contains(op);
  }
  /// Query rows of one task, over all stages.
  int64_t taskRows() const { return stages * tileRows; }
};

/// Warp of the block, uniform, computed here rather than taken from where the
/// kernel begins.
Value getWarp(OpBuilder &builder, Location loc);

/// Pointer to the hardware barrier in shared memory of a slot.
Value getBarrierPointer(OpBuilder &builder, Location loc,
                        const KernelLowering &kernel, BarrierOp barrier,
                        Value slot);

/// An i32 constant.
Value i32Constant(OpBuilder &builder, Location loc, int64_t value);
/// An f32 constant.
Value f32Constant(OpBuilder &builder, Location loc, float value);
/// An index value as i32. Kernels run with 32-bit indices, so that this is
/// free.
Value toI32(OpBuilder &builder, Location loc, Value index);

/// First byte (shared memory) or column (tensor memory) of slot 0 of a ring.
/// Every ring has one once storage is allocated, which the pass checks first.
int64_t getRingAt(Value ring);
/// Distance from one slot to the next, in bytes or columns.
int64_t getRingStride(Value ring);

/// Pointer (ptr<3>) to byte `offset` + `dynamic` of the block's shared memory.
/// `dynamic` is i32 or null.
Value getSmemPointer(OpBuilder &builder, Location loc,
                     const KernelLowering &kernel, int64_t offset,
                     Value dynamic = Value());
/// Pointer (ptr<3>) to byte `offset` + `dynamic` of a slot of a ring in shared
/// memory.
Value getSlotPointer(OpBuilder &builder, Location loc,
                     const KernelLowering &kernel, Value ring, Value slot,
                     int64_t offset = 0, Value dynamic = Value());
/// Tensor-memory address (i32, lane 0) of column `column` of a slot of a ring.
Value getSlotColumn(OpBuilder &builder, Location loc,
                    const KernelLowering &kernel, Value ring, Value slot,
                    int64_t column = 0);
/// A tensor-memory address as the ptr<6> that NVVM's ops take.
Value toTmemPointer(OpBuilder &builder, Location loc, Value address);

/// Row of the task, in 0 .. taskRows: `stage` * tileRows + thread. i32.
Value getTaskRow(OpBuilder &builder, Location loc, const KernelLowering &kernel,
                 Value stage);
/// Row of the packed query rows (position * pack + head of the group) that this
/// thread holds for a tile of an M block. i32.
Value getPackedRow(OpBuilder &builder, Location loc,
                   const KernelLowering &kernel, Value mBlock, Value stage);

/// Patterns by idea. Fragments become one vector<2xf32> for each pair of
/// columns (f32), or one i32 for each packed pair (f16, bf16); row values
/// become f32; rings and barriers stay as they are and disappear with their
/// last use.
void populateMemoryPatterns(
    const TypeConverter &converter, const KernelLowering &kernel,
    RewritePatternSet &patterns); // read/write/rescale/mailbox/LSE
void populateMathPatterns(const TypeConverter &converter,
                          const KernelLowering &kernel,
                          RewritePatternSet &patterns); // mask .. normalize
void populateIssuePatterns(const TypeConverter &converter,
                           const KernelLowering &kernel,
                           RewritePatternSet &patterns); // load/store/mma
void populateBarrierPatterns(
    const TypeConverter &converter, const KernelLowering &kernel,
    RewritePatternSet &patterns); // barriers, waits, fences, set-up

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_KERNELLOWERING_H
