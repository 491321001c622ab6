# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The arguments of cuTensorMapEncodeTiled as data, and its rules as checks without a driver.

The rules are those of include/fa4/Encoding/TensorMap.h, in the same order and words: the
driver itself says no more than "invalid value".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

# Name in a descriptor -> bytes, member of CUtensorMapDataType.
TYPES = {
    "u8": (1, "UINT8"),
    "u16": (2, "UINT16"),
    "u32": (4, "UINT32"),
    "i32": (4, "INT32"),
    "u64": (8, "UINT64"),
    "i64": (8, "INT64"),
    "f16": (2, "FLOAT16"),
    "f32": (4, "FLOAT32"),
    "f64": (8, "FLOAT64"),
    "bf16": (2, "BFLOAT16"),
    "f32_ftz": (4, "FLOAT32_FTZ"),
    "tf32": (4, "TFLOAT32"),
}
FLOATS = {"f16", "f32", "f64", "bf16", "f32_ftz", "tf32"}
SWIZZLES = {"none": "NONE", "32B": "32B", "64B": "64B", "128B": "128B"}
INTERLEAVES = {"none": "NONE", "16B": "16B", "32B": "32B"}
PROMOTIONS = {"none": "NONE", "64B": "L2_64B", "128B": "L2_128B", "256B": "L2_256B"}
FILLS = {"zero": "NONE", "nan": "NAN_REQUEST_ZERO_FMA"}


@dataclass(frozen=True)
class TensorMap:
    """Dimension 0 is the contiguous one; strides are bytes and begin with dimension 1."""

    base: int
    type: str
    dims: Tuple[int, ...]
    strides: Tuple[int, ...]
    box: Tuple[int, ...]
    swizzle: str
    interleave: str
    l2_promotion: str
    oob_fill: str

    def violations(self) -> List[str]:
        """Every broken rule, in a fixed order."""
        found: List[str] = []
        bytes_, alignment = TYPES[self.type][0], 32 if self.interleave == "32B" else 16
        rank, lowest = len(self.dims), 1 if self.interleave == "none" else 3
        if not lowest <= rank <= 5:
            found.append(f"rank: expected {lowest} to 5{' with an interleave' if lowest == 3 else ''}, but got {rank}")
        if self.base % alignment:
            found.append(f"base: expected an address that is a multiple of {alignment} bytes, but got {self.base:#x}")
        elif self.base == 0:
            found.append("base: expected an address, but got 0")
        for i, extent in enumerate(self.dims):
            if not 1 <= extent <= 1 << 32:
                found.append(f"dims[{i}]: expected 1 to 4294967296 (2^32) elements, but got {extent}")
        for i, stride in enumerate(self.strides, 1):
            if not 0 <= stride < 1 << 40:
                found.append(
                    f"stride of dimension {i}: expected 0 to 1099511627775 (below 2^40) bytes, but got {stride}"
                )
            if stride % alignment:
                found.append(f"stride of dimension {i}: expected a multiple of {alignment} bytes, but got {stride}")
        for i, extent in enumerate(self.box):
            if not 1 <= extent <= 256:
                found.append(f"box[{i}]: expected 1 to 256 elements, but got {extent}")
        if self.box and 1 <= self.box[0] <= 256:
            inner = self.box[0] * bytes_
            if self.interleave == "none" and inner % 16:
                found.append(f"box[0]: expected a multiple of 16 bytes, but got {inner} ({self.box[0]} x {self.type})")
            if self.swizzle != "none" and inner > int(self.swizzle[:-1]):
                found.append(
                    f"box[0]: expected at most {self.swizzle[:-1]} bytes (the span of swizzle {self.swizzle}), "
                    f"but got {inner} ({self.box[0]} x {self.type})"
                )
        if self.interleave == "32B" and self.swizzle != "32B":
            found.append(f"swizzle: expected 32B with interleave 32B, but got {self.swizzle}")
        if self.oob_fill == "nan" and self.type not in FLOATS:
            found.append(f"oobFill: expected zero for a type that is not floating point, but got nan ({self.type})")
        return found
