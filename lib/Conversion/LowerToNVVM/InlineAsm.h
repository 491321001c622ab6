// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every piece of inline assembly of the lowering, and why it is there.

#ifndef FA4_LIB_CONVERSION_LOWERTONVVM_INLINEASM_H
#define FA4_LIB_CONVERSION_LOWERTONVVM_INLINEASM_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fa4 {

/// `lhs` + `rhs`, pairs of f32 (vector<2xf32>), rounded towards -inf.
/// NVVM and LLVM know packed f32 arithmetic in round-to-nearest only; two
/// scalar additions would take twice the issue slots (PTX ISA,
/// add.rm.ftz.f32x2).
Value createAddRoundDown(ImplicitLocOpBuilder &b, Value lhs, Value rhs);

/// f32 values `high` and `low` rounded to `element` (f16 or bf16), as the
/// halves of an i32. nvvm.convert.f32x2 gives a vector, which the backend packs
/// into the words of a store with 64-bit shifts and ors around each pair.
Value createConvertPair(ImplicitLocOpBuilder &b, Value high, Value low,
                        Type element);

/// `value` << `count` (i32), 0 for counts of 32 and above, as PTX's shl.b32
/// clamps and LLVM's shl does not. Opaque to LLVM: where every block has the
/// same mask, it would compute the mask's 128 bits once and keep them in
/// registers.
Value createShiftLeft(ImplicitLocOpBuilder &b, Value value, Value count);

/// `value` (i32) again, as something that LLVM cannot compute before the loop.
/// Addresses that follow from the thread alone are cheap to compute where they
/// are used; hoisted out of the task loop, they would each hold a register of a
/// small budget across it.
Value createOpaque(ImplicitLocOpBuilder &b, Value value);

/// `values` again (i32, f32 or pairs of f32), as something that LLVM reads here
/// and uses behind here only. A pair is packed in the same step.
SmallVector<Value> createCopies(ImplicitLocOpBuilder &b,
                                ArrayRef<Value> values);

/// One product of a warpgroup: 64 rows of A times B, over all of K.
struct WgmmaProduct {
  Type element; // f16 or bf16
  int64_t columns = 0;
  /// A: a descriptor (i64) and what each K step adds to it, or registers (i32),
  /// four for each step.
  Value a;
  SmallVector<int64_t> aSteps;
  SmallVector<Value> aRegisters;
  Value b;
  SmallVector<int64_t> bSteps;
  /// What is added to (f32), or nothing.
  SmallVector<Value> accumulators;
  bool negateA = false;
  /// B lies in rows along K (wgmma's trans-b).
  bool transposeB = false;
};

/// Issues the product as one group and returns its registers (f32), which hold
/// nothing before a createWgmmaWait.
/// NVVM has no op for A in registers, and between the steps of one op each LLVM
/// could place copies of accumulators, which make ptxas serialise them.
SmallVector<Value> createWgmma(ImplicitLocOpBuilder &b,
                               const WgmmaProduct &product);

/// Waits until at most `pending` groups run, and returns `registers` from there
/// on. A's registers of the product that gave them are operands too: the tensor
/// core reads them until here, and LLVM would keep a value of the next block in
/// them. nvvm.wgmma.wait.group.sync.aligned has no tie to any of these.
SmallVector<Value> createWgmmaWait(ImplicitLocOpBuilder &b, int64_t pending,
                                   ArrayRef<Value> registers);

} // namespace mlir::fa4

#endif // FA4_LIB_CONVERSION_LOWERTONVVM_INLINEASM_H
