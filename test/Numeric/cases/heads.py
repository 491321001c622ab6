# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which head reads which: G1 to G4, G7, G8, by values that name their key and head."""

import numpy as np

from harness import ALL_DYNAMIC, Inputs, Problem
from suite import Suite

suite = Suite("heads")


def fingerprint(problem):
    """Query i of head h picks one key, (13 h + i) mod the keys that it sees; V of key j
    holds j in base 64 in lanes 0 and 1, and the head in lane 2."""
    b, sq, hq, d = problem.shape("q")
    skv, hkv = problem.skv, problem.hkv
    # Keys are the digits of j, in base 8, as one-hot vectors: four digits, 32 lanes.
    digits = np.stack([np.arange(skv) // 8**n % 8 for n in range(4)])
    one_hot = np.zeros((skv, d))
    for n in range(4):
        one_hot[np.arange(skv), 8 * n + digits[n]] = 1
    k = np.broadcast_to(one_hot[None, :, None], problem.shape("k"))
    v = np.zeros(problem.shape("v"))
    v[..., 0] = (np.arange(skv) % 64)[None, :, None]
    v[..., 1] = (np.arange(skv) // 64)[None, :, None]
    v[..., 2] = np.arange(hkv)[None, None]
    q, picked = np.zeros((b, sq, hq, d)), np.full((sq, hq), -1)
    for i in range(sq):
        seen = min(skv, i + skv - sq + 1) if problem.causal else skv
        for h in range(hq if seen > 0 else 0):
            picked[i, h] = (13 * h + i) % seen
            q[:, i, h] = 64.0 * one_hot[picked[i, h]]
    return Inputs.of(problem, q, k, v), picked


def picks(name, problem):
    inputs, picked = fingerprint(problem)
    # One digit less weighs e^-64, which is 0 in f16 and next to nothing in bf16.
    problem = problem.but(scale=1.0)
    output = suite.check(name, problem, inputs)
    if not output:
        return
    got = output.o[..., 0] + 64 * output.o[..., 1]
    sees = picked >= 0
    suite.expect(name, problem, np.allclose(got[:, sees], picked[sees], 0, 1e-6), "a row has the value of another key")
    heads = (np.arange(problem.hq) // (problem.hq // problem.hkv))[None].repeat(problem.sq, 0)
    suite.expect(name, problem, np.allclose(output.o[..., 2][:, sees], heads[sees], 0, 1e-6), "a row has the value of another head")


for dtype in ("f16", "bf16") if suite.full else ("f16",):
    picks(f"G1 long {dtype}", Problem(1, 1, 4096 if suite.full else 1100, 12, 2, 64, dtype=dtype))
    picks(f"G1 6/2 {dtype}", Problem(1, 33, 100, 6, 2, 64, True, dtype))
    picks(f"G1 7/1 {dtype}", Problem(2, 19, 77, 7, 1, 128, True, dtype))
    for causal in (False, True):
        picks(f"G1 71/1 {causal} {dtype}", Problem(1, 5, 64, 71, 1, 64, causal, dtype))
    picks(f"G1 ratio 3 {dtype}", Problem(1, 130, 150, 3, 1, 64, False, dtype))
    picks(f"G1 ratio 5 {dtype}", Problem(1, 40, 150, 10, 2, 64, True, dtype))
    # The same of ratios that pack, and of heads that the compiler does not see.
    picks(f"packed 8/2 {dtype}", Problem(2, 70, 300, 8, 2, 64, True, dtype))
    picks(f"packed 32/1 {dtype}", Problem(1, 70, 150, 32, 1, 64, False, dtype))
    picks(f"dynamic 6/2 {dtype}", Problem(2, 70, 150, 6, 2, 64, True, dtype, dynamic=ALL_DYNAMIC))
    suite.check(f"G2 {dtype}", Problem(1, 128, 128, 4, 1, 64, True, dtype))
    suite.check(f"G4 {dtype}", Problem(1, 1, 300, 8, 2, 128, False, dtype))

# G3: heads that do not divide.
for hq, hkv in ((3, 2), (33, 2), (2, 3), (4, 0)):
    problem = Problem(1, 8, 16, hq, hkv, 64)
    words = (f"Hq = {hq} and Hkv = {hkv}", "multiple")
    suite.refused(f"G3 {hq}/{hkv}", problem, words)
    dynamic = problem.but(dynamic=frozenset(("Hq", "Hkv")))
    suite.refused(f"G3 {hq}/{hkv} dynamic", dynamic, (f"but got {hq} and {hkv}", "multiple"))

# G7: consecutive query heads share a key/value head.
problem = Problem(1, 8, 64, 8, 2, 64)
sign = np.array([1.0, -1.0])[None, None, :, None]
group = np.array([0.0, 1.0])[None, None, :, None]
output = suite.check("G7", problem, Inputs.of(problem, np.random.default_rng(7).standard_normal(problem.shape("q")), sign, group))
if output:
    heads = np.repeat([0.0, 1.0], 4)[None, None, :, None]
    suite.expect("G7", problem, (output.o == heads).all(), "a query head reads the wrong key/value head")

# G8: batched decode.
for shape in ((32, 4, 128), (8, 2, 64)):
    suite.check(f"G8 {shape}", Problem(64 if suite.full else 3, 1, 777, *shape))

suite.finish()
