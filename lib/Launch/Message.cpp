// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Message.h"
#include "llvm/ADT/Twine.h"

using namespace fa4;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;

llvm::Expected<std::vector<MessagePart>> fa4::parseMessage(StringRef message) {
  std::vector<MessagePart> parts;
  std::string text;
  size_t i = 0;
  while (i != message.size()) {
    char c = message[i];
    StringRef rest = message.substr(i);
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      text += c;
      i += 2;
      continue;
    }
    if (c == '}')
      return createStringError("column " + Twine(i + 1) +
                               ": expected '{' before '}'");
    if (c != '{') {
      text += c;
      ++i;
      continue;
    }
    size_t end = message.find('}', i);
    if (end == StringRef::npos)
      return createStringError("column " + Twine(i + 1) +
                               ": expected '}' after '{'");
    llvm::Expected<Expr> value = Expr::parse(message.slice(i + 1, end));
    if (!value)
      return createStringError("after column " + Twine(i + 1) + ": " +
                               llvm::toString(value.takeError()));
    parts.push_back({std::move(text), std::nullopt});
    text.clear();
    parts.push_back({std::string(), *value});
    i = end + 1;
  }
  parts.push_back({std::move(text), std::nullopt});
  return parts;
}
