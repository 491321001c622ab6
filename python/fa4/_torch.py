# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""fa4.attention on PyTorch: the short way of a call seen before, and the operators
fa4::attention, fa4::attention_lse and fa4::attention_out that torch.compile and
torch.export trace.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch import Tensor

from . import _attention as common
from ._arrays import view_of

_empty_like = torch.empty_like
_empty = torch.empty
_f32 = torch.float32
_is_grad_enabled = torch.is_grad_enabled
_is_compiling = torch.compiler.is_compiling


class _Call:
    """What is kept of calls with the same types, shapes and strides."""

    __slots__ = ("launches", "prepare", "index", "device", "lse_shape", "on_device")

    def __init__(self, plan: Any, device: torch.device, lse_shape: Optional[Tuple[int, ...]]) -> None:
        self.launches = plan.launches
        self.prepare = plan.launch_at
        self.index = device.index
        self.device = device
        self.lse_shape = lse_shape
        self.on_device = plan.device.current


_calls: Dict[Any, _Call] = {}


def forget() -> None:
    _calls.clear()


def _stream_getter() -> Callable[[int], int]:
    # The same handle as torch.cuda.current_stream, without an object for it.
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw or (lambda index: torch.cuda.current_stream(index).cuda_stream)


def _device_getter() -> Callable[[], int]:
    return getattr(torch._C, "_cuda_getDevice", None) or torch.cuda.current_device


_current_stream = _stream_getter()
_current_device = _device_getter()


def attention(q: Any, k: Any, v: Any, causal: bool, scale: Optional[float], return_lse: bool, out: Any) -> Any:
    """NotImplemented for what is not a tensor of PyTorch."""
    if _is_compiling():
        return _by_operator(q, k, v, causal, scale, return_lse, out)
    if type(q) is not Tensor or type(k) is not Tensor or type(v) is not Tensor:
        return _of_subclasses(q, k, v, causal, scale, return_lse, out)
    if (q.requires_grad or k.requires_grad or v.requires_grad) and _is_grad_enabled():
        raise NotImplementedError("fa4.attention has no backward pass: call it under torch.no_grad()")
    key: Any
    addresses: Any
    result: Any
    if out is None:
        key = (q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(), q.dtype, k.dtype, v.dtype,
               q.device, k.device, v.device, causal, scale, return_lse)  # fmt: skip
        call = _calls.get(key)
        if call is None:
            if q.is_meta:
                return _by_operator(q, k, v, causal, scale, return_lse, out)
            call = _new_call(key, q, k, v, None, None)
        o = _empty_like(q)
        if return_lse:
            lse = _empty(call.lse_shape, dtype=_f32, device=call.device)
            addresses = (q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr(), lse.data_ptr())
            result = (o, lse)
        else:
            addresses = (q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr())
            result = o
    else:
        o, lse = common.split_out(out, return_lse)
        for name, tensor in (("o", o),) + ((("lse", lse),) if return_lse else ()):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"operand '{name}': expected a torch.Tensor, but got {type(tensor).__name__}")
        key = (q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(), q.dtype, k.dtype, v.dtype,
               q.device, k.device, v.device, causal, scale, return_lse,
               o.shape, o.stride(), o.dtype, o.device)  # fmt: skip
        addresses = (q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr())
        if return_lse:
            key += (lse.shape, lse.stride(), lse.dtype, lse.device)
            addresses += (lse.data_ptr(),)
        call = _calls.get(key) or _new_call(key, q, k, v, o, lse)
        if addresses[3] in addresses[:3] and o.numel():
            common.check_overlap(dict(zip("qkvo", addresses)), view_of(o, "o").operand)
        result = out
    try:
        launch = call.launches[addresses]
    except KeyError:
        launch = call.prepare(addresses)
    if launch is not None:
        index = call.index
        if _current_device() == index:
            launch(_current_stream(index))
        else:
            with call.on_device():
                launch(_current_stream(index))
    return result


