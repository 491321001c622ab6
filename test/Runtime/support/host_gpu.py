# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A driver that computes attention where a kernel would run, through the kernel's tensor maps.

Memory is the host's. What a map cannot show is not there: rows past its extents are zeros,
as are columns, and nothing is stored there. So the runtime around the kernel is judged by
values: which memory the kernel was given, and what became of what it wrote.
"""

import ctypes

import numpy as np

from fake_driver import FakeDriver

ITEM = 2




class HostGpu(FakeDriver):
    """`meanings`: descriptor, mask and scale of each kernel, by its name."""

    def __init__(self, **options):
        super().__init__(**options)
        self.meanings = {}

    def cuLaunchKernel(self, function, *arguments):
        result = super().cuLaunchKernel(function, *arguments)
        if result[0] == 0:
            descriptor, causal, scale = self.meanings[function[1].decode()]
            self.compute(self.read(self.launches[-1], descriptor), causal, scale)
        return result

    def compute(self, given, causal, scale):
        q, k, v, o = (shown(given[name + "_map"]) for name in "qkvo")
        b, sq, hq, d = q.shape
        skv = given["seq_kv"]
        scale = d**-0.5 if scale is None else scale
        lse = None
        if "lse" in given:
            lse = array_at(given["lse"], (b, hq, sq), (hq * sq * 4, sq * 4, 4), np.float32)
        group = hq // k.shape[2] if skv else hq
        for at in np.ndindex(b, hq):
            batch, head = at
            keys, values = (x[batch if skv else 0, :skv, head // group].astype(np.float64) for x in (k, v))
            logits = scale * q[batch, :, head].astype(np.float64) @ keys.T
            if causal:
                logits[np.arange(skv)[None] > np.arange(sq)[:, None] + skv - sq] = -np.inf
            top = logits.max(1, initial=-np.inf, keepdims=True)
            weights = np.exp(logits - np.where(np.isinf(top), 0, top))
            total = weights.sum(1, keepdims=True)
            o[batch, :, head] = weights @ values / np.where(total == 0, 1, total)
            if lse is not None:
                with np.errstate(divide="ignore"):
                    lse[batch, head] = (np.log(total) + top)[:, 0]


def array_at(address, shape, strides, dtype):
    last = sum((n - 1) * s for n, s in zip(shape, strides)) + np.dtype(dtype).itemsize
    memory = (ctypes.c_char * last).from_address(address)
    return np.ndarray(shape, dtype, memory, strides=strides)


def shown(tensor_map):
    """[B, S, H, D] of a map: K and V have a rank of 4, Q and O one more for heads of a row."""
    dims, strides = list(tensor_map["dims"]), [ITEM, *tensor_map["strides"]]
    # A store writes whole 16 bytes.
    assert dims[0] * ITEM % 16 == 0
    assert tensor_map["base"] % 16 == 0 and all(s % 16 == 0 and 0 <= s < 1 << 40 for s in strides[1:])
    if len(dims) == 5:
        assert dims.pop(1) == 1, "kernels of this driver have a query head a tile"
        strides.pop(1)
    order = (3, 1, 2, 0)
    return array_at(tensor_map["base"], [dims[i] for i in order], [strides[i] for i in order], np.float16)


class Cupy:
    """What fa4 uses of CuPy, on the host. Install it as sys.modules["cupy"]."""

    class cuda:
        class Device:
            def __init__(self, index):
                self.id = index

            def __enter__(self):
                return self

            def __exit__(self, *_):
                return None

        @staticmethod
        def get_current_stream(index):
            return type("Stream", (), {"ptr": 0x70 + index})

    @staticmethod
    def asarray(array):
        return array

    @staticmethod
    def empty(shape, dtype):
        # Poisoned, so that what is not written shows, and at 16 bytes as a device's memory is.
        dtype = np.dtype(dtype)
        data = np.full(int(np.prod(shape)) * dtype.itemsize + 16, 0xFF, np.uint8)
        start = -data.ctypes.data % 16
        return HostArray(data[start : start + int(np.prod(shape)) * dtype.itemsize].view(dtype).reshape(shape))


class HostArray:
    """A NumPy array that says it lies on a device."""

    def __init__(self, values):
        self.values, self.dtype, self.shape = values, values.dtype, values.shape
        self.device = Cupy.cuda.Device(0)

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": self.shape, "strides": self.values.strides, "typestr": self.dtype.str,
                "data": (self.values.__array_interface__["data"][0], False)}  # fmt: skip

    def __getitem__(self, at):
        return HostArray(self.values[at])

    def __setitem__(self, at, other):
        self.values[at] = getattr(other, "values", other)


HostArray.__module__ = "cupy"
