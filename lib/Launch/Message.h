// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages with values in them: "stride {2 * q.stride1} of 'q'".

#ifndef FA4_LIB_LAUNCH_MESSAGE_H
#define FA4_LIB_LAUNCH_MESSAGE_H

#include "fa4/Launch/Expr.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace fa4 {

/// A piece of text, or the expression whose value stands there.
struct MessagePart {
  std::string text;
  std::optional<Expr> value;
};

/// Splits a message. "{{" and "}}" are braces of the text.
llvm::Expected<std::vector<MessagePart>> parseMessage(llvm::StringRef message);

} // namespace fa4

#endif // FA4_LIB_LAUNCH_MESSAGE_H
