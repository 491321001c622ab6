// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Arguments of calls, and the built-in functions vprintf and __assertfail.

#include "Calls.h"

#include "Access.h"

#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

using namespace ptxsim;

namespace {

uint8_t *localBytes(Warp &w, unsigned lane, uint64_t address) {
  return &w.local[size_t(lane) * w.cta.program.localBytes + address];
}

template <class T>
T argument(Warp &w, const Op &op, unsigned lane, unsigned i) {
  T value;
  std::memcpy(&value, localBytes(w, lane, w.cta.program.lists[op.list + i]),
              sizeof(T));
  return value;
}

/// A string in any state space; false after a fault.
bool readString(Warp &w, const Op &op, unsigned lane, uint64_t address,
                std::string &text) {
  constexpr size_t kLongest = 1 << 16;
  for (; text.size() < kLongest; ++address) {
    const uint8_t *c = resolve(w, op, lane, Space::Generic, address, 1, false);
    if (!c)
      return false;
    if (!*c)
      return true;
    text += char(*c);
  }
  w.fault(op, "out-of-bounds", "a string has no end");
  return false;
}

/// The arguments of vprintf, laid out one after the other like a C struct.
class Formatter {
public:
  Formatter(Warp &w, const Op &op, unsigned lane, uint64_t at)
      : w(w), op(op), lane(lane), at(at) {}

  bool run(const std::string &format, std::string &out) {
    for (size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%') {
        out += format[i];
        continue;
      }
      size_t end = format.find_first_not_of("-+ #0123456789.*hljztL", i + 1);
      if (end == std::string::npos)
        return bad();
      if (!convert(format.substr(i, end - i + 1), out))
        return false;
      i = end;
    }
    return true;
  }

private:
  Warp &w;
  const Op &op;
  unsigned lane;
  uint64_t at;

  bool bad() {
    w.fault(op, "bad-format", "malformed format string of 'vprintf'");
    return false;
  }

  template <class T> bool next(T &value) {
    at = (at + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const uint8_t *p =
        resolve(w, op, lane, Space::Generic, at, sizeof(T), false);
    if (!p)
      return false;
    std::memcpy(&value, p, sizeof(T));
    at += sizeof(T);
    return true;
  }

  /// One conversion; a width or precision may ask for any length.
  template <class T>
  bool append(const std::string &spec, T value, std::string &out) {
    constexpr int kLongest = 1 << 20;
    int n = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (n < 0 || n > kLongest) {
      w.fault(op, "bad-format", "'vprintf' would print more than 1 MiB");
      return false;
    }
    std::vector<char> text(size_t(n) + 1);
    std::snprintf(text.data(), text.size(), spec.c_str(), value);
    out.append(text.data(), size_t(n));
    return true;
  }

  bool convert(std::string spec, std::string &out) {
    char kind = spec.back();
    if (kind == '%') {
      out += '%';
      return true;
    }
    // Width and precision from arguments become digits.
    for (size_t star; (star = spec.find('*')) != std::string::npos;) {
      int32_t n;
      if (!next(n))
        return false;
      spec.replace(star, 1, std::to_string(n));
    }
    bool wide = spec.find_first_of("ljztL") != std::string::npos;
    std::string flags;
    for (char c : spec)
      if (std::strchr("%-+ #0123456789.", c))
        flags += c;
    switch (kind) {
    case 's': {
      uint64_t address;
      std::string text;
      if (!next(address) || !readString(w, op, lane, address, text))
        return false;
      return append(flags + "s", text.c_str(), out);
    }
    case 'p': {
      uint64_t value;
      if (!next(value))
        return false;
      return append(flags + "#llx", (unsigned long long)value, out);
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      double value;
      if (!next(value))
        return false;
      return append(flags + kind, value, out);
    }
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'c': {
      int64_t value;
      int32_t narrow;
      if (!(wide ? next(value) : next(narrow)))
        return false;
      if (!wide)
        value = kind == 'd' || kind == 'i' ? int64_t(narrow)
                                           : int64_t(uint32_t(narrow));
      if (kind == 'c')
        return append(flags + "c", int(value), out);
      return append(flags + "ll" + kind, (long long)value, out);
    }
    default:
      return bad();
    }
  }
};

void print(Cta &cta, const std::string &text) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (cta.options.print)
    cta.options.print(text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace

Step ptxsim::execCopyLocal(Warp &w, const Op &op, uint32_t mask) {
  forLanes(mask, [&](unsigned lane) {
    std::memcpy(localBytes(w, lane, op.aux), localBytes(w, lane, op.aux2),
                op.aux3);
  });
  return Step::Next;
}

Step ptxsim::execPrintf(Warp &w, const Op &op, uint32_t mask) {
  bool good = true;
  forLanes(mask, [&](unsigned lane) {
    std::string format, out;
    if (!good ||
        !readString(w, op, lane, argument<uint64_t>(w, op, lane, 0), format)) {
      good = false;
      return;
    }
    Formatter formatter(w, op, lane, argument<uint64_t>(w, op, lane, 1));
    good = formatter.run(format, out);
    if (!good)
      return;
    print(w.cta, out);
    int32_t n = int32_t(out.size());
    std::memcpy(localBytes(w, lane, op.aux), &n, 4);
  });
  return good ? Step::Next : Step::Fault;
}

Step ptxsim::execAssertFail(Warp &w, const Op &op, uint32_t mask) {
  unsigned lane = unsigned(__builtin_ctz(mask));
  std::string text[3];
  const unsigned index[3] = {0, 1, 3};
  for (unsigned i = 0; i < 3; ++i)
    if (!readString(w, op, lane, argument<uint64_t>(w, op, lane, index[i]),
                    text[i]))
      return Step::Fault;
  return w.fault(op, "assertion",
                 "lane " + std::to_string(lane) + ": " + text[1] + ":" +
                     std::to_string(argument<uint32_t>(w, op, lane, 2)) + ": " +
                     text[2] + ": assertion '" + text[0] + "' failed");
}
