// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tokens of PTX text.

#ifndef PTXSIM_LIB_LEXER_H
#define PTXSIM_LIB_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxsim {

struct Token {
  enum Kind : uint8_t {
    End,
    Name,      // identifier, register or %special; may hold dots after a name
    Directive, // .word
    Int,       // value
    Float32,   // value = bits
    Float64,   // value = bits
    String,
    Punct, // one character in text
  };
  Kind kind = End;
  std::string_view text;
  uint64_t value = 0;
  unsigned line = 0;

  bool is(char c) const {
    return kind == Punct && text.size() == 1 && text[0] == c;
  }
};

/// Splits `text` into tokens, ending with one of kind End. False, with
/// `errorLine` and `error` set, on a character or literal that PTX has not.
bool tokenize(std::string_view text, std::vector<Token> &tokens,
              unsigned &errorLine, std::string &error);

} // namespace ptxsim

#endif // PTXSIM_LIB_LEXER_H
