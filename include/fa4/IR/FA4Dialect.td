// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FA4_IR_DIALECT_TD
#define FA4_IR_DIALECT_TD

include "mlir/IR/OpBase.td"

def FA4_Dialect : Dialect {
  let name = "fa4";
  let cppNamespace = "::mlir::fa4";
  let summary = "attention, from what is computed to who computes it when";
  let description = [{
    Attention on two levels. `fa4.attention` says what is computed, on tensors or
    memrefs. `fa4.kernel` and the ops in it say who does it and in what order:
    roles of warps, rings of tiles in each memory, and the barrier contracts by
    which roles hand tiles to each other.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Register the types and attributes; each in the file that defines them.
    void registerTypes();
    void registerAttrs();
  }];
}

/// Base of every op of the dialect.
class FA4_Op<string mnemonic, list<Trait> traits = []>
    : Op<FA4_Dialect, mnemonic, traits>;

#endif // FA4_IR_DIALECT_TD
