# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# How lit runs the gtest executables: each of their tests is one test.

import os

import lit.formats

config.name = "fa4-unit"
config.suffixes = []
config.test_source_root = config.test_exec_root = os.path.join(
    config.fa4_binary_dir, "unittests"
)
config.test_format = lit.formats.GoogleTest(".", "Tests")
