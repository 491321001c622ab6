# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernel parameters from Python values, where no launch descriptor says what they are."""

from __future__ import annotations

import struct
from typing import Callable, List, Mapping, Sequence, Union

import numpy as np

from ptxsim import _arrays, _native

BITS = {"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64}
PACKED = {"f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32"}

MAP_FIELDS = {
    "base",
    "type",
    "dims",
    "strides",
    "box",
    "element_strides",
    "swizzle",
    "oob_fill",
    "interleave",
    "l2_promotion",
}


def bf16_bits(value: float) -> int:
    """The nearest bf16, ties to even."""
    bits = int(np.float32(value).view(np.uint32))
    if value != value:
        return 0x7FFF
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def number(type: str, value: Union[int, float, np.generic]) -> bytes:
    """The bytes of a number in a PTX type; raises ValueError or TypeError with the reason."""
    if isinstance(value, np.void):
        return value.tobytes()
    if isinstance(value, np.generic):
        # A NumPy scalar says which bits it means where the type does not.
        if type in ("b8", "b16", "b32", "b64") and value.dtype.kind not in "biu":
            if value.dtype.itemsize * 8 != int(type[1:]):
                raise ValueError(f"expected {type[1:]} bits, but got a {value.dtype}")
            return value.tobytes()
        if value.dtype.kind in "biuf":
            value = value.item()
        elif value.dtype.name == "bfloat16":
            value = float(value)  # type: ignore[arg-type]
    if isinstance(value, (bool, int)) and type not in BITS:
        if type in PACKED or type == "pred":
            raise TypeError(f"expected two numbers of a .{type}" if type in PACKED else "a parameter cannot be .pred")
        bits = int(type[1:])
        low, high = {"u": (0, bits), "s": (-(1 << bits - 1), bits - 1), "b": (-(1 << bits - 1), bits)}[type[0]]
        if not low <= value < 1 << high:
            raise ValueError(f"{value} does not fit into .{type}")
        return (int(value) % (1 << bits)).to_bytes(bits // 8, "little")
    if isinstance(value, (int, float)):
        if type in ("f32", "tf32", "b32"):
            with np.errstate(over="ignore"):
                return np.float32(value).tobytes()
        if type in ("f64", "b64"):
            return struct.pack("<d", value)
        if type == "f16":
            with np.errstate(over="ignore"):
                return np.float16(value).tobytes()
        if type == "bf16":
            return bf16_bits(value).to_bytes(2, "little")
        raise TypeError(f"expected a value of .{type}, but got the float {value}")
    raise TypeError(f"expected a value of .{type}, but got {value.__class__.__name__}")


def pack(info: "_native.ParameterInfo", value: object, address: Callable[[np.ndarray], int]) -> bytes:
    """The bytes of a parameter that is no tensor map."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
    elif isinstance(value, np.ndarray):
        data = address(value).to_bytes(8, "little")
    elif isinstance(value, (list, tuple)):
        # An array, or the members of a struct, padding included.
        type = PACKED.get(info.type, info.type)
        data = b""
        for item in value:
            if isinstance(item, (bytes, bytearray)):
                data += bytes(item)
            elif isinstance(item, np.ndarray):
                data += address(item).to_bytes(8, "little")
            elif isinstance(item, np.generic) and info.is_array:
                data += item.tobytes()
            else:
                data += number(type, item)  # type: ignore[arg-type]
    elif info.is_array:
        raise TypeError(f"expected bytes or a list, but got {value.__class__.__name__}")
    else:
        data = number(info.type, value)  # type: ignore[arg-type]
    if len(data) != info.size:
        raise ValueError(f"expected {info.size} bytes, but got {len(data)}")
    return data


def arrays_in(value: object) -> List[np.ndarray]:
    """The arrays that a parameter's value points to."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, Mapping):
        return [value["base"]] if isinstance(value.get("base"), np.ndarray) else []
    if isinstance(value, (list, tuple)):
        return [item for item in value if isinstance(item, np.ndarray)]
    return []


def add_tensor_map(launch: "_native.Launch", fields: Mapping, address: Callable[[np.ndarray], int]) -> None:
    """`fields` are those of a tensor map in a launch descriptor; the base is an array."""
    unknown = sorted(set(fields) - MAP_FIELDS)
    if unknown:
        raise ValueError(f"unknown field '{unknown[0]}' of a tensor map")
    base = fields.get("base")
    if not isinstance(base, np.ndarray):
        raise TypeError(f"expected an array as 'base', but got {base.__class__.__name__}")
    if "box" not in fields:
        raise ValueError("a tensor map needs a 'box'")
    if fields.get("interleave", "none") != "none":
        raise ValueError("interleaved tensor maps are not supported")
    fill = fields.get("oob_fill", "zero")
    if fill not in ("zero", "nan"):
        raise ValueError(f"unknown 'oob_fill' '{fill}'")
    if base.ndim and base.shape[-1] > 1 and base.strides[-1] != base.dtype.itemsize and "dims" not in fields:
        raise ValueError("the last dimension of 'base' is not contiguous, as TMA demands")
    box = [int(x) for x in fields["box"]]
    launch.add_tensor_map(
        address(base),
        fields.get("type", _arrays.type_of(base)),
        [int(x) for x in fields.get("dims", base.shape[::-1])],
        [int(x) for x in fields.get("strides", base.strides[-2::-1])],
        box,
        [int(x) for x in fields.get("element_strides", ())],
        fields.get("swizzle", "none"),
        fill == "nan",
    )


def in_order(infos: Sequence["_native.ParameterInfo"], params: object) -> List[object]:
    """The values in the order of the declarations, from a sequence or by name."""
    if isinstance(params, Mapping):
        names = [info.name for info in infos]
        for name in params:
            if name not in names:
                raise ValueError(f"the kernel has no parameter '{name}'; it has: {', '.join(names)}")
        for name in names:
            if name not in params:
                raise ValueError(f"parameter '{name}' is not given")
        return [params[name] for name in names]
    if isinstance(params, (str, bytes, np.ndarray)) or not isinstance(params, Sequence):
        raise TypeError("expected a list or a dict of parameters")
    if len(params) != len(infos):
        raise ValueError(f"the kernel has {len(infos)} parameters, but {len(params)} are given")
    return list(params)
