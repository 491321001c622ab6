# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Element types, and arrays in the memory of the simulated device.

Arrays that share memory on the host share it on the device. What lies between the elements
of a view is 0xff there, a NaN, and has to stay so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

import numpy as np

from ptxsim import _native

# Element types of descriptors and the dtypes that hold them. bf16 may also be ml_dtypes'.
TYPES = {
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "i32": "int32",
    "u64": "uint64",
    "i64": "int64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "uint16",
    "f32_ftz": "float32",
    "tf32": "float32",
}

FIRST_ADDRESS = 1 << 32
ALIGNMENT = 256  # of a buffer on the device
GAP = 1 << 16  # bytes that nothing is mapped at, on either side of a buffer


def type_of(array: np.ndarray) -> str:
    """The element type that stands for a dtype where no descriptor names one."""
    if array.dtype.name == "bfloat16":
        return "bf16"
    for name, dtype in TYPES.items():
        if array.dtype == dtype and name != "bf16":
            return name
    return {1: "u8", 2: "u16", 4: "u32", 8: "u64"}.get(array.dtype.itemsize, "u8")


def check_type(name: str, array: np.ndarray, type: str) -> None:
    """Raises TypeError unless the array's dtype holds the element type."""
    if type not in TYPES:
        raise ValueError(f"tensor '{name}': unknown element type '{type}'")
    if array.dtype == np.dtype(TYPES[type]) or (type == "bf16" and array.dtype.name == "bfloat16"):
        return
    expected = "bfloat16 or uint16" if type == "bf16" else TYPES[type]
    raise TypeError(f"tensor '{name}' has dtype {array.dtype}, expected {expected}, which holds {type}")


def empty(name: str, shape: object, dtype: object) -> np.ndarray:
    """A new array, each element of which is NaN (all bits set)."""
    if isinstance(dtype, str) and dtype in TYPES:
        type, dtype = dtype, TYPES[dtype]
        if type == "bf16":
            try:
                from ml_dtypes import bfloat16 as dtype
            except ImportError:
                pass
    try:
        array = np.empty(shape, dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError) as error:
        raise type_error(name, f"an array, or a shape and a dtype: {error}") from None
    check_array(name, array)
    array.reshape(-1).view(np.uint8).fill(0xFF)
    return array


def type_error(name: str, expected: str) -> TypeError:
    return TypeError(f"tensor '{name}': expected {expected}")


def check_array(name: str, array: object) -> None:
    """Raises unless the device can hold the array."""
    if not isinstance(array, np.ndarray):
        raise type_error(name, f"a NumPy array, but got {type(array).__name__}")
    if array.dtype.hasobject or array.dtype.itemsize == 0:
        raise type_error(name, f"numbers, but got dtype {array.dtype}")
    if not array.dtype.isnative:
        raise type_error(name, f"native byte order, but got dtype {array.dtype.str}")
    for dim, (extent, stride) in enumerate(zip(array.shape, array.strides)):
        if extent > 1 and stride < 0:
            raise ValueError(f"tensor '{name}', dimension {dim}: a negative stride; pass a copy")
        if extent > 1 and stride % array.dtype.itemsize:
            raise ValueError(f"tensor '{name}', dimension {dim}: a stride of {stride} bytes, expected whole elements")


