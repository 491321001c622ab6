# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""fa4.attention on PyTorch: the short way of a call seen before, and the operators
fa4::attention, fa4::attention_lse and fa4::attention_out that torch.compile and
torch.export trace.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

import torch
from torch import Tensor

from . import _attention as common
from ._arrays import torch_types, view_of
from ._bind import Operand
from ._kernel import as_scale
from ._layout import ALIGNMENT, OUTPUTS, check_outputs_apart, columns_of, fits, has_layout

_empty_like = torch.empty_like
_empty = torch.empty
_f32 = torch.float32
_is_grad_enabled = torch.is_grad_enabled
_is_compiling = torch.compiler.is_compiling
_increment_version = torch.autograd.graph.increment_version


class _Call:
    """What is kept of calls with the same types, shapes and strides."""

    __slots__ = ("launches", "prepare", "index", "device", "lse_shape", "on_device", "operands")

    def __init__(
        self, plan: Any, device: torch.device, lse_shape: Optional[Tuple[int, ...]], operands: Mapping[str, Operand]
    ) -> None:
        self.launches = plan.launches
        self.prepare = plan.launch_at
        self.device = device
        self.lse_shape = lse_shape
        self.index = plan.device.index if plan.device else None
        self.on_device = plan.device.current if plan.device else None
        self.operands = operands


class _NoLaunch(Dict[Any, Any]):
    def get(self, key: Any, default: Any = None) -> Any:
        return None


class _Nothing:
    """The plan of a call that has nothing to write."""

    launches = _NoLaunch()
    launch_at = device = None


_calls: Dict[Any, Optional[_Call]] = {}  # None where operands of these strides are copied
_UNKNOWN: Any = object()
NO_BACKWARD = "fa4.attention has no backward pass: call it under torch.no_grad()"


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
_dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 0)
_is_tracing = getattr(torch._C, "_is_tracing", lambda: False)
_functorch_level = getattr(getattr(torch._C, "_functorch", None), "peek_interpreter_stack", lambda: None)


def attention(q: Any, k: Any, v: Any, causal: Any, scale: Any, return_lse: Any, out: Any) -> Any:
    """NotImplemented for what is not a tensor of PyTorch."""
    if causal is not False and causal is not True:
        causal = bool(causal)
    if scale is not None and type(scale) is not float:
        scale = as_scale(scale)
    if _is_compiling():
        return _by_operator(q, k, v, causal, scale, return_lse, out)
    if type(q) is not Tensor or type(k) is not Tensor or type(v) is not Tensor:
        return _of_subclasses(q, k, v, causal, scale, return_lse, out)
    # Whoever follows the operators (a mode of the dispatcher, a trace, vmap) has to see one.
    if _dispatch_modes() or _is_tracing() or _functorch_level() is not None:
        if (q.requires_grad or k.requires_grad or v.requires_grad) and _is_grad_enabled():
            raise NotImplementedError(NO_BACKWARD)
        return _by_operator(q, k, v, causal, scale, return_lse, out)
    return _run(q, k, v, causal, scale, return_lse, out)


def _run(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: Optional[float], return_lse: bool, out: Any
) -> Any:  # fmt: skip
    if (q.requires_grad or k.requires_grad or v.requires_grad) and _is_grad_enabled():
        raise NotImplementedError(NO_BACKWARD)
    key: Any
    addresses: Any
    result: Any
    if out is None:
        key = (q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(), q.dtype, k.dtype, v.dtype,
               q.device, k.device, v.device, causal, scale, return_lse)  # fmt: skip
        call = _calls.get(key, _UNKNOWN)
        if call is _UNKNOWN:
            other = _other_way(q, k, v, causal, scale, return_lse, out)
            if other is not None:
                return other()
            call = _new_call(key, q, k, v, None, None)
        if call is None:
            return _on_copies(q, k, v, causal, scale, return_lse, out)
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
            if tensor.requires_grad and _is_grad_enabled():
                raise NotImplementedError(
                    f"operand '{name}': it requires a gradient, and fa4.attention has no backward pass"
                )
        key = (q.shape, k.shape, v.shape, q.stride(), k.stride(), v.stride(), q.dtype, k.dtype, v.dtype,
               q.device, k.device, v.device, causal, scale, return_lse,
               o.shape, o.stride(), o.dtype, o.device)  # fmt: skip
        if return_lse:
            key += (lse.shape, lse.stride(), lse.dtype, lse.device)
        call = _calls.get(key, _UNKNOWN)
        if call is _UNKNOWN:
            other = _other_way(q, k, v, causal, scale, return_lse, out)
            if other is not None:
                return other()
            call = _new_call(key, q, k, v, o, lse)
        if call is None:
            return _on_copies(q, k, v, causal, scale, return_lse, out)
        addresses = (q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr())
        if return_lse:
            addresses += (lse.data_ptr(),)
        result = out
    launch = call.launches.get(addresses, _UNKNOWN)
    if launch is _UNKNOWN:
        # New outputs are where they have to be.
        if out is not None:
            at = dict(zip(call.operands, addresses))
            check_outputs_apart(call.operands, at)
            copies = not all(fits(name, call.operands, at) for name in at)
        else:
            copies = any(address % ALIGNMENT for address in addresses[:3])
        if copies:
            return _on_copies(q, k, v, causal, scale, return_lse, out)
        launch = call.prepare(addresses)
    if launch is not None:
        index = call.index
        if _current_device() == index:
            launch(_current_stream(index))
        else:
            with call.on_device():
                launch(_current_stream(index))
        if out is not None:
            # What autograd has saved of these is not what they were.
            for tensor in (o, lse):
                if tensor is not None and not tensor.is_inference():
                    _increment_version(tensor)
    return result


