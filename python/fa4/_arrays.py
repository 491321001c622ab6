# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tensors of any framework as addresses, shapes and strides; no framework is imported.

PyTorch's and CuPy's arrays are read by their own attributes, others by
`__cuda_array_interface__` or DLPack, in this order.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Tuple

from ._bind import Operand

LEGACY_STREAM = 0  # the device's default stream

NUMPY_TYPES = {"<f2": "f16", "<f4": "f32", "<f8": "f64", "|u1": "u8", "<u2": "u16", "<u4": "u32", "<i4": "i32",
               "<u8": "u64", "<i8": "i64"}  # fmt: skip


@dataclass(frozen=True)
class View:
    operand: Operand
    address: int
    device: int
    # The current stream of its framework, as a handle; None where no work is left to order.
    stream: Callable[[], Optional[int]]
    writable: bool = True


def module_of(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_jax(array: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(array, jax.Array)


def is_cupy(array: Any) -> bool:
    return module_of(array) == "cupy"


def view_of(array: Any, name: str) -> View:
    """Raises TypeError for what is no tensor on a CUDA device."""
    if is_torch(array):
        return _torch_view(array, name)
    if is_jax(array):
        if isinstance(array, sys.modules["jax"].core.Tracer):
            raise TypeError(
                f"operand '{name}': expected an array, but got a tracer: "
                "fa4.attention runs outside of jax.jit, jax.vmap and jax.grad"
            )
        return _dlpack_view(array, name)
    # A property that raises AttributeError (an array on the host) counts as none.
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        return _interface_view(array, interface, name)
    if hasattr(array, "__dlpack__"):
        return _dlpack_view(array, name)
    raise TypeError(
        f"operand '{name}': expected a tensor with __dlpack__ or __cuda_array_interface__, "
        f"but got {type(array).__name__}"
    )


def not_cuda(name: str, what: str) -> TypeError:
    return TypeError(f"operand '{name}': expected a tensor on a CUDA device, but got one on {what}")


def tell_autograd(array: Any) -> None:
    """That what PyTorch has saved of a tensor is not what it was."""
    if is_torch(array) and not array.is_inference():
        sys.modules["torch"].autograd.graph.increment_version(array)


def torch_types() -> Dict[Any, str]:
    torch = sys.modules["torch"]
    return {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64",
            torch.uint8: "u8", torch.int32: "i32", torch.int64: "i64"}  # fmt: skip


def torch_stream(index: int) -> int:
    """The current stream of PyTorch on a device."""
    torch = sys.modules["torch"]
    return torch.cuda.current_stream(index).cuda_stream


def _torch_view(array: Any, name: str) -> View:
    torch = sys.modules["torch"]
    if array.layout is not torch.strided:
        raise TypeError(f"operand '{name}': expected a dense tensor, but got one of layout {array.layout}")
    if array.device.type != "cuda":
        raise not_cuda(name, str(array.device))
    if array.is_conj() or array.is_neg():
        raise TypeError(f"operand '{name}': expected a tensor without a lazy conjugation or negation")
    kind = torch_types().get(array.dtype, str(array.dtype))
    index = array.device.index
    return View(Operand(kind, tuple(array.shape), tuple(array.stride())), array.data_ptr(), index,
                lambda: torch_stream(index))  # fmt: skip


def _contiguous(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _interface_view(array: Any, interface: Dict[str, Any], name: str) -> View:
    kind = NUMPY_TYPES.get(interface["typestr"], interface["typestr"])
    shape = tuple(int(n) for n in interface["shape"])
    strides = _contiguous(shape)
    given = interface.get("strides")
    if given is not None:
        bytes_ = int(interface["typestr"][2:])
        if any(s % bytes_ for s in given):
            raise ValueError(f"operand '{name}': expected strides of whole elements, but got {list(given)} bytes")
        strides = tuple(int(s) // bytes_ for s in given)
    device = getattr(array, "device", None)
    index = getattr(device, "id", device)  # CuPy's device has an id
    if not isinstance(index, int):
        index = _device_of(interface["data"][0])
    if interface.get("mask") is not None:
        raise TypeError(f"operand '{name}': expected an array without a mask")
    stream = interface.get("stream")
    address, readonly = interface["data"]
    operand = Operand(kind, shape, strides)
    if is_cupy(array):
        cupy = sys.modules["cupy"]
        return View(operand, address, index, lambda: cupy.cuda.get_current_stream(index).ptr)
    # 1 is the legacy default stream too.
    return View(operand, address, index, lambda: LEGACY_STREAM if stream == 1 else stream, not readonly)


def _device_of(address: int) -> int:
    """The device that memory is on, as the driver knows it."""
    from ._driver import check, get_driver

    if not address:
        return 0
    driver = get_driver()
    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(check(driver.cuPointerGetAttribute(attribute, address)))


class _DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DLTensor(ctypes.Structure):
    """The start of a capsule named "dltensor", by the DLPack specification."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DLPACK_DEVICES = {1: "the host", 2: "CUDA", 3: "pinned host memory", 10: "ROCm", 13: "managed memory"}
DLPACK_CODES = {0: "i", 1: "u", 2: "f", 4: "bf"}

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _dlpack_view(array: Any, name: str) -> View:
    where = array.__dlpack_device__()
    if int(where[0]) not in (2, 13):
        raise not_cuda(name, DLPACK_DEVICES.get(int(where[0]), f"DLPack device {where[0]}"))
    # The producer orders its work before the default stream, which the launch goes to.
    capsule = array.__dlpack__(stream=1)
    # The capsule keeps the memory; it is given back unconsumed, and the caller has the array.
    tensor = _DLTensor.from_address(_get_pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[i] for i in range(tensor.rank))
    strides = tuple(tensor.strides[i] for i in range(tensor.rank)) if tensor.strides else _contiguous(shape)
    kind = f"{DLPACK_CODES.get(tensor.code, f'code{tensor.code}_')}{tensor.bits}"
    if tensor.lanes != 1:
        kind += f"x{tensor.lanes}"
    address = (tensor.data or 0) + tensor.byte_offset
    return View(Operand(kind, shape, strides), address, int(where[1]), lambda: LEGACY_STREAM, not is_jax(array))