def element_strides(array: np.ndarray) -> List[int]:
    return [max(stride // array.dtype.itemsize, 0) for stride in array.strides]


def start_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def span_of(array: np.ndarray) -> int:
    """Bytes from the first element to the end of the last."""
    if array.size == 0:
        return 0
    return sum((n - 1) * s for n, s in zip(array.shape, array.strides) if n > 1) + array.dtype.itemsize


@dataclass
class Operand:
    name: str
    array: np.ndarray
    start: int = 0  # on the host
    address: int = 0  # on the device

    def over(self, storage: np.ndarray, start: int) -> np.ndarray:
        """The same view of other storage, which begins where `start` does on the host."""
        return np.ndarray(self.array.shape, self.array.dtype, storage.data, self.start - start, self.array.strides)

    def bytes_over(self, storage: np.ndarray, start: int) -> np.ndarray:
        shape, strides = self.array.shape + (self.array.dtype.itemsize,), self.array.strides + (1,)
        return np.ndarray(shape, storage.dtype, storage.data, self.start - start, strides)


@dataclass
class Buffer:
    """A piece of device memory, and the arrays that lie in it."""

    start: int  # on the host
    end: int
    operands: List[Operand]
    address: int = 0
    before: Optional[np.ndarray] = None  # what the run began with

    @property
    def name(self) -> str:
        return ", ".join(operand.name for operand in self.operands)


class Arrays:
    """The arrays of one run."""

    def __init__(self) -> None:
        self.operands: Dict[str, Operand] = {}
        self.buffers: List[Buffer] = []

    def add(self, name: str, array: np.ndarray) -> Operand:
        check_array(name, array)
        operand = Operand(name, array, start_of(array))
        self.operands[name] = operand
        return operand

    def place(self, memory: "_native.Memory") -> None:
        """Maps the arrays; each operand knows its address then."""
        next_address = FIRST_ADDRESS
        for operand in sorted(self.operands.values(), key=lambda o: o.start):
            size, buffer = span_of(operand.array), self.buffers[-1] if self.buffers else None
            if size == 0:
                continue
            if buffer and operand.start < buffer.end:
                buffer.end = max(buffer.end, operand.start + size)
                buffer.operands.append(operand)
            else:
                self.buffers.append(Buffer(operand.start, operand.start + size, [operand]))
        for buffer in self.buffers:
            # A view is as much aligned as in the array that it is a view of, were that aligned.
            offset = (buffer.start - owner_start(buffer.operands[0].array)) % ALIGNMENT
            buffer.address = next_address + offset
            next_address = -(-(buffer.address + buffer.end - buffer.start + GAP) // ALIGNMENT) * ALIGNMENT
            storage = np.full(buffer.end - buffer.start, 0xFF, np.uint8)
            for operand in buffer.operands:
                operand.address = buffer.address + operand.start - buffer.start
                operand.over(storage, buffer.start)[...] = operand.array
            writable = any(operand.array.flags.writeable for operand in buffer.operands)
            memory.map(buffer.name, buffer.address, storage, writable)
            buffer.before = storage if writable else None
        for operand in self.operands.values():
            if operand.array.size == 0:  # an address, and nothing there
                operand.address = next_address
                next_address += GAP

    def read(self, memory: "_native.Memory") -> List[Tuple[Buffer, np.ndarray]]:
        """What the run made of the buffers that it changed."""
        changed = []
        for buffer in self.buffers:
            if buffer.before is None:
                continue
            after = np.empty_like(buffer.before)
            memory.read(buffer.address, after)
            if not np.array_equal(after, buffer.before):
                changed.append((buffer, after))
        return changed

    @staticmethod
    def stray(changed: List[Tuple[Buffer, np.ndarray]]) -> str:
        """A sentence on a write to bytes of no writable array, or nothing."""
        for buffer, after in changed:
            wrong = after != buffer.before
            for operand in buffer.operands:
                if operand.array.flags.writeable:
                    operand.bytes_over(wrong, buffer.start)[...] = False
            if wrong.any():
                first = int(wrong.argmax())
                return (
                    f"the kernel wrote {int(wrong.sum())} bytes of '{buffer.name}' that are no element of a "
                    f"writable array, the first {first} bytes into it"
                )
        return ""

    @staticmethod
    def write_back(changed: List[Tuple[Buffer, np.ndarray]]) -> None:
        for buffer, after in changed:
            for operand in buffer.operands:
                if operand.array.flags.writeable:
                    operand.array[...] = operand.over(after, buffer.start)


def owner_start(array: np.ndarray) -> int:
    """Where the array begins that this one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return start_of(array)
