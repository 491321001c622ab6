// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_IR_OPBASE_TD
#define FA4_IR_OPBASE_TD

include "fa4/IR/FA4Dialect.td"
include "fa4/IR/FA4Types.td"
include "fa4/IR/FA4Attrs.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Synchronises with, or touches memory shared with, other roles: never
/// merged, moved or erased by passes that look at one role alone.
def FA4_Synchronizing : MemoryEffects<[MemRead, MemWrite]>;

/// Acts on what roles share or hold in registers, and means nothing elsewhere.
def FA4_InRole : NativeOpTrait<"InRole"> {
  let cppNamespace = "::mlir::fa4";
}

/// A signed number: I64Attr's accessors give unsigned ones, and "-1" would pass
/// for a large count.
def FA4_I64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;

/// Printed text names results, or region arguments, after what they are; the
/// names are in lib/IR/AsmNames.cpp.
def FA4_NamedResults : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;
def FA4_NamedArguments : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>;
def FA4_NamedLoop : DeclareOpInterfaceMethods<OpAsmOpInterface,
    ["getAsmResultNames", "getAsmBlockArgumentNames"]>;

#endif // FA4_IR_OPBASE_TD
