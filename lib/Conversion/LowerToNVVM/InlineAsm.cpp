// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "InlineAsm.h"
#include "Registers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

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
  if (!isa<VectorType>(lhs.getType()))
    return callIntrinsic(b, "llvm.nvvm.add.rm.ftz.f", b.getF32Type(),
                         {lhs, rhs});
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

/// Both elements of a pair as words, from the run of words that it was taken
/// from if there is one: the backend would pack the words of any vector of f32
/// into pairs where they come to be.
static std::array<Value, 2> getPairWords(ImplicitLocOpBuilder &b, Value pair) {
  auto extract = [&](Value vector, int32_t index) -> Value {
    Value position = LLVM::ConstantOp::create(b, b.getI32Type(), index);
    return LLVM::ExtractElementOp::create(b, vector, position);
  };
  if (auto shuffle = pair.getDefiningOp<LLVM::ShuffleVectorOp>())
    if (auto cast = shuffle.getV1().getDefiningOp<LLVM::BitcastOp>())
      if (auto words = dyn_cast<VectorType>(cast.getArg().getType());
          words && words.getElementType().isInteger(32)) {
        ArrayRef<int32_t> mask = shuffle.getMask();
        return {extract(cast.getArg(), mask[0]),
                extract(cast.getArg(), mask[1])};
      }
  auto words = VectorType::get({2}, b.getI32Type());
  Value cast = LLVM::BitcastOp::create(b, words, pair);
  return {extract(cast, 0), extract(cast, 1)};
}

SmallVector<Value> mlir::fa4::createCopies(ImplicitLocOpBuilder &b,
                                           ArrayRef<Value> values) {
  std::string text, outputs, inputs;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  llvm::raw_string_ostream os(text);
  int64_t operand = values.size();
  for (auto [index, value] : llvm::enumerate(values)) {
    Type type = value.getType();
    StringRef separator = index == 0 ? "" : ",";
    if (isa<VectorType>(type)) {
      llvm::append_range(operands, getPairWords(b, value));
      os << "mov.b64 $" << index << ", {$" << operand << ", $" << operand + 1
         << "};";
      outputs += (separator + "=l").str();
      inputs += ",r,r";
      types.push_back(b.getI64Type());
      operand += 2;
    } else {
      operands.push_back(value);
      os << "mov.b32 $" << index << ", $" << operand << ";";
      outputs += (separator + (type.isF32() ? "=f" : "=r")).str();
      inputs += type.isF32() ? ",f" : ",r";
      types.push_back(type);
      operand += 1;
    }
    if (index + 1 < values.size())
      os << "\n\t";
  }
  Type result = types.size() == 1
                    ? types.front()
                    : LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Value all = createAsm(b, result, text, outputs + inputs, operands,
                        /*hasSideEffects=*/true);
  SmallVector<Value> copies;
  for (auto [index, value] : llvm::enumerate(values)) {
    Value copy = types.size() == 1
                     ? all
                     : LLVM::ExtractValueOp::create(b, all, index).getResult();
    if (copy.getType() != value.getType())
      copy = LLVM::BitcastOp::create(b, value.getType(), copy);
    copies.push_back(copy);
  }
  return copies;
}
