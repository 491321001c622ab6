// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NumPy's .npy files.

#ifndef PTXSIM_NPY_H
#define PTXSIM_NPY_H

#include <cstdint>
#include <string>
#include <vector>

namespace ptxsim {

struct NpyArray {
  std::string descr; // such as "<f2"
  std::vector<uint64_t> shape;
  std::vector<uint8_t> data; // C order
};

/// False with \p error set when the file cannot be read or is not a .npy
/// array of little-endian numbers in C order.
bool readNpy(const std::string &path, NpyArray &array, std::string &error);
bool writeNpy(const std::string &path, const NpyArray &array,
              std::string &error);

} // namespace ptxsim

#endif // PTXSIM_NPY_H
