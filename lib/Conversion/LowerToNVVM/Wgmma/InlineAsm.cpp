// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// The text of wgmma products and waits.
//
#include "../InlineAsm.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fa4;

/// `$first, $first+1, ...` in braces.
static std::string list(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t index = 0; index < count; ++index)
    text += (index == 0 ? "$" : ", $") + std::to_string(first + index);
  return text + "}";
}

/// Assembly with `count` f32 results.
static SmallVector<Value> createFloats(ImplicitLocOpBuilder &b, StringRef text,
                                       StringRef inputs, ValueRange operands,
                                       size_t count) {
  std::string constraints;
  for (size_t index = 0; index < count; ++index)
    constraints += index == 0 ? "=f" : ",=f";
  constraints += inputs;
  SmallVector<Type> types(count, b.getF32Type());
  Value all =
      LLVM::InlineAsmOp::create(
          b, LLVM::LLVMStructType::getLiteral(b.getContext(), types), operands,
          text, constraints, /*has_side_effects=*/true,
          /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
          LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
          /*operand_attrs=*/ArrayAttr())
          .getResult(0);
  SmallVector<Value> results;
  for (size_t index = 0; index < count; ++index)
    results.push_back(LLVM::ExtractValueOp::create(b, all, index));
  return results;
}

/// Constraints that give each of `count` inputs the register of its result.
static std::string tie(size_t count) {
  std::string constraints;
  for (size_t index = 0; index < count; ++index)
    constraints += "," + std::to_string(index);
  return constraints;
}

SmallVector<Value> mlir::fa4::createWgmma(ImplicitLocOpBuilder &b,
                                          const WgmmaProduct &product) {
  // Operands: results, tied accumulators, A, B.
  size_t count = product.columns / 2;
  SmallVector<Value> operands(product.accumulators);
  std::string inputs = tie(product.accumulators.size());
  int64_t a = static_cast<int64_t>(count + operands.size());
  if (product.a) {
    operands.push_back(product.a);
    inputs += ",l";
  } else {
    llvm::append_range(operands, product.aRegisters);
    for (size_t index = 0; index < product.aRegisters.size(); ++index)
      inputs += ",r";
  }
  int64_t bOperand = static_cast<int64_t>(count + operands.size());
  operands.push_back(product.b);
  inputs += ",l";

  StringRef element = product.element.isF16() ? "f16" : "bf16";
  std::string text, results = list(0, count);
  llvm::raw_string_ostream os(text);
  os << "{\n\t.reg .b64 a, b;\n\t.reg .pred p;\n\twgmma.fence.sync.aligned;";
  if (product.accumulators.empty())
    os << "\n\tsetp.ne.b32 p, 0, 0;";
  for (auto [step, offset] : llvm::enumerate(product.bSteps)) {
    os << "\n\tadd.s64 b, $" << bOperand << ", " << offset << ";";
    if (product.a)
      os << "\n\tadd.s64 a, $" << a << ", " << product.aSteps[step] << ";";
    os << "\n\twgmma.mma_async.sync.aligned.m64n" << product.columns
       << "k16.f32." << element << '.' << element << ' ' << results << ", "
       << (product.a ? "a" : list(a + 4 * static_cast<int64_t>(step), 4))
       << ", b, " << (product.accumulators.empty() && step == 0 ? "p" : "1")
       << ", " << (product.negateA ? "-1" : "1") << ", 1, "
       << (product.a ? "0, " : "") << (product.transposeB ? "1" : "0") << ';';
  }
  os << "\n\twgmma.commit_group.sync.aligned;\n\t}";
  return createFloats(b, text, inputs, operands, count);
}

/// A's registers of the product that gave `result`: its operands of type i32.
static SmallVector<Value> getRegistersOfA(Value result) {
  SmallVector<Value> registers;
  auto extract = result.getDefiningOp<LLVM::ExtractValueOp>();
  auto product = extract
                     ? extract.getContainer().getDefiningOp<LLVM::InlineAsmOp>()
                     : LLVM::InlineAsmOp();
  if (product)
    for (Value operand : product.getOperands())
      if (operand.getType().isInteger(32))
        registers.push_back(operand);
  return registers;
}

SmallVector<Value> mlir::fa4::createWgmmaWait(ImplicitLocOpBuilder &b,
                                              int64_t pending,
                                              ArrayRef<Value> registers) {
  std::string text =
      "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";";
  std::string inputs = tie(registers.size());
  SmallVector<Value> operands(registers);
  for (Value value : getRegistersOfA(registers.front())) {
    operands.push_back(value);
    inputs += ",r";
  }
  return createFloats(b, text, inputs, operands, registers.size());
}