def _other_way(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: Optional[float], return_lse: bool, out: Any
) -> Optional[Callable[[], Any]]:  # fmt: skip
    """What a call does whose operands are not what a kernel takes: those without memory go by
    the operators, those that autocast is for are cast."""
    if q.is_meta:
        return lambda: _by_operator(q, k, v, causal, scale, return_lse, out)
    cast = _autocast(q, k, v)
    if cast is not None:
        return lambda: _run(cast[0], cast[1], cast[2], causal, scale, return_lse, out)
    return None


def _autocast(q: Any, k: Any, v: Any) -> Optional[Tuple[Tensor, ...]]:
    """The inputs as autocast has them where some are f32; None where it has nothing to do."""
    if not torch.is_autocast_enabled("cuda") or all(tensor.dtype != _f32 for tensor in (q, k, v)):
        return None
    dtype = torch.get_autocast_dtype("cuda")
    if dtype not in (torch.float16, torch.bfloat16):
        return None
    return tuple(tensor.to(dtype) if tensor.is_cuda else tensor for tensor in (q, k, v))


def _on_copies(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: Optional[float], return_lse: bool, out: Any
) -> Any:  # fmt: skip
    """A call where a kernel cannot take some operands where they lie: it gets copies of these
    inputs, and writes scratch in the place of these outputs."""
    o: Tensor
    lse: Optional[Tensor] = None
    if out is not None:
        o, lse = common.split_out(out, return_lse)
    else:
        o = _new_output(q, v)
        if return_lse:
            lse = _empty((q.shape[0], q.shape[2], q.shape[1]), dtype=_f32, device=q.device)
    tensors = {"q": q, "k": k, "v": v, "o": o}
    if lse is not None:
        tensors["lse"] = lse
    views = {name: view_of(tensor, name) for name, tensor in tensors.items()}
    operands = {name: view.operand for name, view in views.items()}
    addresses = {name: view.address for name, view in views.items()}
    check_outputs_apart(operands, addresses)
    columns = columns_of(operands)
    if scale is None and columns != q.shape[3]:
        scale = q.shape[3] ** -0.5
    taken = {}
    for name, tensor in tensors.items():
        if fits(name, operands, addresses):
            taken[name] = tensor
        elif name == "lse":
            taken[name] = torch.empty_like(tensor, memory_format=torch.contiguous_format)
        else:
            taken[name] = tensor.new_empty((*tensor.shape[:-1], columns))
            if name not in OUTPUTS:
                taken[name][..., : tensor.shape[-1]] = tensor
                taken[name][..., tensor.shape[-1] :] = 0
    scratch = (taken["o"], taken["lse"]) if lse is not None else taken["o"]
    _run(taken["q"], taken["k"], taken["v"], causal, scale, return_lse, scratch)
    for name in OUTPUTS:
        if name in tensors and taken[name] is not tensors[name]:
            tensors[name].copy_(taken[name][..., : tensors[name].shape[-1]])
    return out if out is not None else (o, lse) if lse is not None else o


def _new_output(q: Tensor, v: Tensor, **options: Any) -> Tensor:
    """In the layout of q, with the columns of v."""
    if q.shape[3] == v.shape[3]:
        return torch.empty_like(q, **options)
    return q.new_empty((*q.shape[:3], v.shape[3]), **options)


def _new_call(
    key: Any, q: Tensor, k: Tensor, v: Tensor, o: Optional[Tensor], lse: Optional[Tensor]
) -> Optional[_Call]:  # fmt: skip
    """Checks the operands and chooses the kernel; None where there have to be copies."""
    causal, scale, return_lse = key[12:15]
    scale = as_scale(scale)
    tensors = {"q": q, "k": k, "v": v}
    views = {name: view_of(tensor, name) for name, tensor in tensors.items()}
    common.check_inputs(
        {name: view.operand for name, view in views.items()}, {name: view.device for name, view in views.items()}
    )
    lse_shape = (q.shape[0], q.shape[2], q.shape[1]) if return_lse else None
    index = views["q"].device
    if o is None:
        # Without memory, for the strides that a new output will have.
        o = _new_output(q, v, device="meta")
        lse = torch.empty(lse_shape, dtype=_f32, device="meta") if lse_shape else None
        outputs = {"o": _operand_like(o, q.device), **({"lse": _operand_like(lse, q.device)} if return_lse else {})}
        devices = dict.fromkeys(outputs, index)
    else:
        written = {"o": o, **({"lse": lse} if return_lse else {})}
        seen = {name: view_of(tensor, name) for name, tensor in written.items()}
        outputs = {name: view.operand for name, view in seen.items()}
        devices = {name: view.device for name, view in seen.items()}
    operands = {**{name: view.operand for name, view in views.items()}, **outputs}
    common.check_outputs(operands, {"q": index, **devices})
    call = None
    if common.is_empty(operands["q"]):
        call = _Call(_Nothing, q.device, lse_shape, operands)
    elif all(has_layout(name, operands) for name in operands):
        plan = common.plan_for(operands, index, causal, scale)
        call = _Call(plan, q.device, lse_shape, operands)
    if len(_calls) >= 4096:
        _calls.clear()
    _calls[key] = call
    return call


