# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Head dimensions, the default scale and the units of LSE: A1, A2, A4, A5, S1."""

import numpy as np

from harness import Inputs, Problem
from suite import Suite

suite = Suite("head dim and scale")

# A1 and A2, and A4 at head dimension 96: refused with the dimensions that exist.
for d in (1, 8, 40, 72, 80, 96, 112, 136, 256):
    suite.refused(f"A1 {d}", Problem(1, 33, 65, 2, 1, d, True), ("head dimension of 64 or 128", str(d)))
suite.refused("A2", Problem(1, 64, 64, 1, 1, 256), ("head dimension of 64 or 128", "256"))
suite.refused("A4 96", Problem(1, 64, 300, 2, 1, 96), ("head dimension of 64 or 128", "96"))

for dtype in ("f16", "bf16"):
    # A4: without the attribute the scale is 1 / sqrt(D), to the bit what is written out.
    for d in (64, 128):
        problem = Problem(1, 64, 300, 2, 1, d, dtype=dtype)
        inputs = Inputs.normal(problem, d)
        default = suite.check(f"A4 {d} {dtype}", problem, inputs)
        explicit = suite.check(f"A4 {d} {dtype} written out", problem.but(scale=d**-0.5), inputs)
        if default and explicit:
            # The attribute is an f32; the default is not.
            close = np.abs(default.o - explicit.o).max() <= 2.0 ** (-6 if dtype == "bf16" else -9)
            suite.expect("A4", problem, close and np.abs(default.lse - explicit.lse).max() < 1e-5, "scales differ")
        # A5: the signal is in one half of the lanes.
        for half in (slice(0, d // 2), slice(d // 2, d)):
            rng = np.random.default_rng(5)
            q, k, v = (rng.standard_normal(problem.shape(n)) for n in "qkv")
            q[..., half], k[..., half] = 0, 0
            output = suite.check(f"A5 {d} zero from {half.start} {dtype}", problem, Inputs.of(problem, 2 * q, k, v))
            if output:
                far = np.abs(output.o - output.o.mean(axis=1, keepdims=True)).max() > 0.1
                suite.expect("A5", problem, far, "every row is the mean of V")
        # One lane at a time carries everything.
        for lane in suite.pick((0, 1, 15, 16, 31, 32, 63, d - 1), 3):
            q, k = np.zeros(problem.shape("q")), np.zeros(problem.shape("k"))
            q[..., lane], k[..., lane] = 4, np.arange(300)[None, :, None] / 16
            suite.check(f"lane {lane} of {d} {dtype}", problem, Inputs.of(problem, q, k, v))

    # S1: natural logarithm.
    problem = Problem(1, 1, 2, 1, 1, 64, dtype=dtype)
    output = suite.check(f"S1 {dtype}", problem, Inputs.of(problem, 0, 1, 1))
    if output:
        suite.expect("S1", problem, abs(output.lse[0, 0, 0] - 0.6931472) < 1e-6, "LSE is not ln 2")

suite.finish()
