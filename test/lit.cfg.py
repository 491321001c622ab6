# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# How lit runs the tests of the IR, the passes and the tools.

import os
import shutil
import subprocess

import lit.formats

config.name = "fa4"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ptx", ".test"]
config.excludes = ["CMakeLists.txt", "Inputs", "Unit", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)

# Tools are found by name: ours first, then LLVM's own (FileCheck, not, mlir-opt). The
# python3 of a page's commands is the one that CMake found, whichever else is on the PATH.
config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.fa4_binary_dir, "bin"),
        config.llvm_tools_dir,
        os.path.dirname(config.python),
        config.environment.get("PATH", ""),
    ]
)
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"

config.substitutions += [
    ("%fa4_src", config.fa4_source_dir),
    ("%fa4_bin", config.fa4_binary_dir),
    ("%fa4_plugin", os.path.join(config.fa4_binary_dir, "lib", "FA4Plugin.so")),
    ("%mlir_opt", os.path.join(config.llvm_tools_dir, "mlir-opt")),
    ("%mlir_tblgen", os.path.join(config.llvm_tools_dir, "mlir-tblgen")),
    ("%llvm_cmake_dir", config.llvm_cmake_dir),
    ("%llvm_include", config.llvm_include),
    ("%mlir_cmake_dir", config.mlir_cmake_dir),
    ("%cmake", config.cmake),
    ("%cxx", config.cxx),
    ("%cc", config.cc),
    ("%ptxas", config.ptxas),
    ("%python", config.python),
]

# ptxas: CUDA's assembler is there, so PTX can be turned into a cubin.
if os.path.exists(config.ptxas):
    config.available_features.add("ptxas")
    config.environment["PATH"] += os.pathsep + os.path.dirname(config.ptxas)

# A test that takes ptxas off the PATH works only where the other place that fa4
# looks in has none.
if not os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("no-default-ptxas")

# cuda-h: the header of CUDA's driver, for what embeds a launch.
if os.path.exists("/usr/local/cuda/include/cuda.h"):
    config.available_features.add("cuda-h")

# clang-format: the version that the sources are formatted with.
if shutil.which("clang-format-22", path=config.environment["PATH"]):
    config.available_features.add("clang-format")

# numpy: the Python that CMake found has it, so the kernels' numbers can be judged.
if subprocess.run([config.python, "-c", "import numpy"], capture_output=True).returncode == 0:
    config.available_features.add("numpy")

# lit --param full=1 (make test-full) runs every numeric case in every mode of ptx-sim.
config.numeric_full = lit_config.params.get("full", "0") not in ("0", "")
if config.numeric_full:
    config.available_features.add("numeric-full")

# python-binding: the package ptxsim was built, for the Python of that name.
if config.ptxsim_python:
    config.available_features.add("python-binding")
    config.substitutions.append(("%ptxsim_python", config.ptxsim_python))
