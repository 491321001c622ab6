# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Extents and strides that the compiler does not see, one at a time and all at once.

One kernel is made for all sizes of a row: what it computes must be, to the bit, what
the kernel for exactly these sizes computes.
"""

from harness import ALL_DYNAMIC, Inputs, Problem
from suite import Suite

suite = Suite("dynamic")

for name in ("B", "Sq", "Skv", "Hq", "Hkv", "layout"):
    for causal in (False, True) if suite.full else (name in ("Sq", "Hq", "layout"),):
        problem = Problem(2, 140, 260, 4, 2, 64, causal, dynamic=frozenset((name,)))
        suite.check(f"only {name} {causal}", problem)

# What the compiler chooses where it sees no size.
unseen = suite.chip.only("group-packing=off stats-granularity=warpgroup tile-keys=128")
sizes = ((1, 1, 1, 1, 1), (2, 129, 128, 2, 1), (1, 300, 257, 3, 3), (3, 5, 640, 6, 2), (1, 256, 256, 1, 1), (2, 1, 129, 8, 2))
for causal in (False, True):
    for d, dtype in ((64, "f16"), (128, "bf16")):
        for size in suite.pick(sizes, 3):
            name = f"{'/'.join(map(str, size))}/{d} {dtype} {causal}"
            static = Problem(*size, d, causal, dtype, schedule=unseen)
            inputs = Inputs.normal(static, 3)
            exact = suite.check(name + " static", static, inputs)
            moved = suite.check(name, static.but(dynamic=ALL_DYNAMIC), inputs)
            if exact and moved:
                suite.expect(name, static, exact.same_bits(moved), "differs from the static kernel")

suite.finish()
