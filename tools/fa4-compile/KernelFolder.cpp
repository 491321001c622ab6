// Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFolder.h"
#include "Compilation.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::fa4;

LogicalResult KernelFolder::claim(StringRef kernel, StringRef extension) {
  std::string name = (kernel + "." + extension).str();
  if (kernel.empty() || kernel.contains('/') || kernel.contains('\0') ||
      kernel.starts_with(".") || name.size() > 255)
    return reportError("the kernel's name '" + kernel +
                       "' is no name for a file: rename the kernel");
  if (!claimed.insert(name).second)
    return reportError("two kernels are named '" + kernel +
                       "', and their files would be the same: rename one");
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return reportError("cannot make the folder '" + path +
                       "': " + code.message());
  return success();
}

LogicalResult KernelFolder::write(StringRef kernel, StringRef extension,
                                  StringRef content) {
  if (failed(claim(kernel, extension)))
    return failure();
  SmallString<128> file(path);
  llvm::sys::path::append(file, kernel + "." + extension);
  llvm::Error error = llvm::writeToOutput(file, [&](raw_ostream &os) {
    os << content;
    return llvm::Error::success();
  });
  if (error)
    return reportError("cannot write '" + file +
                       "': " + llvm::toString(std::move(error)));
  return success();
}

LogicalResult KernelFolder::writeModule(StringRef kernel, StringRef extension,
                                        Operation *op) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  if (isa<gpu::GPUModuleOp>(op))
    (*module)->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                       UnitAttr::get(op->getContext()));
  module->push_back(op->clone());
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  os << '\n';
  return write(kernel, extension, text);
}