def _new_call(key: Any, q: Tensor, k: Tensor, v: Tensor, o: Optional[Tensor], lse: Optional[Tensor]) -> _Call:
    """Checks the operands and chooses the kernel."""
    causal, scale, return_lse = key[12:15]
    tensors = {"q": q, "k": k, "v": v}
    views = {name: view_of(tensor, name) for name, tensor in tensors.items()}
    common.check_inputs(
        {name: view.operand for name, view in views.items()}, {name: view.device for name, view in views.items()}
    )
    lse_shape = (q.shape[0], q.shape[2], q.shape[1]) if return_lse else None
    if o is None:
        # Without memory, for the strides that a new output will have.
        o = torch.empty_like(q, device="meta")
        lse = torch.empty(lse_shape, dtype=_f32, device="meta") if lse_shape else None
        outputs = {"o": _operand_like(o, q.device), **({"lse": _operand_like(lse, q.device)} if return_lse else {})}
        devices = dict.fromkeys(outputs, q.device.index)
    else:
        written = {"o": o, **({"lse": lse} if return_lse else {})}
        seen = {name: view_of(tensor, name) for name, tensor in written.items()}
        outputs = {name: view.operand for name, view in seen.items()}
        devices = {name: view.device for name, view in seen.items()}
    operands = {**{name: view.operand for name, view in views.items()}, **outputs}
    common.check_outputs(operands, {"q": views["q"].device, **devices})
    plan = common.plan_for(operands, q.device.index, bool(causal), scale)
    if len(_calls) >= 4096:
        _calls.clear()
    call = _calls[key] = _Call(plan, q.device, lse_shape)
    return call


def _operand_like(tensor: Any, device: torch.device) -> Any:
    from ._arrays import torch_types
    from ._bind import Operand

    return Operand(torch_types()[tensor.dtype], tuple(tensor.shape), tuple(tensor.stride()))


def _of_subclasses(q: Any, k: Any, v: Any, causal: bool, scale: Any, return_lse: bool, out: Any) -> Any:
    """Parameters are tensors; other subclasses (fake ones of a trace) go by the operators."""
    if not isinstance(q, Tensor):
        return NotImplemented
    for name, tensor in (("k", k), ("v", v)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"operand '{name}': expected a torch.Tensor as 'q', but got {type(tensor).__name__}")
    plain = [tensor.detach() if type(tensor) is torch.nn.Parameter else tensor for tensor in (q, k, v)]
    if all(type(tensor) is Tensor for tensor in plain):
        if _is_grad_enabled() and any(tensor.requires_grad for tensor in (q, k, v)):
            raise NotImplementedError("fa4.attention has no backward pass: call it under torch.no_grad()")
        return attention(plain[0], plain[1], plain[2], causal, scale, return_lse, out)
    return _by_operator(q, k, v, causal, scale, return_lse, out)


def _by_operator(q: Any, k: Any, v: Any, causal: bool, scale: Any, return_lse: bool, out: Any) -> Any:
    if out is not None:
        o, lse = common.split_out(out, return_lse)
        torch.ops.fa4.attention_out(q, k, v, o, lse, causal, scale)
        return out
    if return_lse:
        return torch.ops.fa4.attention_lse(q, k, v, causal, scale)
    return torch.ops.fa4.attention(q, k, v, causal, scale)


@torch.library.custom_op("fa4::attention", mutates_args=(), device_types="cuda")
def _attention_op(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None) -> Tensor:
    with torch.no_grad():
        return attention(q, k, v, causal, scale, False, None)


@torch.library.custom_op("fa4::attention_lse", mutates_args=(), device_types="cuda")
def _attention_lse_op(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None
) -> Tuple[Tensor, Tensor]:
    with torch.no_grad():
        return attention(q, k, v, causal, scale, True, None)


@torch.library.custom_op("fa4::attention_out", mutates_args=("out", "lse"), device_types="cuda")
def _attention_out_op(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Optional[Tensor], causal: bool = False,
    scale: Optional[float] = None,
) -> None:  # fmt: skip
    with torch.no_grad():
        attention(q, k, v, causal, scale, lse is not None, out if lse is None else (out, lse))


@_attention_op.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None) -> Tensor:
    _check_fake(q, k, v)
    return torch.empty_like(q)


@_attention_lse_op.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None) -> Tuple[Tensor, Tensor]:
    _check_fake(q, k, v)
    return torch.empty_like(q), q.new_empty((q.shape[0], q.shape[2], q.shape[1]), dtype=_f32)


@_attention_out_op.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Optional[Tensor], causal: bool = False,
      scale: Optional[float] = None) -> None:  # fmt: skip
    _check_fake(q, k, v)


def _check_fake(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Ranks and types: extents and strides may be symbols of the trace."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ValueError(f"operand '{name}': expected rank 4 [B, S, H, D], but got {tensor.dim()}")
        if tensor.dtype not in (torch.float16, torch.bfloat16) or tensor.dtype != q.dtype:
            raise TypeError(f"operand '{name}': expected f16 or bf16, the type of 'q', but got {tensor.dtype}")


OPERATORS: List[Any] = [_attention_op, _attention_lse_op, _attention_out_op]
