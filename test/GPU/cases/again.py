# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The same bits, run after run, whatever ran before: Q8, Q9."""

import numpy as np

from harness import ALL_DYNAMIC, Inputs, Problem
from suite import Suite

suite = Suite("again")
RUNS = 200 if suite.args.gpu else 1

# Q9. The shape of the report, and those that fill the card with tasks.
for problem in (
    Problem(2, 257, 513, 6, 2, 128, True),
    Problem(2, 257, 513, 6, 2, 64, True, "bf16"),
    Problem(1, 384, 640, 160, 160, 64, False),
    Problem(2, 1000, 1000, 16, 16, 128, True, "bf16", dynamic=ALL_DYNAMIC),
):
    inputs = Inputs.normal(problem, 9)
    first = suite.check(f"Q9 {problem}", problem, inputs, modes=("eager",))
    different = 0
    for _ in range(RUNS if first else 0):
        different += not suite.harness.run(problem, inputs).same_bits(first)
    suite.expect("Q9", problem, not different, f"{different} of {RUNS} runs differ")

# Q8: after kernels that leave NaN in the shared memory and the registers of every
# multiprocessor, and after others.
victim = Problem(2, 300, 400, 80, 80, 64, True)
inputs = Inputs.normal(victim, 8)
first = suite.check("Q8 clean", victim, inputs)
for d in (64, 128):
    for dtype in ("f16", "bf16"):
        before = Problem(1, 200, 700, 200, 200, d, False, dtype)
        taint = Inputs.of(before, np.nan, np.nan, np.nan)
        suite.harness.run(before, taint)
        again = suite.check(f"Q8 after NaN d{d} {dtype}", victim, inputs)
        if first and again:
            suite.expect(f"Q8 d{d} {dtype}", victim, again.same_bits(first), "the bits depend on what ran before")
    other = Problem(3, 129, 257, 12, 4, d, True)
    suite.check(f"Q8 between d{d}", other)
    again = suite.check(f"Q8 after another shape d{d}", victim, inputs)
    if first and again:
        suite.expect(f"Q8 d{d}", victim, again.same_bits(first), "the bits depend on what ran before")

suite.finish()
