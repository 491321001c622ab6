// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fa4 dialect: its types, attributes, enums and ops.

#ifndef FA4_IR_FA4_H
#define FA4_IR_FA4_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fa4/IR/FA4Dialect.h.inc"
#include "fa4/IR/FA4Enums.h.inc"
#include "fa4/IR/FA4Traits.h"

#define GET_ATTRDEF_CLASSES
#include "fa4/IR/FA4Attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fa4/IR/FA4Types.h.inc"

#define GET_OP_CLASSES
#include "fa4/IR/FA4Ops.h.inc"

#endif // FA4_IR_FA4_H
