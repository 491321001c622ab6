# RUN: %numeric
# RUN: %hopper
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lengths around the tiles' edges, Sq and Skv apart, under both masks."""

from itertools import product

from harness import ALL_DYNAMIC, Problem
from suite import Suite

suite = Suite("shapes")
LENGTHS = (1, 2, 127, 128, 129, 257, 383, 1000)

# A quick run has a part of the grid that leaves every length in, on both sides.
pairs = [(sq, skv) for sq, skv in product(LENGTHS, LENGTHS)]
grid = list(product((64, 128), (False, True), pairs))
for i, (d, causal, (sq, skv)) in enumerate(grid):
    if not suite.full and i % 15:
        continue
    # The compiler sees the lengths of one type, and not those of the other; both change places
    # from one pair of lengths to the next, along either side.
    turn = (i + i // 8 + d // 64 + causal) % 2
    for dtype in ("f16", "bf16") if suite.full else (("f16", "bf16")[i // 15 % 2],):
        dynamic = ALL_DYNAMIC if turn == (dtype == "f16") else frozenset()
        problem = Problem(1, sq, skv, 2, 1, d, causal, dtype, dynamic=dynamic)
        suite.check(f"{sq}x{skv} d{d} {'causal' if causal else 'full'} {dtype}", problem)

# Every length against itself, batch and heads above one.
for s in suite.pick(LENGTHS, 3):
    for causal in (False, True):
        suite.check(f"{s} square batch {causal}", Problem(2, s, s, 4, 2, 128, causal))

suite.finish()
