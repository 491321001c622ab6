# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""f16 and bf16, with values over their range, and without LSE."""

import numpy as np

from harness import Inputs, Problem
from suite import Suite

suite = Suite("dtypes")

for dtype in ("f16", "bf16"):
    for d in (64, 128):
        for causal in (False, True) if suite.full else (d == 64,):
            problem = Problem(1, 260, 300, 4, 2, d, causal, dtype)
            suite.check(f"{dtype} d{d} {causal}", problem)
            suite.check(f"{dtype} d{d} {causal} no lse", problem.but(lse=False, sq=70))

    rng = np.random.default_rng(7)
    problem = Problem(1, 130, 200, 1, 1, 64, dtype=dtype)
    q, k, v = (rng.standard_normal(problem.shape(n)) for n in "qkv")
    # Subnormals of f16 in every operand; bf16 has them far lower.
    suite.check(f"{dtype} tiny", problem, Inputs.of(problem, q * 1e-6, k, v * 1e-6))
    suite.check(f"{dtype} wide", problem, Inputs.of(problem, q, k, v * np.exp2(rng.integers(-12, 1, v.shape))))
    # Logits of +-1e4. In bf16 one row has two keys that weigh anything, and how their logits
    # round in f32 decides: after every product, as in the simulator, they make 1.0 times the
    # error of rounding, cut after 16 products 1.70, so that an H200 fails the bar of 1.5.
    big = Inputs.of(problem, q * 100, k * 100, v)
    suite.check(f"{dtype} logits of 1e4", problem, big)
    suite.check(f"{dtype} logits of 1e4 causal", problem.but(causal=True), big)

suite.finish()
