// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ptxsim/Npy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace ptxsim;

static constexpr uint64_t kChunk = uint64_t(1) << 24;

static bool field(const std::string &header, const std::string &name,
                  size_t &at) {
  at = header.find("'" + name + "'");
  if (at == std::string::npos)
    return false;
  at = header.find(':', at);
  if (at == std::string::npos)
    return false;
  at = header.find_first_not_of(" ", at + 1);
  return at != std::string::npos;
}

bool ptxsim::readNpy(const std::string &path, NpyArray &array,
                     std::string &error) {
  auto fail = [&](const std::string &why) {
    error = path + ": " + why;
    return false;
  };
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return fail("cannot be opened");
  char magic[8];
  if (!in.read(magic, 8) || std::memcmp(magic, "\x93NUMPY", 6) != 0)
    return fail("is not a .npy file");
  uint8_t length[4] = {};
  unsigned lengthBytes = magic[6] == 1 ? 2 : 4;
  if (!in.read(reinterpret_cast<char *>(length), lengthBytes))
    return fail("header is cut short");
  uint32_t n =
      length[0] | length[1] << 8 | length[2] << 16 | uint32_t(length[3]) << 24;
  if (n > 65536)
    return fail("header is too long");
  std::string header(n, ' ');
  if (!in.read(&header[0], n))
    return fail("header is cut short");
  size_t at;
  if (!field(header, "fortran_order", at) || header.compare(at, 5, "False"))
    return fail("expected C order");
  if (!field(header, "descr", at) || header[at] != '\'')
    return fail("expected a plain element type");
  size_t end = header.find('\'', at + 1);
  if (end == std::string::npos)
    return fail("malformed header");
  array.descr = header.substr(at + 1, end - at - 1);
  if (array.descr.size() < 3 || !std::strchr("<|", array.descr[0]))
    return fail("expected little-endian elements");
  uint64_t bytes = std::strtoull(array.descr.c_str() + 2, nullptr, 10);
  if (bytes == 0 || bytes > 16)
    return fail("unknown element type '" + array.descr + "'");
  if (!field(header, "shape", at) || header[at] != '(')
    return fail("expected a shape");
  array.shape.clear();
  for (++at; at < header.size() && header[at] != ')';) {
    if (header[at] < '0' || header[at] > '9') {
      ++at;
      continue;
    }
    char *stop;
    array.shape.push_back(std::strtoull(header.c_str() + at, &stop, 10));
    at = size_t(stop - header.c_str());
  }
  for (uint64_t s : array.shape)
    if (__builtin_mul_overflow(bytes, s, &bytes) || bytes > uint64_t(1) << 40)
      return fail("is too large");
  // The header may claim more than there is, or than the machine has.
  array.data.clear();
  while (array.data.size() < bytes) {
    uint64_t have = array.data.size(),
             more = std::min(bytes - have, std::max(have, kChunk));
    array.data.resize(have + more);
    if (!in.read(reinterpret_cast<char *>(array.data.data() + have),
                 std::streamsize(more)))
      return fail("data is cut short");
  }
  return true;
}

bool ptxsim::writeNpy(const std::string &path, const NpyArray &array,
                      std::string &error) {
  std::string header =
      "{'descr': '" + array.descr + "', 'fortran_order': False, 'shape': (";
  for (uint64_t s : array.shape)
    header += std::to_string(s) + ",";
  header += "), }";
  while ((10 + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  uint16_t n = uint16_t(header.size());
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(char(n & 0xff));
  out.put(char(n >> 8));
  out << header;
  out.write(reinterpret_cast<const char *>(array.data.data()),
            std::streamsize(array.data.size()));
  out.close();
  if (out)
    return true;
  error = path + ": cannot be written";
  return false;
}
