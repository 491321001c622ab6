# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Addresses and offsets that 32 bits do not hold: M4, Z4."""

from harness import Inputs, Problem
from storage import Layout
from suite import Suite

suite = Suite("far places")

for dtype in ("f16", "bf16") if suite.full else ("f16",):
    # M4: an operand above 4 GiB, above 2^40, and all of them; the low 32 bits are those of another.
    problem = Problem(1, 70, 140, 2, 1, 64, True, dtype)
    inputs = Inputs.normal(problem, 4)
    names = ("q", "k", "v", "o", "lse")
    low = {name: 0x10000000 + 0x1000000 * i for i, name in enumerate(names)}
    first = suite.check(f"M4 low {dtype}", problem, inputs, addresses=low)
    for moved in (*names, names):
        for above in (0x100000000, 0x7F0000000000):
            at = {**low, **{name: low[name] + above for name in moved if name in low}}
            if moved in low:
                # A cut address would be that of the operand before.
                at = {**low, moved: above + low[names[names.index(moved) - 1]]}
            name = f"M4 {'all' if moved is names else moved} + {above:#x} {dtype}"
            output = suite.check(name, problem, inputs, addresses=at)
            if first and output:
                suite.expect(name, problem, output.same_bits(first), "differs from the operands below 4 GiB")

    # Z4: tokens 2^24 elements apart, so that the last begins at the 2^31st. In one storage of
    # this stride a wrapped offset is that of another token.
    for sq, skv, far in ((16, 129, "k"), (16, 129, "v"), (16, 300, "kv"), (129, 70, "q"), (300, 300, "qkv")):
        for causal in (False, True) if suite.full else (False,):
            problem = Problem(1, sq, skv, 1, 1, 64, causal, dtype)
            inputs = Inputs.normal(problem, 24)
            copy = suite.check(f"Z4 {far} {sq}x{skv} {causal} {dtype} copied", problem, inputs)
            layouts = {n: Layout((problem.shape(n)[1] << 24, 1 << 24, 64, 1)) for n in far}
            for dynamic in (frozenset(), frozenset(("layout",))):
                view = problem.but(layouts=layouts, sparse=frozenset(far), dynamic=dynamic)
                name = f"Z4 {far} {sq}x{skv} {causal} {dtype} {'dynamic' if dynamic else 'static'}"
                output = suite.check(name, view, inputs)
                if copy and output:
                    suite.expect(name, view, output.same_bits(copy), "differs from the compact copy")

suite.finish()
