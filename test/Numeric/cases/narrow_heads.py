# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Head dimensions below those of the tiles, as fa4.compile makes them of a kernel with 64 or 128
columns: A1, A4."""

import numpy as np

from harness import ALL_DYNAMIC, OPERANDS, Inputs, Problem
from storage import bhsd, spaced
from suite import Suite

suite = Suite("narrow heads")


def narrow(d, *sizes, row=0, **options):
    """What lies between rows farther apart is NaN, and must stay what it is in O."""
    problem = Problem(*sizes, d, tile=64 if d <= 64 else 128, dynamic=ALL_DYNAMIC, **options)
    return problem.but(layouts={n: spaced(problem.shape(n), row or d) for n in OPERANDS})


for d in (8, 40, 72, 80, 96, 112):
    for dtype in suite.pick(("f16", "bf16"), 2):
        suite.check(f"A1 {d} {dtype}", narrow(d, 1, 33, 65, 2, 1, causal=True, dtype=dtype))
# Columns of other tensors behind the rows.
for d in suite.pick((24, 56, 88, 120), 2):
    suite.check(f"A1 {d} far rows", narrow(d, 2, 70, 140, 2, 2, causal=True, row=256))
    suite.check(f"A1 {d} long", narrow(d, 1, 300, 400, 2, 2, row=d + 8))
for d in suite.pick((48, 96), 2):
    moved = narrow(d, 2, 65, 130, 4, 2)
    suite.check(f"A1 {d} heads first", moved.but(layouts={n: bhsd(moved.shape(n)) for n in OPERANDS}))
    # Heads of a group that share a tile.
    packed = narrow(d, 1, 33, 200, 8, 2, causal=True)
    suite.check(f"A1 {d} packed", packed.but(dynamic=frozenset(("layout",))))
    suite.check(f"A1 {d} no keys", narrow(d, 2, 4, 0, 2, 2))

# A4: the scale is that of the operands' columns: LSE tells it from 1 / sqrt(128) by 0.19.
problem = narrow(96, 1, 64, 300, 2, 1)
inputs = Inputs.normal(problem, 96)
default = suite.check("A4 96", problem, inputs)
explicit = suite.check("A4 96 written out", problem.but(scale=96**-0.5), inputs)
if default and explicit:
    suite.expect("A4 96", problem, default.same_bits(explicit), "the default is not 1/sqrt(96)")

# One key takes all weight: O is V, bit for bit, to the last column.
problem = narrow(80, 1, 1, 1, 1, 1)
inputs = Inputs.normal(problem, 80)
output = suite.check("A1 80 one key", problem, inputs)
if output:
    suite.expect("A1 80 one key", problem, np.array_equal(output.o_bits, inputs.v), "O is not V")

suite.finish()
