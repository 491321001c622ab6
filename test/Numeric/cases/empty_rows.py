# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Rows that see no key: O = 0 and LSE = -inf, and every element is written once.

E1 to E4, Q1, Q3, S3 and what makes an empty part of a split merge well.
"""

import numpy as np

from harness import ALL_DYNAMIC, Inputs, Problem
from suite import Suite

suite = Suite("empty rows")


def empty_first(name, problem, inputs=None):
    """Rows before Sq - Skv are empty; row Sq - Skv has a weight of 1 on key 0."""
    inputs = inputs or Inputs.normal(problem, 1)
    output = suite.check(name, problem, inputs)
    if not output:
        return
    count = problem.sq - problem.skv
    suite.expect(name, problem, (output.o[:, :count] == 0).all(), "O of an empty row is not 0")
    suite.expect(name, problem, np.isneginf(output.lse[:, :, :count]).all(), "LSE of an empty row is not -inf")
    if problem.skv:
        v = inputs.v[:, :1].repeat(problem.hq // problem.hkv, axis=2)
        same = np.array_equal(output.o_bits[:, count : count + 1], v)
        suite.expect(name, problem, same, "the first row with a key is not V[0] to the bit")


for dtype in ("f16", "bf16"):
    for shape in ((1, 5, 2, 4, 2, 64), (1, 146, 1, 1, 1, 64), (1, 300, 1, 16, 2, 128)):
        empty_first(f"E1 {shape} {dtype}", Problem(*shape, True, dtype))
    # A Q tile that is empty next to one with a single row; then two tiles of a task.
    empty_first(f"E2 {dtype}", Problem(1, 129, 1, 1, 1, 64, True, dtype))
    empty_first(f"E2 whole task {dtype}", Problem(1, 257, 1, 1, 1, 64, True, dtype))
    empty_first(f"E2 two tasks {dtype}", Problem(1, 513, 130, 1, 1, 64, True, dtype))

for causal in (False, True):
    for d in (64, 128) if suite.full else (128 if causal else 64,):
        for dynamic in (frozenset(), ALL_DYNAMIC):
            problem = Problem(2, 4, 0, 2, 2, d, causal, dynamic=dynamic)
            name = f"E3 {causal} d{d} {'dynamic' if dynamic else 'static'}"
            empty_first(name, problem)
            suite.check(name + " no queries", problem.but(sq=0))
            suite.check(name + " no batch", problem.but(b=0, skv=3))
            suite.check(name + " no heads", problem.but(hq=0, skv=3))
    # Q3: more tasks than blocks, none of which has a key; then the variants of a kernel.
    empty_first(f"Q3 {causal}", Problem(3, 300, 0, 4, 2, 64, causal, target="sms = 1"))
    variants = ["epilogue=softmax", "epilogue=correction", "p-split=128", "kv-stages=2", "poly-pairs=0 poly-of=1"]
    variants += ["scheduler=linear", "stats-granularity=warp", "group-packing=off", "rescale-threshold=0"]
    variants += ["turns=true", "consumers=2", "consumers=3 tile-keys=64", "tile-keys=112 kv-stages=2"]
    variants = [v for v in variants if suite.chip.has(v)]
    for i, schedule in enumerate(variants):
        for d in (64, 128) if suite.full else ((64, 128)[(i + causal) % 2],):
            empty_first(f"Q3 {schedule} d{d} {causal}", Problem(2, 4, 0, 2, 2, d, causal, schedule=schedule, target="sms = 1"))

# E4: two runs over different old contents, NaN and 1e4.
E1 = ((1, 5, 2, 4, 2, 64, True), (1, 146, 1, 1, 1, 64, True), (1, 300, 1, 16, 2, 128, True))
E3 = ((2, 4, 0, 2, 2, 64, False), (2, 4, 0, 2, 2, 64, True))
for shape in E1 + E3:
    for dynamic in (frozenset(), ALL_DYNAMIC) if suite.full else (frozenset(),):
        problem = Problem(*shape, dynamic=dynamic)
        inputs = Inputs.normal(problem, 2)
        name = f"E4 {shape} {'dynamic' if dynamic else 'static'}"
        nan = suite.check(name, problem, inputs)
        if nan:
            again = suite.harness.run(problem, inputs, poison=0x70E2)
            suite.expect(name, problem, again.same_bits(nan), "the output depends on what was there")

# Q1: blocks that serve empty and full tasks in turn.
for schedule in ("scheduler=linear", "scheduler=longest-first"):
    for ctas in (1, 2):
        problem = Problem(1, 384, 130, 4, 2, 64, True, schedule=schedule, target=f"sms = {ctas}")
        empty_first(f"Q1 {schedule} {ctas}", problem)
        empty_first(f"Q1 {schedule} {ctas} not packed", problem.but(schedule=schedule + " group-packing=off"))

# S3: keys 0..300 in parts, one or two of them empty, merged by their LSE.
whole = Problem(1, 40, 300, 2, 1, 64)
inputs = Inputs.normal(whole, 3)
one = suite.check("S3 whole", whole, inputs)


def merge(parts):
    lse = np.logaddexp.reduce([p.lse for p in parts])
    with np.errstate(invalid="ignore"):
        weights = [np.where(np.isneginf(lse), 0, np.exp(p.lse - lse)) for p in parts]
    o = sum(w.transpose(0, 2, 1)[..., None] * p.o for w, p in zip(weights, parts))
    return o, lse


for cuts in ((0, 128, 300, 300), (0, 0, 128, 128, 300), (0, 0, 300)):
    parts = []
    for begin, end in zip(cuts, cuts[1:]):
        part = Inputs(inputs.q, inputs.k[:, begin:end], inputs.v[:, begin:end], "f16")
        parts.append(suite.check(f"S3 {cuts} {begin}..{end}", whole.but(skv=end - begin), part))
    if one and all(parts):
        o, lse = merge(parts)
        suite.expect(f"S3 {cuts}", whole, np.abs(o - one.o).max() < 2e-3, "merged O differs from the whole")
        suite.expect(f"S3 {cuts}", whole, np.abs(lse - one.lse).max() < 1e-4, "merged LSE differs from the whole")
        nothing = [p for p in parts if p.reference.lse.max() == -np.inf]
        o, lse = merge(nothing * 2)
        suite.expect(f"S3 {cuts}", whole, (o == 0).all() and np.isneginf(lse).all(), "two empty parts are not empty")

suite.finish()
