// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lexer.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

using namespace ptxsim;

namespace {

bool isWordStart(char c) {
  return std::isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}
bool isWord(char c) {
  return std::isalnum((unsigned char)c) || c == '_' || c == '$';
}

class Lexer {
public:
  Lexer(std::string_view text, std::vector<Token> &out) : s(text), out(out) {}

  bool run() {
    while (skipBlank()) {
      if (pos >= s.size())
        break;
      if (!next())
        return false;
    }
    push(Token::End, 0);
    return error.empty();
  }

  unsigned line = 1;
  std::string error;

private:
  std::string_view s;
  std::vector<Token> &out;
  size_t pos = 0;

  char at(size_t i) const { return i < s.size() ? s[i] : '\0'; }

  void push(Token::Kind kind, size_t length, uint64_t value = 0) {
    out.push_back({kind, s.substr(pos, length), value, line});
    pos += length;
  }

  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }

  // Blanks, comments and C preprocessor line markers.
  bool skipBlank() {
    while (pos < s.size()) {
      char c = s[pos];
      if (c == '\n') {
        ++line;
        ++pos;
      } else if (std::isspace((unsigned char)c) || c == '\0') {
        ++pos;
      } else if (c == '/' && at(pos + 1) == '/') {
        while (pos < s.size() && s[pos] != '\n')
          ++pos;
      } else if (c == '/' && at(pos + 1) == '*') {
        size_t end = s.find("*/", pos + 2);
        if (end == std::string_view::npos)
          return fail("comment is never closed");
        for (; pos < end + 2; ++pos)
          line += s[pos] == '\n';
      } else {
        return true;
      }
    }
    return true;
  }

  bool next() {
    char c = s[pos];
    if (isWordStart(c))
      return word();
    if (c == '.' && isWordStart(at(pos + 1))) {
      size_t n = 1;
      while (isWord(at(pos + n)) || at(pos + n) == '%')
        ++n;
      push(Token::Directive, n);
      return true;
    }
    if (std::isdigit((unsigned char)c))
      return number();
    if (c == '"') {
      size_t n = 1;
      while (pos + n < s.size() && s[pos + n] != '"' && s[pos + n] != '\n')
        n += s[pos + n] == '\\' ? 2 : 1;
      if (at(pos + n) != '"')
        return fail("string is never closed");
      push(Token::String, n + 1);
      return true;
    }
    if (std::strchr(",;:{}[]()<>=+-*!|@&~?", c)) {
      push(Token::Punct, 1);
      return true;
    }
    return fail("unexpected character");
  }

  // A name takes in '.suffix' and '::suffix': mnemonics and %tid.x are one
  // token. A label's ':' is followed by something else.
  bool word() {
    size_t n = 1;
    for (;;) {
      char c = at(pos + n);
      if (isWord(c) || c == '%') {
        ++n;
      } else if (c == '.' && isWord(at(pos + n + 1))) {
        n += 2;
      } else if (c == ':' && at(pos + n + 1) == ':' &&
                 isWord(at(pos + n + 2))) {
        n += 3;
      } else {
        break;
      }
    }
    if (n == 1 && s[pos] == '%')
      return fail("expected a register name after '%'");
    push(Token::Name, n);
    return true;
  }

  bool number() {
    size_t n = 0;
    if (s[pos] == '0' && (at(pos + 1) == 'f' || at(pos + 1) == 'F' ||
                          at(pos + 1) == 'd' || at(pos + 1) == 'D')) {
      bool wide = at(pos + 1) == 'd' || at(pos + 1) == 'D';
      size_t digits = wide ? 16 : 8;
      n = 2;
      uint64_t v = 0;
      for (; n < 2 + digits && std::isxdigit((unsigned char)at(pos + n)); ++n)
        v = v * 16 + hex(at(pos + n));
      if (n != 2 + digits || isWord(at(pos + n)))
        return fail(wide ? "expected 16 hexadecimal digits after '0d'"
                         : "expected 8 hexadecimal digits after '0f'");
      push(wide ? Token::Float64 : Token::Float32, n, v);
      return true;
    }
    unsigned base = 10;
    if (s[pos] == '0' && (at(pos + 1) == 'x' || at(pos + 1) == 'X')) {
      base = 16;
      n = 2;
    } else if (s[pos] == '0' && (at(pos + 1) == 'b' || at(pos + 1) == 'B')) {
      base = 2;
      n = 2;
    } else {
      size_t m = 0;
      while (std::isdigit((unsigned char)at(pos + m)))
        ++m;
      if (at(pos + m) == '.' || at(pos + m) == 'e' || at(pos + m) == 'E')
        return decimalFloat();
      if (s[pos] == '0')
        base = 8;
    }
    uint64_t v = 0;
    size_t start = n;
    for (; std::isxdigit((unsigned char)at(pos + n)); ++n) {
      unsigned d = hex(at(pos + n));
      if (d >= base)
        break;
      if (v > (~uint64_t(0) - d) / base)
        return fail("integer does not fit in 64 bits");
      v = v * base + d;
    }
    if (n == start)
      return fail("malformed number");
    if (at(pos + n) == 'U' || at(pos + n) == 'u')
      ++n;
    if (isWord(at(pos + n)))
      return fail("malformed number");
    push(Token::Int, n, v);
    return true;
  }

  bool decimalFloat() {
    size_t n = 0;
    while (std::isdigit((unsigned char)at(pos + n)) || at(pos + n) == '.')
      ++n;
    if (at(pos + n) == 'e' || at(pos + n) == 'E') {
      ++n;
      if (at(pos + n) == '+' || at(pos + n) == '-')
        ++n;
      while (std::isdigit((unsigned char)at(pos + n)))
        ++n;
    }
    std::string copy(s.substr(pos, n));
    char *end = nullptr;
    double d = std::strtod(copy.c_str(), &end);
    if (*end || isWord(at(pos + n)))
      return fail("malformed number");
    uint64_t bits;
    std::memcpy(&bits, &d, 8);
    push(Token::Float64, n, bits);
    return true;
  }

  static unsigned hex(char c) {
    return std::isdigit((unsigned char)c) ? c - '0'
                                          : std::tolower(c) - 'a' + 10;
  }
};

} // namespace

bool ptxsim::tokenize(std::string_view text, std::vector<Token> &tokens,
                      unsigned &errorLine, std::string &error) {
  Lexer lexer(text, tokens);
  if (lexer.run())
    return true;
  errorLine = lexer.line;
  error = lexer.error;
  return false;
}
