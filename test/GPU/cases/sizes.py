# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What a simulator takes too long for: Z2, Z5, and Q5 on every multiprocessor."""

import numpy as np

import reference
from harness import Inputs, Output, Problem, ToolError
from suite import Suite

suite = Suite("sizes")

# Z2: as many heads as once did not fit a grid.
problem = Problem(1, 1, 1, 65536, 65536, 64)
inputs = Inputs.normal(problem, 1)
output = suite.check("Z2 65536 heads", problem, inputs, modes=("eager",))
if output:
    suite.expect("Z2", problem, np.array_equal(output.o_bits, inputs.v), "O is not V")

# Q5: more tasks than multiprocessors, and trip counts that are no multiple of the slots.
for causal in (False, True):
    for skv in (384, 257, 640):
        suite.check(f"Q5 {skv} {causal}", Problem(1, 384, skv, 160, 160, 64, causal))
        suite.check(f"Q5 d128 {skv} {causal}", Problem(2, 300, skv, 64, 64, 128, causal, "bf16"))
        # The other order of the tasks.
        other = "linear" if causal else "longest-first"
        suite.check(f"Q5 {other} {skv} {causal}", Problem(1, 384, skv, 160, 160, 64, causal, schedule=f"scheduler={other}"))

PERIOD = (1 << 22) - 3  # elements; odd, so that no two heads are equal


def periodic(name, problem, seed):
    """An operand of one stretch of values again and again, on the device; and the stretch."""
    import cuda_harness

    size = int(np.prod(problem.shape(name)))
    stretch = np.random.default_rng(seed).standard_normal(PERIOD).astype(np.float16)
    block = cuda_harness.Memory(size, 2, 0x7FFF)
    for start in range(0, size, PERIOD):
        block.write(stretch[: min(PERIOD, size - start)], 2 * start)
    return block, stretch.view(np.uint16)


def rows(stretch, shape, batch, head):
    """The rows of a head, out of the stretch."""
    _, s, h, d = shape
    first = ((batch * s + np.arange(s)) * h + head) * d
    return stretch[(first[:, None] + np.arange(d)) % PERIOD][None, :, None]


# Z5: K and V end beyond the 2^31st element; 8191 keys are the control.
for skv in (8191, 8193):
    problem = Problem(2, 1, skv, 1024, 1024, 128)
    name = f"Z5 {skv}"
    if not suite.wanted(name, problem):
        continue
    folder = suite.harness.compile(problem)
    if not suite.args.gpu:
        continue
    suite.begin(name)
    k, k_stretch = periodic("k", problem, 5)
    v, v_stretch = periodic("v", problem, 6)
    q = np.random.default_rng(7).standard_normal(problem.shape("q")).astype(np.float16).view(np.uint16)
    try:
        o, lse = suite.harness.launch_on(problem, folder, {"q": q, "k": k, "v": v})
        for batch, head in ((0, 0), (0, 1023), (1, 0), (1, 511), (1, 1022), (1, 1023)):
            keys, values = rows(k_stretch, problem.shape("k"), batch, head), rows(v_stretch, problem.shape("v"), batch, head)
            one = problem.but(b=1, hq=1, hkv=1)
            part = Inputs(q[batch : batch + 1, :, head : head + 1], keys, values, "f16")
            got = Output(o[batch : batch + 1, :, head : head + 1], lse[batch : batch + 1, head : head + 1], "f16")
            suite.judge(name, one, got, reference.attention(*part.values(), False, None, "f16"), rms_bar=2.5)
    except ToolError as error:
        suite.fail(name, problem, str(error))
    finally:
        k.free()
        v.free()

suite.finish()
