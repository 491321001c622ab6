# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Which operands a kernel can take where they lie, and which lie over one another.

A kernel reads and writes through tensor maps. What these cannot show, fa4.attention copies.
"""

from __future__ import annotations

from typing import Mapping, Sequence, Tuple

from ._bind import Operand
from ._tensor_map import TYPES

ALIGNMENT = 16  # bytes, of addresses and of all strides but the innermost
HIGHEST = 1 << 40  # bytes, above every stride
OUTPUTS = ("o", "lse")


def item_bytes(operand: Operand) -> int:
    return TYPES[operand.type][0]


def padded(columns: int) -> int:
    """The columns of 2 bytes that fill whole 16 bytes: TMA stores no less."""
    step = ALIGNMENT // 2
    return -(-columns // step) * step


def can_show(name: str, operand: Operand) -> bool:
    """Whether rows and strides are those of a tensor map; of LSE, whether it is contiguous."""
    if 0 in operand.shape:
        return True
    if name == "lse":
        expected = 1
        for extent, stride in zip(reversed(operand.shape), reversed(operand.strides)):
            if extent > 1 and stride != expected:
                return False
            expected *= extent
        return True
    bytes_ = item_bytes(operand)
    if operand.strides[-1] != 1 or padded(operand.shape[-1]) != operand.shape[-1]:
        return False
    return all(
        extent <= 1 or stride * bytes_ % ALIGNMENT == 0 and 0 <= stride * bytes_ < HIGHEST
        for extent, stride in zip(operand.shape[:-1], operand.strides[:-1])
    )


def is_aligned(name: str, operand: Operand, address: int) -> bool:
    return address % (4 if name == "lse" else ALIGNMENT) == 0 or 0 in operand.shape


def _steps(operand: Operand) -> Sequence[Tuple[int, int]]:
    """Extent and stride in bytes of the dimensions in which there is more than one element."""
    bytes_ = item_bytes(operand)
    return [(n, s * bytes_) for n, s in zip(operand.shape, operand.strides) if n > 1]


def is_distinct(operand: Operand) -> bool:
    """Whether no two elements are sure to share memory: each stride passes what smaller ones reach."""
    if 0 in operand.shape:
        return True
    reach = item_bytes(operand)
    for extent, stride in sorted(((n, abs(s)) for n, s in _steps(operand)), key=lambda step: step[1]):
        if stride < reach:
            return False
        reach += (extent - 1) * stride
    return True


def _range(operand: Operand, address: int) -> Tuple[int, int]:
    """The first byte, and the one behind the last."""
    steps = _steps(operand)
    low = sum((n - 1) * s for n, s in steps if s < 0)
    high = sum((n - 1) * s for n, s in steps if s > 0)
    return address + low, address + high + item_bytes(operand)


def may_overlap(a: Operand, a_address: int, b: Operand, b_address: int) -> bool:
    """False only where no byte is of both: ranges apart, or rows that take turns, as heads of
    one buffer do. Other views that interleave count as overlapping."""
    if 0 in a.shape or 0 in b.shape:
        return False
    (a_low, a_high), (b_low, b_high) = _range(a, a_address), _range(b, b_address)
    if a_high <= b_low or b_high <= a_low:
        return False
    for _, period in _steps(a):
        if period <= 0:
            continue
        # Bytes within a period that each of them touches.
        parts = []
        for operand in (a, b):
            inner = [(n, s) for n, s in _steps(operand) if s % period]
            if any(s < 0 for _, s in inner):
                break
            parts.append(sum((n - 1) * s for n, s in inner) + item_bytes(operand))
        else:
            between = (b_address - a_address) % period
            if between >= parts[0] and between + parts[1] <= period:
                return False
    return True


def columns_of(operands: Mapping[str, Operand]) -> int:
    """The columns of the tensors that the kernel of a call is given: those of q and k, or of v, if
    these are more, filled up."""
    return padded(max(operands["q"].shape[3], operands["v"].shape[3]))


def has_layout(name: str, operands: Mapping[str, Operand]) -> bool:
    """Whether a kernel can take an operand as it is, wherever it lies."""
    operand = operands[name]
    return can_show(name, operand) and (name == "lse" or operand.shape[3] == columns_of(operands))


def fits(name: str, operands: Mapping[str, Operand], addresses: Mapping[str, int]) -> bool:
    """Whether a kernel can take an operand where it lies."""
    if not has_layout(name, operands) or not is_aligned(name, operands[name], addresses[name]):
        return False
    return name not in OUTPUTS or not _overlaps_input(name, operands, addresses)


def _overlaps_input(name: str, operands: Mapping[str, Operand], addresses: Mapping[str, int]) -> bool:
    """Whether writing an output may change an input that is still to be read."""
    return any(
        may_overlap(operands[name], addresses[name], operands[other], addresses[other]) for other in ("q", "k", "v")
    )


def check_memory(operands: Mapping[str, Operand], addresses: Mapping[str, int]) -> None:
    """Raises for elements that lie nowhere, as those of a wrapper or of a storage that was given back."""
    for name, operand in operands.items():
        if not addresses[name] and 0 not in operand.shape:
            raise ValueError(f"operand '{name}': expected memory, but its address is 0")


def check_outputs_apart(operands: Mapping[str, Operand], addresses: Mapping[str, int]) -> None:
    """Raises where one output may be over another: neither would be right."""
    if "lse" in operands and may_overlap(operands["o"], addresses["o"], operands["lse"], addresses["lse"]):
        raise ValueError("operand 'lse': expected memory of its own, but it may overlap 'o'")