def _operand_like(tensor: Any, device: torch.device) -> Operand:
    return Operand(torch_types()[tensor.dtype], tuple(tensor.shape), tuple(tensor.stride()))


def _of_subclasses(q: Any, k: Any, v: Any, causal: bool, scale: Any, return_lse: bool, out: Any) -> Any:
    """Parameters are tensors; other subclasses (fake ones of a trace) go by the operators."""
    if isinstance(q, torch.fx.Proxy):
        return _by_operator(q, k, v, causal, scale, return_lse, out)
    if not isinstance(q, Tensor):
        return NotImplemented
    for name, tensor in (("k", k), ("v", v)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"operand '{name}': expected a torch.Tensor as 'q', but got {type(tensor).__name__}")
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.layout is not torch.strided:
            raise TypeError(f"operand '{name}': expected a dense tensor, but got one of layout {tensor.layout}")
    plain = [tensor.detach() if type(tensor) is torch.nn.Parameter else tensor for tensor in (q, k, v)]
    if all(type(tensor) is Tensor for tensor in plain):
        if _is_grad_enabled() and any(tensor.requires_grad for tensor in (q, k, v)):
            raise NotImplementedError(NO_BACKWARD)
        return attention(plain[0], plain[1], plain[2], causal, scale, return_lse, out)
    return _by_operator(q, k, v, causal, scale, return_lse, out)


def _by_operator(q: Any, k: Any, v: Any, causal: bool, scale: Any, return_lse: bool, out: Any) -> Any:
    if not isinstance(q, torch.fx.Proxy):
        q, k, v = _autocast(q, k, v) or (q, k, v)
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
        return _run(q, k, v, causal, scale, False, None)


@torch.library.custom_op("fa4::attention_lse", mutates_args=(), device_types="cuda")
def _attention_lse_op(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None
) -> Tuple[Tensor, Tensor]:
    with torch.no_grad():
        return _run(q, k, v, causal, scale, True, None)


@torch.library.custom_op("fa4::attention_out", mutates_args=("out", "lse"), device_types="cuda")
def _attention_out_op(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Optional[Tensor], causal: bool = False,
    scale: Optional[float] = None,
) -> None:  # fmt: skip
    with torch.no_grad():
        _run(q, k, v, causal, scale, lse is not None, out if lse is None else (out, lse))


@_attention_op.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None) -> Tensor:
    _check_fake(q, k, v)
    return _new_output(q, v)


@_attention_lse_op.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, causal: bool = False, scale: Optional[float] = None) -> Tuple[Tensor, Tensor]:
    _check_fake(q, k, v)
    return _new_output(q, v), q.new_empty((q.shape[0], q.shape[2], q.shape[1]), dtype=_f32)


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


def _no_backward(*_: Any) -> Any:
    raise NotImplementedError(NO_BACKWARD)


_attention_op.register_autograd(_no_backward)
_attention_lse_op.register_autograd(_no_backward)


def _fold_batch(size: int, dims: Any, tensors: Any) -> List[Tensor]:
    """torch.vmap's dimension as more batches."""
    folded = []
    for tensor, dim in zip(tensors, dims):
        tensor = tensor.unsqueeze(0).expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
        folded.append(tensor.reshape(size * tensor.shape[1], *tensor.shape[2:]))
    return folded


def _unfold_batch(size: int, tensor: Tensor) -> Tensor:
    return tensor.reshape(size, tensor.shape[0] // max(size, 1), *tensor.shape[1:])


def _vmap_attention(info: Any, in_dims: Any, q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> Any:
    o = torch.ops.fa4.attention(*_fold_batch(info.batch_size, in_dims, (q, k, v)), *rest)
    return _unfold_batch(info.batch_size, o), 0


def _vmap_attention_lse(info: Any, in_dims: Any, q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> Any:
    outputs = torch.ops.fa4.attention_lse(*_fold_batch(info.batch_size, in_dims, (q, k, v)), *rest)
    return tuple(_unfold_batch(info.batch_size, tensor) for tensor in outputs), (0, 0)


_attention_op.register_vmap(_vmap_attention)
_attention_lse_op.register_vmap(_vmap_attention_lse)

OPERATORS: List[Any] = [_attention_op, _attention_lse_op, _attention_out_op]
