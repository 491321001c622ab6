# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs a kernel with the package below a prefix, and no other: installed.py PREFIX"""

import pathlib
import sys

(package,) = pathlib.Path(sys.argv[1]).glob("lib/python3.*/site-packages/ptxsim")
sys.path.insert(0, str(package.parent))

import numpy as np

import ptxsim
from kernels import DOUBLE, module

assert pathlib.Path(ptxsim.__file__).parent.resolve() == package.resolve(), ptxsim.__file__
assert {path.name for path in package.iterdir()} >= {"__init__.py", "_native.pyi", "py.typed"}
a, b = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
module(DOUBLE).run(grid=1, block=4, params=[a, b, 1, 1])
assert (b == 2 * a).all(), b
