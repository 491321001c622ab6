# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# fa4-docs: the reference pages, from the .td files.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_custom_target(fa4-docs
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/generate_docs.py
    --tblgen ${LLVM_TOOLS_BINARY_DIR}/mlir-tblgen -I ${LLVM_INCLUDE_DIR}
    -I ${FA4_INCLUDE_DIR} -o ${PROJECT_SOURCE_DIR}/docs/reference
  COMMENT "Writing docs/reference"
  VERBATIM)
