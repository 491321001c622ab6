// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionVerifier.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fa4;

namespace {

using Problem = std::optional<std::string>;

/// One operand: its name in diagnostics, its type, and what its dimensions are.
struct Operand {
  StringRef name;
  ShapedType type;
  SmallVector<StringRef, 4> dims;
};

constexpr int64_t kTmaAlignment = 16;
constexpr int64_t kTmaStrideLimit = int64_t(1) << 40;

/// Builds one message out of parts, types and attributes included.
template <typename... Parts> std::string text(const Parts &...parts) {
  std::string result;
  llvm::raw_string_ostream os(result);
  (os << ... << parts);
  return result;
}

/// A type as diagnostics of MLIR show it.
std::string quoted(Type type) { return text("'", type, "'"); }

std::string extentText(int64_t extent) {
  return ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
}

std::string dimText(const Operand &operand, unsigned dim) {
  return text("'", operand.name, "' dimension ", dim, " (", operand.dims[dim],
              ")");
}

int64_t elementBytes(ShapedType type) {
  return type.getElementTypeBitWidth() / 8;
}

/// attention_c1
Problem checkKinds(ArrayRef<Operand> operands) {
  const Operand &first = operands.front();
  for (const Operand &operand : operands.drop_front())
    if (isa<MemRefType>(operand.type) != isa<MemRefType>(first.type))
      return text(
          "expected operands that are all memrefs or all tensors, but '",
          first.name, "' is ", quoted(first.type), " and '", operand.name,
          "' is ", quoted(operand.type));
  return std::nullopt;
}

/// attention_c2
Problem checkRanks(ArrayRef<Operand> operands) {
  for (const Operand &operand : operands) {
    int64_t rank = operand.dims.size();
    if (operand.type.getRank() != rank)
      return text("expected '", operand.name, "' of rank ", rank, " [",
                  llvm::join(operand.dims, ", "), "], but got rank ",
                  operand.type.getRank());
  }
  return std::nullopt;
}

/// attention_c3 and attention_c4
Problem checkElementTypes(ArrayRef<Operand> tiles) {
  for (const Operand &operand : tiles) {
    Type type = operand.type.getElementType();
    if (!type.isF16() && !type.isBF16())
      return text("expected element type f16 or bf16 of '", operand.name,
                  "', but got ", quoted(type));
  }
  const Operand &q = tiles.front();
  for (const Operand &operand : tiles.drop_front())
    if (operand.type.getElementType() != q.type.getElementType())
      return text("expected '", q.name, "' and '", operand.name,
                  "' of the same element type, but got ",
                  quoted(q.type.getElementType()), " and ",
                  quoted(operand.type.getElementType()));
  return std::nullopt;
}

/// attention_c5
Problem checkHeadDims(ArrayRef<Operand> tiles) {
  for (const Operand &operand : tiles) {
    int64_t extent = operand.type.getDimSize(3);
    if (ShapedType::isDynamic(extent))
      return text("expected ", dimText(operand, 3),
                  " to be static, 64 or 128, but got ?");
    if (extent != 64 && extent != 128)
      return text("expected a head dimension of 64 or 128 in ",
                  dimText(operand, 3), ", but got ", extent);
  }
  return std::nullopt;
}

/// attention_c6: two dimensions of one name have one extent.
Problem checkExtents(ArrayRef<Operand> operands) {
  for (unsigned i = 0; i < operands.size(); ++i)
    for (unsigned dim = 0; dim < operands[i].dims.size(); ++dim)
      for (unsigned j = i + 1; j < operands.size(); ++j) {
        const Operand &a = operands[i], &b = operands[j];
        const auto *other = llvm::find(b.dims, a.dims[dim]);
        if (other == b.dims.end())
          continue;
        unsigned otherDim = other - b.dims.begin();
        int64_t expected = a.type.getDimSize(dim);
        int64_t got = b.type.getDimSize(otherDim);
        if (ShapedType::isStatic(expected) && ShapedType::isStatic(got) &&
            expected != got)
          return text("expected ", dimText(a, dim), " and ",
                      dimText(b, otherDim), " to be equal, but got ", expected,
                      " and ", got);
      }
  return std::nullopt;
}

/// The extent of a named dimension, from whichever operand has it statically.
int64_t findExtent(ArrayRef<Operand> operands, StringRef name) {
  for (const Operand &operand : operands)
    for (auto [dim, dimName] : llvm::enumerate(operand.dims))
      if (dimName == name && !operand.type.isDynamicDim(dim))
        return operand.type.getDimSize(dim);
  return ShapedType::kDynamic;
}

/// attention_c7
Problem checkHeads(ArrayRef<Operand> operands) {
  int64_t queryHeads = findExtent(operands, "Hq");
  int64_t keyHeads = findExtent(operands, "Hkv");
  if (ShapedType::isDynamic(keyHeads))
    return std::nullopt;
  bool divides = keyHeads != 0 && (ShapedType::isDynamic(queryHeads) ||
                                   queryHeads % keyHeads == 0);
  if (divides)
    return std::nullopt;
  return text("expected the number of query heads to be a multiple of the "
              "number of key/value heads, but got Hq = ",
              extentText(queryHeads), " and Hkv = ", keyHeads);
}

/// attention_c16
Problem checkMemorySpace(const Operand &operand) {
  Attribute space = cast<MemRefType>(operand.type).getMemorySpace();
  if (!space)
    return std::nullopt;
  if (auto number = dyn_cast<IntegerAttr>(space))
    if (number.getValue().isZero() || number.getValue().isOne())
      return std::nullopt;
  if (auto gpuSpace = dyn_cast<gpu::AddressSpaceAttr>(space))
    if (gpuSpace.getValue() == gpu::AddressSpace::Global)
      return std::nullopt;
  return text("expected '", operand.name,
              "' in global memory (no memory space, 0, 1 or "
              "#gpu.address_space<global>), but got ",
              space);
}

/// attention_c11 for one outer dimension.
Problem checkTmaStride(const Operand &operand, unsigned dim, int64_t stride) {
  int64_t limit = kTmaStrideLimit / elementBytes(operand.type);
  if (stride < 0)
    return text("expected a byte stride of ", dimText(operand, dim),
                " that is not negative, as TMA requires, but got ",
                stride <= -limit ? stride : stride * elementBytes(operand.type),
                stride <= -limit ? " elements" : "");
  if (stride >= limit)
    return text("expected a byte stride of ", dimText(operand, dim),
                " below 2^40, as TMA requires, but got ", stride,
                " elements of ", elementBytes(operand.type), " bytes");
  int64_t bytes = stride * elementBytes(operand.type);
  if (bytes % kTmaAlignment == 0)
    return std::nullopt;
  return text("expected a byte stride of ", dimText(operand, dim),
              " that is a multiple of 16, as TMA requires, but got ", bytes,
              " bytes (", stride, " elements)");
}

/// attention_c8, c10, c11 and c12
Problem checkLayout(const Operand &operand, bool isOutput) {
  auto type = cast<MemRefType>(operand.type);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return text("expected '", operand.name, "' with a strided layout, but got ",
                quoted(type));

  // An extent of 1 makes any stride harmless, and a type that is a permuted
  // view may well carry an odd one there; the innermost dimension is never of
  // extent 1.
  if (strides.back() != 1)
    return text("expected stride 1 in ", dimText(operand, 3),
                ", the innermost one, but got ", extentText(strides.back()));
  for (unsigned dim = 0; dim < 3; ++dim) {
    int64_t extent = type.getDimSize(dim);
    if (ShapedType::isDynamic(strides[dim]) || extent == 0 || extent == 1)
      continue;
    if (strides[dim] == 0 && isOutput)
      return text("expected a stride other than 0 in ", dimText(operand, dim),
                  ", because its elements are written, but got 0");
    if (Problem problem = checkTmaStride(operand, dim, strides[dim]))
      return problem;
  }
  if (!ShapedType::isDynamic(offset) &&
      offset % (kTmaAlignment / elementBytes(type)) != 0)
    return text("expected an offset of '", operand.name,
                "' that is a multiple of 16 bytes, as TMA requires, but got ",
                offset, " elements of ", elementBytes(type), " bytes");
  return std::nullopt;
}

/// attention_c13
Problem checkLse(const Operand &lse) {
  if (!lse.type.getElementType().isF32())
    return text("expected element type f32 of 'lse', but got ",
                quoted(lse.type.getElementType()));
  if (auto type = dyn_cast<MemRefType>(lse.type))
    if (!type.getLayout().isIdentity())
      return text("expected 'lse' with the identity layout, but got ",
                  quoted(type));
  return std::nullopt;
}

} // namespace

