# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Chips, assemblers and registers, as the driver sees them: N4, N5, N6, N9."""

import os
import re

import numpy as np

from harness import Harness, Inputs, Problem, ToolError
from suite import Suite

suite = Suite("toolchain")
PLAIN = [Problem(1, 130, 300, 2, 1, d, causal, dtype) for d in (64, 128) for causal in (False, True) for dtype in ("f16", "bf16")]


def case(name, problem, condition, why):
    suite.begin(name)
    suite.expect(name, problem, condition, why)


def text_of(problem):
    with open(os.path.join(suite.harness.compile(problem), "f_attention.ptx")) as f:
        return f.read()


def raised(action):
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


# N4: the suffix is in the PTX, and a kernel for another chip does not load.
for problem in PLAIN:
    case(f"N4 header {problem}", problem, "\n.target sm_90a\n" in text_of(problem), "the PTX is not for sm_90a")
other = PLAIN[0].but(chip="sm_100a")
suite.harness.compile(other)
suite.refused("N4 bare sm_90", PLAIN[0].but(chip="sm_90"), ("sm_90",))
if suite.args.gpu:
    suite.refused("N4 other chip", other, ("made for sm_100a", "sm_90"))

# N6: the bounds are in the PTX; the driver sees registers that the launch has and no spill.
for problem in PLAIN:
    ptx = text_of(problem)
    threads = int(re.search(r"\.maxntid (\d+)", ptx)[1])
    case(f"N6 bounds {problem}", problem, ".minnctapersm 1" in ptx, "the PTX has no .minnctapersm")
    if suite.args.gpu:
        registers, local = suite.harness.attributes(problem)
        fits = registers * threads <= 65536 and registers % 8 == 0
        case(f"N6 registers {problem}", problem, fits, f"{registers} registers a thread, {threads} threads, {local} bytes of local memory")

# N9 and N5: the assembler's kernel, the driver's own from the same PTX, and the simulator.
for base in PLAIN:
    problem = base.but(scale=1.0)
    folder = suite.harness.compile(problem)
    ones, normal = Inputs.of(problem, 1, 1, 1), Inputs.normal(problem, 9)
    normal.q[...] = Inputs.of(problem, np.random.default_rng(9).standard_normal(problem.shape("q")) / 8, 1, 1).q
    kept = os.path.join(folder, "simulated.npz")
    if suite.args.prepare:
        simulator = Harness(suite.args.work, suite.chip.name)
        outputs = [simulator.run(problem, x) for x in (ones, normal)]
        np.savez(kept, o=np.stack([x.o_bits for x in outputs]), lse=np.stack([x.lse_bits for x in outputs]))
        os.utime(os.path.join(folder, "f_attention.json"))
    if not suite.args.gpu:
        continue
    simulated = np.load(kept)
    for i, (words, inputs) in enumerate((("ones", ones), ("normal", normal))):
        first = suite.check(f"N9 {words} {problem}", problem, inputs)
        try:
            jit = suite.harness.run_by_driver(problem, inputs)
        except ToolError as error:
            suite.fail(f"N5 {words}", problem, str(error))
            continue
        same = first and np.array_equal(first.o_bits, jit.o_bits)
        case(f"N5 {words} by the driver {problem}", problem, same, "the assembler's O and the driver's differ")
        if words == "ones" and first:
            case(f"N9 as simulated {problem}", problem, np.array_equal(first.o_bits, simulated["o"][i]), "O differs from the simulator's")
        elif first:
            near = np.abs(first.o - type(first)(simulated["o"][i], None, problem.dtype).o).max()
            bar = 2.0 ** (-6 if problem.dtype == "bf16" else -9)
            case(f"N9 near simulated {problem}", problem, near <= bar, f"O is {near} off the simulator's")

# N5: what the driver cannot assemble is an error with its compiler's words, and nothing else is tried.
if suite.args.gpu:
    error = raised(lambda: suite.harness.load_text(PLAIN[0], text_of(PLAIN[0]).replace("wgmma.fence", "wgmma.fenced", 1)))
    words = ("CUDA_ERROR_INVALID_PTX", "'f_attention'", "made for sm_90a, PTX 8.8", "driver of CUDA ", "error near '.sync'")
    told = all(word in error for word in words)
    case("N5 broken", PLAIN[0], told, f"expected an error of the driver with {', '.join(words)}, but got {error}")

suite.finish()
