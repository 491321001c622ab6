# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Lengths that no tile divides, and the causal mask where they differ: T1 to T4, T7, T8, T11."""

import numpy as np

from harness import Inputs, Problem
from storage import subview
from suite import Suite

suite = Suite("tails and masks")

for dtype in ("f16", "bf16"):
    suite.check(f"T1 {dtype}", Problem(1, 3, 128, 1, 1, 128, True, dtype))
    for shape in ((1, 64, 64, 4, 4, 128), (1, 130, 66, 2, 2, 64)):
        suite.check(f"T2 {shape} {dtype}", Problem(*shape, dtype=dtype))
    suite.check(f"T3 {dtype}", Problem(1, 127, 192, 1, 1, 64, True, dtype))
    # T4 at head dimension 96 is refused: only 64 and 128 exist.
    suite.check(f"T4 {dtype}", Problem(1, 129, 129, 1, 1, 64, True, dtype))
    for causal in (False, True):
        problem = Problem(1, 1, 1, 1, 1, 64, causal, dtype)
        inputs = Inputs.normal(problem, 4)
        output = suite.check(f"T2 one key {causal} {dtype}", problem, inputs)
        if output:
            suite.expect("T2", problem, np.array_equal(output.o_bits, inputs.v), "O is not V[0] to the bit")
suite.refused("T4 d96", Problem(1, 129, 129, 1, 1, 96, True), ("head dimension of 64 or 128", "96"))

# T7: a key of zeros past the end would beat every real one.
for dtype in ("f16", "bf16"):
    for skv in (64, 192, 1000, 1216) if suite.full else (64, 1000):
        problem = Problem(1, 64, skv, 1, 1, 64, dtype=dtype)
        rng = np.random.default_rng(skv)
        q, k = 0.1 * rng.standard_normal(problem.shape("q")), 0.1 * rng.standard_normal(problem.shape("k"))
        q[..., 0], k[..., 0] = 8, -100
        v = 1 + 0.1 * rng.standard_normal(problem.shape("v"))
        output = suite.check(f"T7 {skv} {dtype}", problem, Inputs.of(problem, q, k, v))
        if output and skv == 1000:
            near = abs(output.o.mean() - 1.0) < 0.01 and np.abs(output.lse + 93.09).max() < 0.2
            suite.expect("T7", problem, near, "O is not near 1 or LSE not near -93.09")
        if skv == 1000:
            wide = problem.but(d=128)
            output = suite.check(f"T7 d128 {dtype}", wide, Inputs.of(wide, *(np.concatenate((x, 0 * x), 3) for x in (q, k)), 1))
            if output:
                suite.expect("T7", wide, np.abs(output.lse + 63.80).max() < 0.2, "LSE is not near -63.80")

# T8: rows of the buffer past the view are NaN, then +inf.
for causal in (False, True):
    problem = Problem(1, 16, 100, 1, 1, 64, causal)
    inputs = Inputs.normal(problem, 8)
    plain = suite.check(f"T8 copy {causal}", problem, inputs)
    at = subview((1, 256, 1, 64), (0, 0, 0, 0), problem.shape("k"))
    view = problem.but(layouts={"k": at, "v": at})
    output = suite.check(f"T8 {causal}", view, inputs)
    if plain and output:
        suite.expect("T8", view, output.same_bits(plain), "differs from the compact copy")
        infinite = suite.harness.run(view, inputs, poison=0x7FFF, unused=0x7C00)
        suite.expect("T8 inf", view, infinite.same_bits(plain), "differs from the compact copy")

# T11: V[j] = j and Q = 0, so a row's output is the mean of the keys it sees. The means are
# multiples of 1/2 up to 49.5, exact in f16; in bf16 they are exact too.
for dtype in ("f16", "bf16"):
    problem = Problem(1, 100, 100, 2, 1, 64, True, dtype)
    rng = np.random.default_rng(11)
    v = np.arange(100.0)[None, :, None, None]
    output = suite.check(f"T11 {dtype}", problem, Inputs.of(problem, 0, rng.standard_normal(problem.shape("k")), v))
    if output:
        means = np.arange(100)[None, :, None, None] / 2
        suite.expect("T11", problem, (output.o == means).all(), "a row is not the mean of its keys")
        suite.expect("T11", problem, np.abs(output.lse - np.log(np.arange(1, 101))).max() < 1e-4, "LSE is not ln(i + 1)")

suite.finish()
