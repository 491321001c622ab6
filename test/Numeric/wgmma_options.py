# RUN: %numeric --chip sm_90a --race
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Options of the schedule for Hopper, all of them together: what fits is right, and what
does not is refused with the budget that it breaks."""

from itertools import product

from harness import Inputs, Problem
from suite import Suite

suite = Suite("wgmma options")
SHARED_BYTES = 232448


def budget(d, consumers, keys, stages, turns, registers):
    """Words of the message that refuses these, or None."""
    registers = registers or {2: 240, 3: 160}[consumers]
    if keys // 2 + d // 2 + keys // 4 >= registers:
        return f"'consumer-registers' above {keys // 2 + d // 2 + keys // 4}"
    # Threads at launch share the 65536 registers of a multiprocessor in steps of 8.
    threads = 128 * (consumers + 1)
    pool = 65536 // threads // 8 * 8 * threads
    if 128 * (consumers * registers + {2: 24, 3: 32}[consumers]) > pool:
        return f"at most {pool} registers in all"
    tiles, blocks = 2 * consumers * 64 * d * 2, 2 * stages * keys * d * 2
    barriers = 8 * ((5 if turns else 4) * consumers + 4 * stages)
    if tiles + blocks + barriers > SHARED_BYTES:
        return f"at most {SHARED_BYTES} bytes of shared memory"
    return None


SIZES = (16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256)
REGISTERS = (0, 128, 200, 232)
choices = product((64, 128), (2, 3), SIZES, (2, 3, 4, 5), (True, False), REGISTERS)
for i, (d, consumers, keys, stages, turns, registers) in enumerate(choices):
    # Masks, types and lengths change places from one choice to the next.
    causal, dtype = (i + i // 8 + i // 64) % 2 == 1, ("f16", "bf16")[i // 4 % 2]
    schedule = f"consumers={consumers} tile-keys={keys} kv-stages={stages} turns={str(turns).lower()}"
    schedule += f" consumer-registers={registers}" if registers else ""
    words = budget(d, consumers, keys, stages, turns, registers)
    if i % (5 if words else 3) if suite.full else i % (131 if words else 61):
        continue
    sizes = ((1, 200, 400, 2, 1), (1, 130, 257, 4, 4), (3, 65, 300, 1, 1))[i // 3 % 3]
    problem = Problem(*sizes, d, causal, dtype, schedule=schedule, target="sms = 2")
    name = f"{schedule} {causal} {dtype} d{d}"
    if words:
        suite.refused(name, problem, (words,))
    else:
        suite.check(name, problem)

# What runs beside the exponentials, and their share by polynomial.
ahead = product((64, 128), ("on", "off"), (16, 64, 96, 128), (0, 1, 3), (True, False))
for i, (d, look, keys, poly, causal) in enumerate(ahead):
    if i % 7 and not suite.full:
        continue
    schedule = f"consumers=2 look-ahead={look} tile-keys={keys} kv-stages=2 poly-pairs={poly} poly-of={(8, 4)[i % 2]}"
    sizes = ((1, 200, 400, 2, 1), (1, 130, 257, 4, 4), (3, 65, 300, 1, 1))[i % 3]
    dtype = ("f16", "bf16")[i // 4 % 2]
    problem = Problem(*sizes, d, causal, dtype, schedule=schedule, target="sms = 2")
    suite.check(f"{schedule} {causal} {dtype} d{d}", problem)

# One choice at a time is out of its range.
for option, words in (
    ("consumers=1", "'consumers' to be 2 or 3"),
    ("consumers=4", "'consumers' to be 2 or 3"),
    ("tile-keys=8", "'tile-keys' to be a multiple of 16 from 16 to 256"),
    ("tile-keys=120", "'tile-keys' to be a multiple of 16 from 16 to 256"),
    ("tile-keys=272", "'tile-keys' to be a multiple of 16 from 16 to 256"),
    ("kv-stages=1", "'kv-stages' from 2 to 8"),
    ("tile-keys=16 kv-stages=9", "'kv-stages' from 2 to 8"),
    ("consumer-registers=100", "'consumer-registers' to be a multiple of 8"),
    ("consumer-registers=264", "'consumer-registers' to be a multiple of 8 from 24 to 256"),
    ("turns=true look-ahead=on", "'turns' or 'look-ahead'"),
    ("consumers=2 tile-keys=176 look-ahead=on", "'consumer-registers' above 252"),
    ("poly-pairs=9", "'poly-pairs' from 0 to 8"),
    ("poly-pairs=8 consumers=2 look-ahead=on", "'poly-pairs' from 0 to 7"),
    ("poly-of=6", "'poly-of' to divide the 64 pairs"),
    ("p-split=64", "'p-split' to be left alone"),
    ("epilogue=softmax", "'epilogue' to be left alone"),
):
    suite.refused(option, Problem(1, 64, 64, 1, 1, 64, schedule=option), (words,))

# None of the choices shows in the bits but for the size of a block.
for causal in (False, True):
    problem = Problem(1, 200, 400, 2, 1, 64, causal, schedule="tile-keys=128")
    inputs = Inputs.normal(problem, 1)
    first = suite.check(f"bits {causal}", problem, inputs)
    for option in ("consumers=2", "consumers=2 look-ahead=on", "turns=true", "kv-stages=2", "kv-stages=5", "consumer-registers=152", "group-packing=off"):
        output = suite.check(f"bits {causal} {option}", problem.but(schedule=f"tile-keys=128 {option}"), inputs)
        if first and output:
            suite.expect(option, problem, output.same_bits(first), "bits differ from the plain schedule's")

suite.finish()
