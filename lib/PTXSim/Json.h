// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A small JSON reader: objects keep the order of their fields, integers keep
// all of their 64 bits.

#ifndef PTXSIM_LIB_JSON_H
#define PTXSIM_LIB_JSON_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ptxsim {

struct Json {
  enum Kind : uint8_t { Null, Bool, Int, Real, String, Array, Object };
  Kind kind = Null;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0; // also set for Int
  std::string string;
  std::vector<Json> array;
  std::vector<std::pair<std::string, Json>> object;
  unsigned line = 0;

  const Json *find(const std::string &key) const;
  bool isNumber() const { return kind == Int || kind == Real; }
};

/// False with \p error ("line N: ...") set when \p text is not JSON.
bool parseJson(const std::string &text, Json &value, std::string &error);

} // namespace ptxsim

#endif // PTXSIM_LIB_JSON_H
