# RUN: %numeric
# RUN: %hopper
# REQUIRES: numeric-full

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Z1: more batches than the second or third dimension of a grid may have.

65536 tasks take the simulator minutes, so this runs in full runs only.
"""

import numpy as np

from harness import Inputs, Problem
from suite import Suite

suite = Suite("many batches")

for mode, problem in (("eager", Problem(65536, 1, 1, 1, 1, 64)), ("random", Problem(65537, 4, 4, 1, 1, 64))):
    inputs = Inputs.normal(problem, 1)
    output = suite.check(f"Z1 {problem.b}", problem, inputs, modes=(mode,))
    if output and problem.skv == 1:
        suite.expect("Z1", problem, np.array_equal(output.o_bits, inputs.v), "O is not V")

suite.finish()
