// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "InlineAsm.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::fa4;

/// Without side effects LLVM may move and merge it like any arithmetic.
static Value createAsm(ImplicitLocOpBuilder &b, Type result, StringRef text,
                       StringRef constraints, ValueRange operands,
                       bool hasSideEffects) {
  auto dialect =
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(
             b, result, operands, text, constraints, hasSideEffects,
             /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
             dialect, /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

Value mlir::fa4::createAddRoundDown(ImplicitLocOpBuilder &b, Value lhs,
                                    Value rhs) {
  // Packed operands are 64-bit registers in PTX.
  Type bits = b.getI64Type();
  Value left = LLVM::BitcastOp::create(b, bits, lhs);
  Value right = LLVM::BitcastOp::create(b, bits, rhs);
  Value sum = createAsm(b, bits, "add.rm.ftz.f32x2 $0, $1, $2;", "=l,l,l",
                        {left, right}, /*hasSideEffects=*/false);
  return LLVM::BitcastOp::create(b, lhs.getType(), sum);
}

Value mlir::fa4::createConvertPair(ImplicitLocOpBuilder &b, Value high,
                                   Value low, Type element) {
  StringRef text = element.isF16() ? "cvt.rn.f16x2.f32 $0, $1, $2;"
                                   : "cvt.rn.bf16x2.f32 $0, $1, $2;";
  return createAsm(b, b.getI32Type(), text, "=r,f,f", {high, low},
                   /*hasSideEffects=*/false);
}

Value mlir::fa4::createShiftLeft(ImplicitLocOpBuilder &b, Value value,
                                 Value count) {
  return createAsm(b, value.getType(), "shl.b32 $0, $1, $2;", "=r,r,r",
                   {value, count}, /*hasSideEffects=*/true);
}

Value mlir::fa4::createOpaque(ImplicitLocOpBuilder &b, Value value) {
  return createAsm(b, value.getType(), "mov.b32 $0, $1;", "=r,r", value,
                   /*hasSideEffects=*/true);
}
