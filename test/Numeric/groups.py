# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Query heads that share a key/value head: packed into a tile, or a tile each."""

from itertools import product

from harness import Inputs, Problem
from storage import bhsd
from suite import Suite

suite = Suite("groups")

# Powers of two share a tile; the others have a tile a head.
for i, group in enumerate((1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 71, 128)):
    quick = ((bool(i % 2), 64, "bf16" if i % 4 == 0 else "f16"),)
    for causal, d, dtype in product((False, True), (64, 128), ("f16", "bf16")) if suite.full else quick:
        large = group > 16 and not suite.full
        problem = Problem(1, 9 if large else 65, 150, group, 1, d, causal, dtype)
        inputs = Inputs.normal(problem, group)
        compact = suite.check(f"group {group} d{d} {causal} {dtype}", problem, inputs)
        if not suite.full and group not in (1, 8):
            continue
        # Heads before rows: the tile of a group takes its rows from afar.
        moved = problem.but(layouts={n: bhsd(problem.shape(n)) for n in "qkvo"})
        output = suite.check(f"group {group} d{d} {causal} {dtype} bhsd", moved, inputs)
        if compact and output:
            suite.expect(f"group {group}", moved, output.same_bits(compact), "differs from the compact copy")

# Several key/value heads and batches, so that tiles of every head are told apart.
for hq, hkv in suite.pick(((8, 2), (12, 4), (6, 3), (16, 16), (14, 2), (64, 4)), 2):
    for causal in (False, True):
        suite.check(f"{hq}/{hkv} {causal}", Problem(2, 70, 131, hq, hkv, 64, causal))

# Packing decides who shares a tile, not what is computed.
for packing in ("on", "off"):
    for causal in (False, True) if suite.full else (packing == "on",):
        problem = Problem(1, 130, 200, 8, 2, 128, causal, schedule=f"group-packing={packing}")
        suite.check(f"packing {packing} {causal}", problem)

# Head counts that the compiler does not see.
for hq, hkv in suite.pick(((4, 2), (6, 2), (5, 5), (128, 1)), 2):
    problem = Problem(1, 33, 140, hq, hkv, 64, True, dynamic=frozenset(("Hq", "Hkv")))
    suite.check(f"dynamic {hq}/{hkv}", problem)

suite.finish()
