// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fa4;

#define GET_TYPEDEF_CLASSES
#include "fa4/IR/FA4Types.cpp.inc"

void FA4Dialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fa4/IR/FA4Types.cpp.inc"
      >();
}

static bool isTileElement(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

static ParseResult parseShape(AsmParser &parser,
                              SmallVectorImpl<int64_t> &shape,
                              Type &elementType) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(elementType));
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                       Type elementType) {
  for (int64_t extent : shape)
    printer << extent << 'x';
  printer << elementType;
}

//===----------------------------------------------------------------------===//
// RingType
//===----------------------------------------------------------------------===//

Type RingType::parse(AsmParser &parser) {
  int64_t slots;
  SmallVector<int64_t> shape;
  Type elementType;
  StringRef spaceName;
  if (parser.parseLess() || parser.parseInteger(slots) ||
      parser.parseKeyword("x") || parseShape(parser, shape, elementType) ||
      parser.parseComma())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&spaceName))
    return {};
  std::optional<MemorySpace> space = symbolizeMemorySpace(spaceName);
  if (!space) {
    parser.emitError(loc)
        << "expected memory 'smem', 'tmem' or 'rmem', but got '" << spaceName
        << "'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<RingType>(parser.getNameLoc(), parser.getContext(),
                                     slots, shape, elementType, *space);
}

void RingType::print(AsmPrinter &printer) const {
  printer << '<' << getSlots() << " x ";
  printShape(printer, getShape(), getElementType());
  printer << ", " << stringifyMemorySpace(getSpace()) << '>';
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t slots, ArrayRef<int64_t> shape,
                               Type elementType, MemorySpace space) {
  if (slots < 1)
    return emitError() << "expected a ring of at least one slot, but got "
                       << slots;
  if (shape.size() != 1 && shape.size() != 2)
    return emitError() << "expected a ring's tile of rank 1 or 2, but got rank "
                       << shape.size();
  // Far above what any memory holds, and far below where sizes would overflow.
  constexpr int64_t maxExtent = 1 << 20;
  for (int64_t extent : shape)
    if (extent < 1 || extent > maxExtent)
      return emitError() << "expected extents from 1 to " << maxExtent
                         << " in a ring's tile, but got " << extent;
  if (slots > maxExtent)
    return emitError() << "expected at most " << maxExtent << " slots, but got "
                       << slots;
  if (!isTileElement(elementType))
    return emitError() << "expected a ring of f16, bf16 or f32, but got "
                       << elementType;
  return success();
}

int64_t RingType::getElementBytes() const {
  return getElementType().getIntOrFloatBitWidth() / 8;
}

int64_t RingType::getTileBytes() const {
  int64_t bytes = getElementBytes();
  for (int64_t extent : getShape())
    bytes *= extent;
  return bytes;
}

int64_t RingType::getTileTmemColumns() const {
  return (getColumns() * getElementBytes() + 3) / 4;
}

//===----------------------------------------------------------------------===//
// FragmentType
//===----------------------------------------------------------------------===//

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  FragmentLayout layout = FragmentLayout::RowPerThread;
  if (parser.parseLess() || parseShape(parser, shape, elementType))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return {};
    std::optional<FragmentLayout> parsed = symbolizeFragmentLayout(name);
    if (!parsed) {
      parser.emitError(loc)
          << "expected layout 'row_per_thread' or 'wgmma', but got '" << name
          << "'";
      return {};
    }
    layout = *parsed;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(
      parser.getNameLoc(), parser.getContext(), shape, elementType, layout);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, getShape(), getElementType());
  if (getLayout() != FragmentLayout::RowPerThread)
    printer << ", " << stringifyFragmentLayout(getLayout());
  printer << '>';
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   FragmentLayout layout) {
  if (shape.size() != 2)
    return emitError() << "expected a fragment of rank 2, but got rank "
                       << shape.size();
  for (int64_t extent : shape)
    if (extent < 1 || extent > 256)
      return emitError()
             << "expected extents from 1 to 256 in a fragment, but got "
             << extent;
  if (!isTileElement(elementType))
    return emitError() << "expected a fragment of f16, bf16 or f32, but got "
                       << elementType;
  if (layout == FragmentLayout::RowPerThread && shape[0] != 128)
    return emitError()
           << "expected 128 rows in a fragment with one row a thread, but got "
           << shape[0];
  int64_t multiple = elementType.isF32() ? 8 : 16;
  if (layout == FragmentLayout::WGMMA &&
      (shape[0] != 64 || shape[1] % multiple != 0))
    return emitError() << "expected 64 rows and a multiple of " << multiple
                       << " columns of " << elementType
                       << " in 'wgmma' layout, but got " << shape[0] << 'x'
                       << shape[1];
  return success();
}

//===----------------------------------------------------------------------===//
// PendingType
//===----------------------------------------------------------------------===//

Type PendingType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parseShape(parser, shape, elementType) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<PendingType>(
      parser.getNameLoc(), parser.getContext(), shape, elementType);
}

void PendingType::print(AsmPrinter &printer) const {
  printer << '<';
  printShape(printer, getShape(), getElementType());
  printer << '>';
}

LogicalResult PendingType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> shape, Type elementType) {
  if (!elementType.isF32())
    return emitError() << "expected an accumulator of f32, but got "
                       << elementType;
  return FragmentType::verify(emitError, shape, elementType,
                              FragmentLayout::WGMMA);
}

//===----------------------------------------------------------------------===//
// RowsType
//===----------------------------------------------------------------------===//

Type RowsType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parseShape(parser, shape, elementType))
    return {};
  bool partial = succeeded(parser.parseOptionalComma());
  if ((partial && parser.parseKeyword("partial")) || parser.parseGreater())
    return {};
  if (shape.size() != 1) {
    parser.emitError(loc) << "expected row values of rank 1, but got rank "
                          << shape.size();
    return {};
  }
  return parser.getChecked<RowsType>(parser.getNameLoc(), parser.getContext(),
                                     shape[0], elementType, partial);
}

void RowsType::print(AsmPrinter &printer) const {
  printer << '<' << getRows() << 'x' << getElementType()
          << (getPartial() ? ", partial" : "") << '>';
}

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, Type elementType, bool partial) {
  if (rows != 128 && rows != 64)
    return emitError() << "expected 128 or 64 row values, but got " << rows;
  if (partial && rows != 64)
    return emitError()
           << "expected 64 row values where they are partial, but got " << rows;
  if (!elementType.isF32())
    return emitError() << "expected row values of f32, but got " << elementType;
  return success();
}
