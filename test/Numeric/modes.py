# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The simulator's asynchronous engines as early as allowed, as late as allowed and at
random: the outputs are equal to the bit, or a wait is missing."""

from harness import ALL_DYNAMIC, Inputs, Problem
from suite import MODES, Suite

suite = Suite("modes")
SEEDS = 50 if suite.full else 4

problems = [
    Problem(1, 257, 300, 2, 1, 64, False),
    Problem(1, 257, 300, 2, 1, 64, True),
    Problem(1, 130, 260, 2, 2, 128, True, "bf16"),
    Problem(2, 257, 513, 6, 2, 128, True, schedule="rescale-threshold=0"),
    Problem(3, 257, 260, 1, 1, 128, False, target="sms = 1", dynamic=ALL_DYNAMIC),
    Problem(1, 384, 130, 4, 2, 64, True, schedule="scheduler=linear", target="sms = 2"),
]
for number, problem in enumerate(problems):
    inputs = Inputs.normal(problem, number)
    first = suite.check(f"{number}", problem, inputs, modes=MODES)
    strict = suite.check(f"{number} strict", problem, inputs, modes=("lazy",), flags=("--strict-warps",))
    # Under the race detector the simulator is a third as fast.
    raced = suite.check(f"{number} race", problem, inputs, modes=("random",), flags=("--race",))
    if first and raced:
        suite.expect(f"{number}", problem, raced.same_bits(first), "bits differ with --race")
    if first and strict:
        suite.expect(f"{number}", problem, strict.same_bits(first), "bits differ with --strict-warps")

# Q9: the same input, many orders.
problem = Problem(2, 257, 513, 6, 2, 128, True) if suite.full else Problem(1, 257, 513, 2, 1, 128, True)
inputs = Inputs.normal(problem, 9)
first = suite.check("Q9", problem, inputs, modes=("eager",))
if first:
    for seed in range(1, SEEDS + 1):
        again = suite.harness.run(problem, inputs, "random", seed)
        suite.expect(f"Q9 seed {seed}", problem, again.same_bits(first), "the output differs from the eager one")

suite.finish()
