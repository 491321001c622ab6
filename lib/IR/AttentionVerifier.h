// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules that the operand types of fa4.attention obey, apart from the op, so
// that a rewrite can ask before it changes a type.

#ifndef FA4_LIB_IR_ATTENTIONVERIFIER_H
#define FA4_LIB_IR_ATTENTIONVERIFIER_H

#include "mlir/IR/Types.h"
#include <optional>
#include <string>

namespace mlir::fa4 {

/// Operand types of one fa4.attention; `lse` is null where there is none.
struct AttentionTypes {
  Type q, k, v, o, lse;
};

/// What is wrong with the types, as the text of a diagnostic; nothing when
/// attention_c1 to c8, c10 to c13 and c16 hold.
std::optional<std::string> checkAttentionTypes(const AttentionTypes &types);

} // namespace mlir::fa4

#endif // FA4_LIB_IR_ATTENTIONVERIFIER_H
