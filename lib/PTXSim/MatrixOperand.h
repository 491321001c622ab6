// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices in shared memory as the tensor core addresses them.

#ifndef PTXSIM_LIB_MATRIXOPERAND_H
#define PTXSIM_LIB_MATRIXOPERAND_H

#include "Machine.h"
#include "MatrixElement.h"
#include "TensorCopy.h"

namespace ptxsim {

/// A shared-memory matrix descriptor (PTX ISA, "Shared memory descriptor").
struct MatrixDescriptor {
  uint32_t start = 0; // byte address
  uint32_t lbo = 0;   // leading-dimension byte offset
  uint32_t sbo = 0;   // stride-dimension byte offset
  Swizzle swizzle = Swizzle::None;
};

/// Decodes a tcgen05 descriptor; a reason on failure, else empty.
std::string decodeDescriptor(uint64_t bits, MatrixDescriptor &out);

/// The same for wgmma, whose swizzle field has two bits.
std::string decodeWgmmaDescriptor(uint64_t bits, MatrixDescriptor &out);

/// Byte address, before swizzling, of the 16-byte chunk that holds element
/// (mn, k) of an operand with \p per elements a chunk; the chunk runs along K
/// when \p kMajor and along M or N otherwise. mn or k must be a multiple of
/// \p per.
uint32_t chunkAddress(const MatrixDescriptor &d, bool kMajor, unsigned mn,
                      unsigned k, unsigned per = 8);

/// Calls fn(address) for each swizzled chunk; false when fn returned false.
template <class F>
bool forChunks(const MatrixDescriptor &d, bool kMajor, unsigned extent,
               unsigned depth, unsigned per, F fn) {
  for (unsigned mn = 0; mn < extent; mn += kMajor ? 1 : per)
    for (unsigned k = 0; k < depth; k += kMajor ? per : 1)
      if (!fn(swizzled(chunkAddress(d, kMajor, mn, k, per), d.swizzle)))
        return false;
  return true;
}

/// Faults unless 16 bytes at \p address are there and were written.
bool checkChunk(Cta &cta, const Op &op, unsigned warp, uint32_t address,
                const std::string &what);

/// Reads an operand of \p extent by \p depth elements into \p values, row mn
/// at mn * depth; only checks it when \p values is null. False after a fault.
bool readMatrix(Cta &cta, const Op &op, unsigned warp,
                const MatrixDescriptor &d, bool kMajor, unsigned extent,
                unsigned depth, Element element, const char *what,
                float *values);

} // namespace ptxsim

#endif // PTXSIM_LIB_MATRIXOPERAND_H
