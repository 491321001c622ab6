// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Json.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

using namespace ptxsim;

const Json *Json::find(const std::string &key) const {
  for (auto &[name, value] : object)
    if (name == key)
      return &value;
  return nullptr;
}

namespace {

class Reader {
public:
  Reader(const std::string &text, std::string &error) : s(text), error(error) {}

  bool run(Json &out) {
    if (!value(out, 0))
      return false;
    blank();
    return pos == s.size() || fail("unexpected text after the value");
  }

private:
  const std::string &s;
  std::string &error;
  size_t pos = 0;
  unsigned line = 1;

  bool fail(const std::string &message) {
    error = "line " + std::to_string(line) + ": " + message;
    return false;
  }

  void blank() {
    while (pos < s.size() && std::strchr(" \t\r\n", s[pos]) && s[pos]) {
      line += s[pos] == '\n';
      ++pos;
    }
  }

  bool accept(char c) {
    blank();
    if (pos >= s.size() || s[pos] != c)
      return false;
    ++pos;
    return true;
  }

  bool word(const char *w) {
    size_t n = std::strlen(w);
    if (s.compare(pos, n, w) != 0)
      return false;
    pos += n;
    return true;
  }

  bool value(Json &out, unsigned depth) {
    if (depth > 64)
      return fail("nested too deeply");
    blank();
    out.line = line;
    if (pos >= s.size())
      return fail("expected a value");
    char c = s[pos];
    if (c == '{')
      return object(out, depth);
    if (c == '[')
      return array(out, depth);
    if (c == '"') {
      out.kind = Json::String;
      return string(out.string);
    }
    if (word("null"))
      return true;
    if (word("true") || word("false")) {
      out.kind = Json::Bool;
      out.boolean = s[pos - 1] == 'e' && s[pos - 2] == 'u';
      return true;
    }
    return number(out);
  }

  bool object(Json &out, unsigned depth) {
    out.kind = Json::Object;
    ++pos;
    if (accept('}'))
      return true;
    do {
      std::string key;
      blank();
      if (pos >= s.size() || s[pos] != '"' || !string(key))
        return error.empty() ? fail("expected a field name") : false;
      if (out.find(key))
        return fail("field '" + key + "' is given twice");
      if (!accept(':'))
        return fail("expected ':'");
      Json field;
      if (!value(field, depth + 1))
        return false;
      out.object.emplace_back(std::move(key), std::move(field));
    } while (accept(','));
    return accept('}') || fail("expected ',' or '}'");
  }

  bool array(Json &out, unsigned depth) {
    out.kind = Json::Array;
    ++pos;
    if (accept(']'))
      return true;
    do {
      out.array.emplace_back();
      if (!value(out.array.back(), depth + 1))
        return false;
    } while (accept(','));
    return accept(']') || fail("expected ',' or ']'");
  }

  bool string(std::string &out) {
    ++pos;
    while (pos < s.size() && s[pos] != '"') {
      char c = s[pos++];
      if (c == '\n')
        return fail("string is never closed");
      if (c != '\\') {
        out += c;
        continue;
      }
      if (pos >= s.size())
        break;
      c = s[pos++];
      static const char kFrom[] = "\"\\/bfnrt", kTo[] = "\"\\/\b\f\n\r\t";
      if (const char *at = c ? std::strchr(kFrom, c) : nullptr) {
        out += kTo[at - kFrom];
        continue;
      }
      if (c != 'u' || pos + 4 > s.size())
        return fail("unknown escape in a string");
      unsigned code = 0;
      for (unsigned i = 0; i < 4; ++i, ++pos) {
        if (!std::isxdigit((unsigned char)s[pos]))
          return fail("expected four hexadecimal digits after '\\u'");
        code = code * 16 + (std::isdigit((unsigned char)s[pos])
                                ? s[pos] - '0'
                                : std::tolower(s[pos]) - 'a' + 10);
      }
      if (code >= 0xd800 && code < 0xe000)
        return fail("surrogate pairs are not supported");
      if (code < 0x80) {
        out += char(code);
      } else if (code < 0x800) {
        out += char(0xc0 | code >> 6);
        out += char(0x80 | (code & 0x3f));
      } else {
        out += char(0xe0 | code >> 12);
        out += char(0x80 | (code >> 6 & 0x3f));
        out += char(0x80 | (code & 0x3f));
      }
    }
    return pos++ < s.size() || fail("string is never closed");
  }

  bool number(Json &out) {
    size_t begin = pos;
    if (s[pos] == '-')
      ++pos;
    bool real = false;
    while (pos < s.size() && (std::isdigit((unsigned char)s[pos]) ||
                              (s[pos] && std::strchr("+-.eE", s[pos])))) {
      real |= !std::isdigit((unsigned char)s[pos]);
      ++pos;
    }
    std::string text = s.substr(begin, pos - begin);
    if (text.empty() || !std::isdigit((unsigned char)text.back()))
      return fail("expected a value");
    char *end = nullptr;
    out.real = std::strtod(text.c_str(), &end);
    if (*end)
      return fail("malformed number '" + text + "'");
    if (real) {
      out.kind = Json::Real;
      return true;
    }
    errno = 0;
    out.kind = Json::Int;
    out.integer = std::strtoll(text.c_str(), nullptr, 10);
    return errno == 0 || fail("integer '" + text + "' exceeds 64 bits");
  }
};

} // namespace

bool ptxsim::parseJson(const std::string &text, Json &value,
                       std::string &error) {
  error.clear();
  return Reader(text, error).run(value);
}
