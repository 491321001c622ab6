# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""f16 and bf16 as bits and as float64, and tensors in strided storage."""

from dataclasses import dataclass

import numpy as np

# Bits that fill what a kernel has to write. Conversions write 0x7FFF for a NaN,
# so this one alone cannot tell "not written" from "NaN": the second pattern can. The
# third is 1e4 in f16 and f32, for elements that a kernel adds to.
POISONS = {0x7FFF: 0x7FFFFFFF, 0xFFA5: 0xFFA5A5A5, 0x70E2: 0x461C4000}


def round_bf16(x):
    """The bf16 nearest to each float64, ties to even, as float64."""
    x = np.asarray(x, np.float64)
    bits = x.view(np.uint64)
    # 53 significand bits become 8.
    kept = (bits + np.uint64(0x0FFFFFFFFFFF) + ((bits >> np.uint64(45)) & np.uint64(1))) & ~np.uint64((1 << 45) - 1)
    rounded = kept.view(np.float64)
    with np.errstate(all="ignore"):
        # Subnormals of bf16 are multiples of 2^-133.
        tiny = np.round(x * 2.0**133) * 2.0**-133
        rounded = np.where(np.abs(x) < 2.0**-126, tiny, rounded)
        rounded = np.where(np.abs(rounded) >= 2.0**128, np.copysign(np.inf, x), rounded)
    return np.where(np.isnan(x), np.nan, rounded)


def round_to(x, dtype):
    """Each float64 rounded to the storage type, as float64."""
    if dtype == "bf16":
        return round_bf16(x)
    with np.errstate(over="ignore"):
        return np.asarray(x, np.float64).astype(np.float16).astype(np.float64)


def encode(x, dtype):
    """Bits (uint16) of float64 values in the storage type."""
    if dtype == "bf16":
        rounded = round_bf16(x).astype(np.float32)
        bits = (rounded.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return np.where(np.isnan(rounded), np.uint16(0x7FC0), bits)
    with np.errstate(over="ignore"):
        return np.asarray(x, np.float64).astype(np.float16).view(np.uint16)


def decode(bits, dtype):
    """float64 values of bits (uint16) in the storage type."""
    bits = np.asarray(bits, np.uint16)
    if dtype == "bf16":
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    return bits.view(np.float16).astype(np.float64)


@dataclass(frozen=True)
class Layout:
    """Where element (b, s, h, d) lies: offset + b*strides[0] + ... + d, in elements.

    `size` is the number of elements of the storage, what lies outside the view included.
    """

    strides: tuple
    offset: int = 0
    size: int = 0

    def storage_size(self, shape):
        last = self.offset + sum((n - 1) * s for n, s in zip(shape, self.strides))
        return 0 if 0 in shape else max(self.size, last + 1)

    def view(self, storage, shape):
        if 0 in shape:
            return np.zeros(shape, storage.dtype)
        return np.lib.stride_tricks.as_strided(
            storage[self.offset :], shape, [s * storage.itemsize for s in self.strides]
        )


def compact(shape):
    """[B, S, H, D] in C order."""
    b, s, h, d = shape
    return Layout((s * h * d, h * d, d, 1))


def bhsd(shape):
    """A view of storage [B, H, S, D]."""
    b, s, h, d = shape
    return Layout((h * s * d, d, s * d, 1))


def sbhd(shape):
    """A view of storage [S, B, H, D]."""
    b, s, h, d = shape
    return Layout((h * d, b * h * d, d, 1))


def subview(buffer, start, shape):
    """The part of a compact buffer that begins at `start`."""
    strides = compact(buffer).strides
    offset = sum(a * s for a, s in zip(start, strides))
    return Layout(strides, offset, int(np.prod(buffer)))


def expanded(shape, dims):
    """Compact, but for dimensions with stride 0."""
    kept = compact(tuple(1 if i in dims else n for i, n in enumerate(shape))).strides
    return Layout(tuple(0 if i in dims else s for i, s in enumerate(kept)))


def spaced(shape, row):
    """Rows `row` elements apart."""
    b, s, h, d = shape
    return Layout((s * h * row, h * row, row, 1))


def pitched(shape, pitch):
    """Tokens `pitch` elements apart."""
    b, s, h, d = shape
    return Layout((s * pitch, pitch, d, 1))
