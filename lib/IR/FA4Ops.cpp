// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated definitions of every op, compiled once.

#include "fa4/IR/FA4.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fa4;

namespace mlir::fa4 {
// The custom<> directives of the assembly formats, defined beside the ops that
// use them first.
ParseResult parseArrivals(OpAsmParser &parser, ArrayAttr &arrivals);
void printArrivals(OpAsmPrinter &printer, Operation *op, ArrayAttr arrivals);
ParseResult parseF32(OpAsmParser &parser, FloatAttr &attr);
void printF32(OpAsmPrinter &printer, Operation *op, FloatAttr attr);
ParseResult parsePoly(OpAsmParser &parser, IntegerAttr &poly, IntegerAttr &of);
void printPoly(OpAsmPrinter &printer, Operation *op, IntegerAttr poly,
               IntegerAttr of);
ParseResult parseSettled(OpAsmParser &parser, Type &input, Type &result);
void printSettled(OpAsmPrinter &printer, Operation *op, PendingType input,
                  FragmentType result);
ParseResult parseTotal(OpAsmParser &parser, Type &partial, Type &sum);
void printTotal(OpAsmPrinter &printer, Operation *op, RowsType partial,
                RowsType sum);
} // namespace mlir::fa4

#define GET_OP_CLASSES
#include "fa4/IR/FA4Ops.cpp.inc"