std::optional<std::string>
mlir::fa4::checkAttentionTypes(const AttentionTypes &types) {
  SmallVector<Operand, 5> operands = {
      {"q", cast<ShapedType>(types.q), {"B", "Sq", "Hq", "D"}},
      {"k", cast<ShapedType>(types.k), {"B", "Skv", "Hkv", "D"}},
      {"v", cast<ShapedType>(types.v), {"B", "Skv", "Hkv", "Dv"}},
      {"o", cast<ShapedType>(types.o), {"B", "Sq", "Hq", "Dv"}}};
  if (types.lse)
    operands.push_back({"lse", cast<ShapedType>(types.lse), {"B", "Hq", "Sq"}});
  ArrayRef<Operand> all = operands;
  ArrayRef<Operand> tiles = all.take_front(4);

  if (Problem problem = checkKinds(all))
    return problem;
  if (Problem problem = checkRanks(all))
    return problem;
  if (Problem problem = checkElementTypes(tiles))
    return problem;
  if (types.lse)
    if (Problem problem = checkLse(all.back()))
      return problem;
  if (Problem problem = checkHeadDims(tiles))
    return problem;
  if (Problem problem = checkExtents(all))
    return problem;
  if (Problem problem = checkHeads(all))
    return problem;
  if (!isa<MemRefType>(types.q))
    return std::nullopt;
  for (const Operand &operand : all)
    if (Problem problem = checkMemorySpace(operand))
      return problem;
  for (const Operand &operand : tiles)
    if (Problem problem = checkLayout(operand, operand.name == "o"))
      return problem;
  return std::nullopt;
}
