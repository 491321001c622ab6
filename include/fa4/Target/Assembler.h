// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ptxas as a child process: PTX in, a cubin and what ptxas said of it out.

#ifndef FA4_TARGET_ASSEMBLER_H
#define FA4_TARGET_ASSEMBLER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::fa4 {

struct Assembler {
  std::string path;
  /// As ptxas gives it: "13.0.88".
  std::string version;
};

struct AssembledKernel {
  std::string cubin;
  /// The largest of all kernels in the PTX.
  int64_t registers = 0, stackBytes = 0, spillBytes = 0;
  /// Every warning of ptxas, its hints on lost performance (C7508: setmaxnreg
  /// ignored), and one each for spills and stack use.
  std::vector<std::string> warnings;
};

/// `path`, or where that is empty the ptxas of the PATH or of
/// /usr/local/cuda/bin. An error says what is missing.
llvm::Expected<Assembler> findAssembler(llvm::StringRef path);

/// Assembles for `chip`. Errors carry all that ptxas said; one about the PTX
/// version names the version of the text and the newest that ptxas takes.
llvm::Expected<AssembledKernel>
assemble(const Assembler &assembler, llvm::StringRef ptx, llvm::StringRef chip);

} // namespace mlir::fa4

#endif // FA4_TARGET_ASSEMBLER_H
