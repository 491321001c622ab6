// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// Building and taking apart what lies in registers. LLVM sees through all of
// it.
//
#include "Registers.h"

using namespace mlir;
using namespace mlir::fa4;

VectorType mlir::fa4::getPairType(MLIRContext *context) {
  return VectorType::get({2}, Float32Type::get(context));
}

Value mlir::fa4::createPairConstant(ImplicitLocOpBuilder &b, float value) {
  VectorType type = getPairType(b.getContext());
  return LLVM::ConstantOp::create(b, type, DenseElementsAttr::get(type, value));
}

static Value extract(ImplicitLocOpBuilder &b, Value vector, int64_t index) {
  return LLVM::ExtractElementOp::create(b, vector,
                                        i32Constant(b, b.getLoc(), index));
}

static Value insert(ImplicitLocOpBuilder &b, Value vector, Value value,
                    int64_t index) {
  return LLVM::InsertElementOp::create(b, vector, value,
                                       i32Constant(b, b.getLoc(), index));
}

Value mlir::fa4::createPair(ImplicitLocOpBuilder &b, Value low, Value high) {
  Value empty = LLVM::PoisonOp::create(b, getPairType(b.getContext()));
  return insert(b, insert(b, empty, low, 0), high, 1);
}

Value mlir::fa4::createSplat(ImplicitLocOpBuilder &b, Value value) {
  return createPair(b, value, value);
}

Value mlir::fa4::getLow(ImplicitLocOpBuilder &b, Value pair) {
  return extract(b, pair, 0);
}

Value mlir::fa4::getHigh(ImplicitLocOpBuilder &b, Value pair) {
  return extract(b, pair, 1);
}

Value mlir::fa4::callIntrinsic(ImplicitLocOpBuilder &b, StringRef name,
                               Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name),
                                       operands)
      .getResults();
}

Value mlir::fa4::getPosition(ImplicitLocOpBuilder &b,
                             const KernelLowering &kernel, Value mBlock,
                             Value stage) {
  return getPositionOfRow(b, kernel, mBlock, stage, kernel.thread);
}

Value mlir::fa4::getPositionOfRow(ImplicitLocOpBuilder &b,
                                  const KernelLowering &kernel, Value mBlock,
                                  Value stage, Value row) {
  auto constant = [&](int64_t value) {
    return i32Constant(b, b.getLoc(), value);
  };
  Value block =
      LLVM::MulOp::create(b, mBlock, constant(kernel.taskRows() / kernel.pack));
  Value tile =
      LLVM::MulOp::create(b, stage, constant(kernel.tileRows / kernel.pack));
  Value inTile = LLVM::UDivOp::create(b, row, constant(kernel.pack));
  return LLVM::AddOp::create(b, LLVM::AddOp::create(b, block, tile), inTile);
}

SmallVector<Value> mlir::fa4::getWords(ImplicitLocOpBuilder &b,
                                       ValueRange fragment) {
  SmallVector<Value> words;
  auto bits = VectorType::get({2}, b.getI32Type());
  for (Value value : fragment) {
    if (value.getType().isInteger(32)) {
      words.push_back(value);
      continue;
    }
    Value pair = LLVM::BitcastOp::create(b, bits, value);
    words.append({extract(b, pair, 0), extract(b, pair, 1)});
  }
  return words;
}

Value mlir::fa4::joinWords(ImplicitLocOpBuilder &b, ArrayRef<Value> words) {
  if (words.size() == 1)
    return words.front();
  int64_t count = words.size();
  Value vector =
      LLVM::PoisonOp::create(b, VectorType::get({count}, b.getI32Type()));
  for (auto [index, word] : llvm::enumerate(words))
    vector = insert(b, vector, word, index);
  return vector;
}

SmallVector<Value> mlir::fa4::splitWords(ImplicitLocOpBuilder &b, Value words,
                                         Type elementType) {
  auto type = dyn_cast<VectorType>(words.getType());
  if (!type)
    return {words};
  SmallVector<Value> values;
  int64_t count = type.getNumElements();
  if (!elementType.isF32()) {
    for (int64_t index = 0; index < count; ++index)
      values.push_back(extract(b, words, index));
    return values;
  }
  Value floats =
      LLVM::BitcastOp::create(b, VectorType::get({count}, elementType), words);
  for (int32_t index = 0; index < count; index += 2)
    values.push_back(LLVM::ShuffleVectorOp::create(
        b, floats, floats, ArrayRef<int32_t>{index, index + 1}));
  return values;
}
