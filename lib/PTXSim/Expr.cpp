// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Expr.h"

#include <cctype>

using namespace ptxsim;

namespace {

// Evaluates while parsing. Parts that 'select', '&&' and '||' do not need are
// parsed with `live` false, in which nothing can fail but the syntax.
class Evaluator {
public:
  Evaluator(const std::string &text, const NameLookup &lookup,
            std::string &error)
      : s(text), lookup(lookup), error(error) {}

  bool run(int64_t &v) {
    if (!orLevel(v, true))
      return false;
    blank();
    return pos == s.size() || fail("unexpected '" + s.substr(pos, 1) + "'");
  }

private:
  const std::string &s;
  const NameLookup &lookup;
  std::string &error;
  size_t pos = 0;
  unsigned depth = 0;

  bool fail(const std::string &message) {
    if (error.empty())
      error = message + " in '" + s + "'";
    return false;
  }
  void blank() {
    while (pos < s.size() && std::isspace((unsigned char)s[pos]))
      ++pos;
  }
  bool accept(const char *token) {
    blank();
    std::string t(token);
    if (s.compare(pos, t.size(), t) != 0)
      return false;
    // '<' is not the start of '<='.
    if (t.size() == 1 && (t == "<" || t == ">") && pos + 1 < s.size() &&
        s[pos + 1] == '=')
      return false;
    pos += t.size();
    return true;
  }

  bool orLevel(int64_t &v, bool live) {
    if (!andLevel(v, live))
      return false;
    while (accept("||")) {
      int64_t r = 0;
      if (!andLevel(r, live && !v))
        return false;
      v = v || r;
    }
    return true;
  }

  bool andLevel(int64_t &v, bool live) {
    if (!compare(v, live))
      return false;
    while (accept("&&")) {
      int64_t r = 0;
      if (!compare(r, live && v))
        return false;
      v = v && r;
    }
    return true;
  }

  bool compare(int64_t &v, bool live) {
    if (!sum(v, live))
      return false;
    static constexpr const char *kOps[] = {"==", "!=", "<=", ">=", "<", ">"};
    for (unsigned i = 0; i < 6; ++i) {
      if (!accept(kOps[i]))
        continue;
      int64_t r = 0;
      if (!sum(r, live))
        return false;
      bool results[] = {v == r, v != r, v <= r, v >= r, v<r, v> r};
      v = results[i];
      return true;
    }
    return true;
  }

  bool overflow() { return fail("a result exceeds 64 bits"); }

  bool sum(int64_t &v, bool live) {
    if (!product(v, live))
      return false;
    for (;;) {
      bool plus = accept("+");
      if (!plus && !accept("-"))
        return true;
      int64_t r = 0;
      if (!product(r, live))
        return false;
      if (plus ? __builtin_add_overflow(v, r, &v)
               : __builtin_sub_overflow(v, r, &v))
        if (live)
          return overflow();
    }
  }

  bool divide(int64_t a, int64_t b, bool up, int64_t &v) {
    if (b == 0)
      return fail("division by zero");
    if (a == INT64_MIN && b == -1)
      return overflow();
    int64_t q = a / b, r = a % b;
    if (r != 0 && ((r < 0) != (b < 0)) && !up)
      --q;
    if (r != 0 && ((r < 0) == (b < 0)) && up)
      ++q;
    v = q;
    return true;
  }

  bool product(int64_t &v, bool live) {
    if (!unary(v, live))
      return false;
    for (;;) {
      char op = accept("*") ? '*' : accept("/") ? '/' : accept("%") ? '%' : 0;
      if (!op)
        return true;
      int64_t r = 0;
      if (!unary(r, live))
        return false;
      if (!live)
        continue;
      if (op == '*') {
        if (__builtin_mul_overflow(v, r, &v))
          return overflow();
      } else {
        int64_t a = v, q;
        if (op == '%' && r == -1)
          v = 0;
        else if (!divide(a, r, false, q))
          return false;
        else
          v = op == '/' ? q : a - q * r;
      }
    }
  }

  bool unary(int64_t &v, bool live) {
    if (++depth > 200)
      return fail("nested too deeply");
    bool good;
    if (accept("-")) {
      good = unary(v, live);
      if (good && v == INT64_MIN && live)
        good = overflow();
      else if (good && v != INT64_MIN)
        v = -v;
    } else {
      good = primary(v, live);
    }
    --depth;
    return good;
  }

  bool primary(int64_t &v, bool live) {
    v = 0;
    if (accept("("))
      return orLevel(v, live) && (accept(")") || fail("expected ')'"));
    blank();
    if (pos < s.size() && std::isdigit((unsigned char)s[pos])) {
      for (; pos < s.size() && std::isdigit((unsigned char)s[pos]); ++pos)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, s[pos] - '0', &v))
          return overflow();
      return true;
    }
    std::string name;
    while (pos < s.size() && (std::isalnum((unsigned char)s[pos]) ||
                              s[pos] == '_' || s[pos] == '.'))
      name += s[pos++];
    if (name.empty())
      return fail("expected a value");
    if (accept("("))
      return call(name, v, live);
    if (live && !lookup(name, v))
      return fail("'" + name + "' has no value");
    return true;
  }

  bool call(const std::string &name, int64_t &v, bool live) {
    int64_t a = 0, b = 0, c = 0;
    bool select = name == "select", log = name == "log2floor";
    if (!select && !log && name != "ceildiv" && name != "min" && name != "max")
      return fail("unknown function '" + name + "'");
    if (!orLevel(a, live))
      return false;
    if (!log) {
      if (!accept(",") || !orLevel(b, live && (!select || a)))
        return fail("expected two arguments of '" + name + "'");
      if (select && (!accept(",") || !orLevel(c, live && !a)))
        return fail("expected three arguments of 'select'");
    }
    if (!accept(")"))
      return fail("expected ')'");
    if (!live)
      return true;
    if (select) {
      v = a ? b : c;
    } else if (log) {
      if (a < 1)
        return fail("log2floor of a value below 1");
      v = 63 - __builtin_clzll(uint64_t(a));
    } else if (name == "ceildiv") {
      return divide(a, b, true, v);
    } else {
      v = (name == "min") == (a < b) ? a : b;
    }
    return true;
  }
};

} // namespace

bool ptxsim::evaluate(const std::string &text, const NameLookup &lookup,
                      int64_t &value, std::string &error) {
  error.clear();
  return Evaluator(text, lookup, error).run(value);
}
