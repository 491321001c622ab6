# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Calls of fa4.attention: layouts from call to call, kernels of other chips, streams, graphs,
threads: H1, H3, H4."""

import threading
import time

import numpy as np

from harness import ALL_DYNAMIC, Inputs, Problem
from storage import bhsd
from suite import Suite

suite = Suite("host")
BLOCKS = 1 << 30  # bytes that the slow producer writes, again and again

if suite.args.gpu:
    import fa4
    from cuda_harness import Memory
    from fa4._driver import check, get_device, get_driver

    cuda = get_driver()


class Array:
    """A tensor of no framework, as __cuda_array_interface__ has it, with its stream."""

    def __init__(self, bits, layout, stream=0, typestr="<f2"):
        storage = np.full(layout.storage_size(bits.shape) if bits.ndim == 4 else bits.size, 0x7FFF, bits.dtype)
        at = layout.view(storage, bits.shape) if bits.ndim == 4 else storage.reshape(bits.shape)
        at[...] = bits
        self.shape, self.layout, self.storage = bits.shape, layout, storage
        self.memory = Memory(storage.size, bits.itemsize, 0x7FFF)
        self.memory.write(storage)
        strides = tuple(s * bits.itemsize for s in layout.strides) if bits.ndim == 4 else None
        self.__cuda_array_interface__ = {
            "version": 3, "shape": bits.shape, "typestr": typestr, "strides": strides,
            "data": (self.memory.address, False), "stream": stream or 1,
        }  # fmt: skip

    def bits(self):
        storage = self.memory.read()
        return self.layout.view(storage, self.shape).copy() if len(self.shape) == 4 else storage.reshape(self.shape)

    def free(self):
        self.memory.free()


def arrays(problem, inputs, stream=0):
    """q, k, v and an output of 0x7FFF."""
    made = [Array(getattr(inputs, n), problem.layout(n), stream) for n in "qkv"]
    return made + [Array(np.full(problem.shape("o"), 0x7FFF, np.uint16), problem.layout("o"), stream)]


def call(problem, operands):
    q, k, v, o = operands
    fa4.attention(q, k, v, causal=problem.causal, out=o)


def called(problem, inputs):
    operands = arrays(problem, inputs)
    call(problem, operands)
    check(cuda.cuCtxSynchronize())
    bits = operands[3].bits()
    for x in operands:
        x.free()
    return bits


def expect(name, problem, condition, why):
    suite.begin(name)
    suite.expect(name, problem, condition, why)


def layouts_in_turn(problem):
    """H1: one kernel, contiguous, transposed and contiguous tensors."""
    inputs = Inputs.normal(problem, 1)
    first = suite.check(f"H1 kernel d{problem.d}", problem, inputs)
    if not suite.args.gpu or not first:
        return
    moved = problem.but(layouts={n: bhsd(problem.shape(n)) for n in "qkvo"})
    turns = [called(p, inputs) for p in (problem, moved, problem, moved)]
    for i, bits in enumerate(turns):
        expect(f"H1 call {i} d{problem.d}", problem, np.array_equal(bits, first.o_bits), "the bits differ from the kernel's")


def other_chip(problem):
    """H3: a kernel for another chip is passed over, and refused where it is the only one."""
    other = suite.harness.compile(problem.but(chip="sm_100a"))
    if not suite.args.gpu:
        return
    inputs = Inputs.normal(problem, 1)
    first = suite.check(f"H3 kernel d{problem.d}", problem, inputs)
    fa4.use(fa4.load(other, "f_attention", causal=True))
    same = first and np.array_equal(called(problem, inputs), first.o_bits)
    expect(f"H3 passed over d{problem.d}", problem, same, "the bits differ from the kernel's")
    fa4.clear()
    fa4.use(fa4.load(other, "f_attention", causal=True))
    try:
        called(problem, inputs)
        said = "nothing"
    except ValueError as error:
        said = str(error)
    right = "made for sm_100a" in said and "sm_90" in said
    expect(f"H3 refused d{problem.d}", problem, right, f"expected both chips to be named, but got {said}")
    fa4.clear()


def slow_copy(stream, block, source, target):
    """Work of many milliseconds on a stream, behind which `source` comes to `target`."""
    for i in range(100):
        check(cuda.cuMemsetD8Async(block, i, BLOCKS, stream))
    check(cuda.cuMemcpyDtoDAsync(target.memory.address, source.memory.address, source.memory.size, stream))


def streams(problem):
    """H4: behind a slow producer on a stream of its own; in a graph; without a context."""
    inputs, other = Inputs.normal(problem, 1), Inputs.normal(problem, 2)
    want = [suite.check(f"H4 kernel {i}", problem, x) for i, x in enumerate((inputs, other))]
    if not suite.args.gpu or not all(want):
        return
    stream = check(cuda.cuStreamCreate(cuda.CUstream_flags.CU_STREAM_NON_BLOCKING))
    block = check(cuda.cuMemAlloc(BLOCKS))
    operands = arrays(problem, other, int(stream))
    source = Array(inputs.q, problem.layout("q"))
    # K and V are those of the first inputs too: only Q comes late.
    for operand, name in zip(operands[1:3], "kv"):
        operand.memory.write(getattr(inputs, name))
    call(problem, operands)  # loads the kernel
    check(cuda.cuCtxSynchronize())
    began = time.perf_counter()
    slow_copy(stream, block, source, operands[0])
    call(problem, operands)
    enqueued = time.perf_counter() - began
    check(cuda.cuStreamSynchronize(stream))
    took = time.perf_counter() - began
    expect("H4 stream order", problem, np.array_equal(operands[3].bits(), want[0].o_bits), "O is not that of the late Q")
    expect("H4 no wait", problem, enqueued < took / 2, f"the call took {enqueued:.4f} s of {took:.4f} s")

    # In a graph, which later reads what is in the tensors then.
    check(cuda.cuStreamBeginCapture(stream, cuda.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
    call(problem, operands)
    graph = check(cuda.cuStreamEndCapture(stream))
    executable = check(cuda.cuGraphInstantiate(graph, 0))
    for i, x in enumerate((inputs, other, inputs)):
        for operand, name in zip(operands, "qkv"):
            operand.memory.write(getattr(x, name))
        operands[3].memory.set(operands[3].memory.address, operands[3].memory.size)
        check(cuda.cuCtxSynchronize())
        check(cuda.cuGraphLaunch(executable, stream))
        check(cuda.cuStreamSynchronize(stream))
        same = np.array_equal(operands[3].bits(), want[i % 2].o_bits)
        expect(f"H4 graph {i}", problem, same, "the graph's O differs from the call's")

    # In a thread that has no context.
    found = []
    thread = threading.Thread(target=lambda: found.append(try_call(problem, operands)))
    operands[3].memory.set(operands[3].memory.address, operands[3].memory.size)
    check(cuda.cuCtxSynchronize())
    thread.start()
    thread.join()
    check(cuda.cuCtxSynchronize())
    same = found == [None] and np.array_equal(operands[3].bits(), want[0].o_bits)
    expect("H4 thread without a context", problem, same, f"{found}, or O differs")
    check(cuda.cuMemFree(block))


def try_call(problem, operands):
    try:
        call(problem, operands)
    except Exception as error:
        return repr(error)


for d in (64, 128):
    problem = Problem(2, 70, 140, 4, 2, d, True, lse=False, dynamic=ALL_DYNAMIC)
    folder = suite.harness.compile(problem)
    if suite.args.gpu:
        fa4.use(fa4.load(folder, "f_attention", causal=True))
    layouts_in_turn(problem)
    if d == 128:
        streams(problem.but(b=4, sq=500, skv=600, hq=16, hkv=4))
    other_chip(problem)

suite.finish()
