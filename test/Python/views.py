# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# RUN: fa4-compile %S/Inputs/strided.mlir --emit ptx,launch -o %t
# RUN: %ptxsim_python %s %t

"""Views: transposed, sliced and packed operands, aliases, and what lies between the elements;
bf16 as bits."""

import pathlib
import sys

import numpy as np

import ptxsim
from kernels import DOUBLE, attention, module, raises

folder = pathlib.Path(sys.argv[1])
kernel = ptxsim.Module((folder / "attention_attention.ptx").read_text())
path = folder / "attention_attention.json"
rng = np.random.default_rng(2)


def to_bits(x):
    """bf16 bits of values that have no more than 8 significant bits."""
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def to_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def values(*shape):
    return rng.integers(-16, 17, shape) / 8.0


def judge(o, q, k, v):
    want = attention(*(to_values(x) for x in (q, k, v)), causal=True)
    error = abs(to_values(o) - want).max()
    assert error < 2e-2, error


# q of a packed array of q, k and v; o transposed; between its rows there is something else.
packed = to_bits(values(2, 70, 6, 64))
q, k, v = packed[:, :, :4], packed[:, :, 4:5], packed[:, :, 5:]
back = packed.copy()
storage = np.full((2, 4, 70, 80), 0x1234, np.uint16)
o = storage[..., 8:72].transpose(0, 2, 1, 3)
assert not o.flags.c_contiguous
kernel.run(path, tensors={"q": q, "k": k, "v": v, "o": o}, mode="lazy")
judge(o, q, k, v)
assert np.array_equal(packed, back)
assert (storage[..., :8] == 0x1234).all() and (storage[..., 72:] == 0x1234).all()

# A key that all batches share, with stride 0; NumPy makes it read-only.
one = np.broadcast_to(k[:1], k.shape)
again = np.zeros(q.shape, np.uint16)
kernel.run(path, tensors={"q": q, "k": one, "v": v, "o": again})
judge(again, q, one, v)

# The output over the query that it was computed from.
inplace = packed.copy()
kernel.run(path, tensors={"q": q, "k": k, "v": v, "o": inplace[:, :, :4]})
judge(inplace[:, :, :4], q, k, v)
assert np.array_equal(inplace[:, :, 4:], packed[:, :, 4:])

# A view that is no more aligned than in the array it is taken from: TMA wants 16 bytes.
with raises(ValueError, "tensor map.*16|multiple of 16"):
    bad = np.zeros((2, 70, 4, 72), np.uint16)[..., 1:65]
    kernel.run(path, tensors={"q": bad, "k": k, "v": v, "o": again})

twice = module(DOUBLE)


def double(a, b, step_a, step_b, n, **options):
    return twice.run(grid=1, block=n, params=[a, b, step_a, step_b], **options)


# Every second element, to every third.
base, out = np.arange(20, dtype=np.float32), np.full(30, -1, np.float32)
double(base[::2], out[::3], 2, 3, 10)
assert (out[::3] == 2 * base[::2]).all() and (np.delete(out, np.s_[::3]) == -1).all()

# A write between them is no write to the array.
out[...] = -1
with raises(ptxsim.Fault, "wrote 40 bytes of 'out' that are no element of a writable array, the first 4 bytes"):
    double(base, out[::2], 1, 1, 20)
assert (out == -1).all()
result = double(base, out[::2], 1, 1, 20, check=False)
assert (result.status, result.ok) == ("fault", False) and "no element" in result.message

# Nor is what lies there an input: it is NaN.
spread = np.zeros(10, np.float32)
double(base[::2], spread, 1, 1, 10)
assert np.isnan(spread[1::2]).all() and (spread[::2] == 2 * base[:10:2]).all()

# One array twice is one buffer, and so are views that overlap.
one = np.arange(8, dtype=np.float32)
double(one, one, 1, 1, 8)
assert (one == 2 * np.arange(8)).all()
one = np.arange(9, dtype=np.float32)
double(one[:8], one[1:], 1, 1, 1)
assert (one == [0, 0, 2, 3, 4, 5, 6, 7, 8]).all()

# A read-only view beside a writable one: both lie in one buffer, only one is written.
one = np.arange(12, dtype=np.float32)
fixed, free = one[:8], one[6:]
fixed.flags.writeable = False
double(fixed, free, 1, 1, 6)
assert (one[6:] == [0, 2, 4, 6, 8, 10]).all()
before = one.copy()
with raises(ptxsim.Fault, "wrote 2 bytes of 'out, in' that are no element of a writable array"):
    twice.run(grid=1, block=1, params={"in": free[1:], "out": fixed, "step_in": 1, "step_out": 1})
assert (one == before).all()

# Nothing: no element, no buffer.
none = np.zeros(0, np.float32)
with raises(ptxsim.Fault, "out-of-bounds"):
    double(none, one, 1, 1, 1)
