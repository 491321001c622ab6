# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What fa4 uses of PyTorch that is not public, and what stands in for it where it is missing."""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad


def _find(path: str, otherwise: Any) -> Any:
    found = torch._C
    for name in path.split("."):
        found = getattr(found, name, None)
    return otherwise if found is None else found


# The same handle as torch.cuda.current_stream, without an object for it.
current_stream = _find("_cuda_getCurrentRawStream", lambda index: torch.cuda.current_stream(index).cuda_stream)
current_device = _find("_cuda_getDevice", torch.cuda.current_device)

# Who follows the operators: a mode of the dispatcher, a trace, vmap.
dispatch_modes = _find("_len_torch_dispatch_stack", lambda: 0)
is_tracing = _find("_is_tracing", lambda: False)
functorch_level = _find("_functorch.peek_interpreter_stack", lambda: None)


def empty_strided(shape: Sequence[int], strides: Sequence[int], dtype: Any, device: Any = "cuda") -> Tensor:
    return torch.empty_strided(shape, strides, dtype=dtype, device=device)


# On the current device, past the dispatcher: half the time.
empty_here = _find("_dynamo.guards._empty_strided_cuda", empty_strided)


def never(*tensors: Any) -> bool:
    return False


_Guards = _find("_dynamo.guards.TensorGuards", None)


def guard(tensors: Sequence[Tensor]) -> Callable[..., bool]:
    """Whether others have the class, type, shape, strides, device and dispatch keys of these
    tensors, in one call: a key of all that takes twenty objects. May always say no.

    It must not be given tensors without strides, which end the process.
    """
    if _Guards is None or not _guards_work():
        return never
    if len({id(tensor) for tensor in tensors}) == len(tensors):
        return _guard_of(tensors)
    # One guard of several tensors says no where two of them are one object.
    each = [_guard_of([tensor]) for tensor in tensors]
    return lambda *others: all([same(other) for same, other in zip(each, others)])


def _guard_of(tensors: Sequence[Tensor]) -> Callable[..., bool]:
    shapes, strides = ([list(of(tensor)) for tensor in tensors] for of in (Tensor.size, Tensor.stride))
    return _Guards(*tensors, dynamic_dims_sizes=shapes, dynamic_dims_strides=strides).check  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=None)
def _guards_work() -> bool:
    """Of other arguments, or with another meaning, they are not used."""
    this, like, other = (torch.zeros(shape, device="cpu") for shape in ((2, 3), (2, 3), (3, 2)))
    try:
        same = _guard_of([this, this.clone()])
        return [same(this, x) for x in (like, other, other.t(), like.double())] == [True, False, False, False]
    except Exception:
        return False


def have_tangents(tensors: Sequence[Tensor]) -> bool:
    """Whether a derivative in forward mode is asked for: of dual tensors, or under torch.func.jvp."""
    if forward_ad._current_level >= 0:
        return any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors)
    return False
