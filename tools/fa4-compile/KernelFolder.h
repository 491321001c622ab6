// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folder that a runtime loads kernels from: NAME.ptx, NAME.cubin,
// NAME.json.

#ifndef FA4_TOOLS_FA4COMPILE_KERNELFOLDER_H
#define FA4_TOOLS_FA4COMPILE_KERNELFOLDER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace mlir::fa4 {

class KernelFolder {
public:
  explicit KernelFolder(StringRef path) : path(path) {}

  /// Claims a kernel's name for its files. Refuses names that are taken or that
  /// no file can have.
  LogicalResult claim(StringRef kernel, StringRef extension);

  /// Writes NAME.EXTENSION whole or not at all.
  LogicalResult write(StringRef kernel, StringRef extension, StringRef content);

  /// Writes `op` as a module of its own, to be read back.
  LogicalResult writeModule(StringRef kernel, StringRef extension,
                            Operation *op);

private:
  std::string path;
  llvm::StringSet<> claimed;
};

} // namespace mlir::fa4

#endif // FA4_TOOLS_FA4COMPILE_KERNELFOLDER_H
