# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Batches, trip counts and repeated launches: L2, H1, P21, Q4."""

import numpy as np

from harness import ALL_DYNAMIC, Inputs, Problem
from storage import bhsd
from suite import Suite

suite = Suite("launches")

for dtype in ("f16", "bf16"):
    # L2: Q differs from batch to batch.
    problem = Problem(3, 5, 64, 2, 2, 64, dtype=dtype)
    q, k, v = (np.random.default_rng(2).standard_normal(problem.shape(n)) for n in "qkv")
    q *= np.arange(1, 4)[:, None, None, None]
    suite.check(f"L2 {dtype}", problem, Inputs.of(problem, q, k, v))

    # Q4: loops of a single trip.
    for shape in ((128, 128), (128, 64), (1, 1), (256, 128)):
        for stages in suite.chip.stages[64] if suite.full else (2, 3):
            for causal in (False, True) if suite.full else (dtype == "bf16",):
                problem = Problem(1, *shape, 1, 1, 64, causal, dtype, schedule=f"kv-stages={stages}")
                suite.check(f"Q4 {shape} {stages} {causal} {dtype}", problem)
    suite.refused("Q4 one slot", problem.but(schedule="kv-stages=1"), ("'kv-stages' from 2 to ", "but got 1"))

    # P21: lengths that are no multiple of anything still go through TMA, and nothing hangs.
    for shape in ((250, 250), (64, 250)):
        for causal in (False, True) if suite.full else (True,):
            suite.check(f"P21 {shape} {causal} {dtype}", Problem(2, *shape, 4, 2, 64, causal, dtype))

# H1: one kernel, called with contiguous, then transposed, then contiguous tensors again.
for d in suite.pick((64, 128), 2):
    problem = Problem(2, 70, 140, 4, 2, d, True, dynamic=ALL_DYNAMIC)
    inputs = Inputs.normal(problem, 1)
    transposed = problem.but(layouts={n: bhsd(problem.shape(n)) for n in "qkvo"})
    first = suite.check(f"H1 first {d}", problem, inputs)
    second = suite.check(f"H1 transposed {d}", transposed, inputs)
    # Another shape in between.
    other = suite.check(f"H1 other shape {d}", problem.but(sq=129, skv=20))
    third = suite.check(f"H1 third {d}", problem, inputs)
    if first and second and third:
        same = first.same_bits(second) and first.same_bits(third)
        suite.expect("H1", problem, same, "calls of one kernel differ")
        suite.expect("H1", problem, len({problem.text(), transposed.text()}) == 1, "there are two kernels")

suite.refused("refused H1", Problem(2, 70, 140, 4, 2, 256, True), ("head dimension of 64 or 128", "256"))

# Many batches and heads of a single row, more tasks than blocks (Z2).
count = 300 if suite.full else 40
for name, shape in (("batches", (count, 1, 1, 1, 1, 64)), ("heads", (1, 1, 1, count, count, 64))):
    for causal in (False, True):
        problem = Problem(*shape, causal, target="sms = 16")
        inputs = Inputs.normal(problem, 1)
        output = suite.check(f"{count} {name} {causal}", problem, inputs)
        if output:
            suite.expect(name, problem, np.array_equal(output.o_bits, inputs.v), "O is not V")

suite.finish()
