# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""fa4.attention on PyTorch: the short way of a call seen before, and the operators
fa4::attention, fa4::attention_lse and fa4::attention_out that torch.compile and
torch.export trace.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import _attention as common
from . import _torch_private as private
from ._arrays import torch_types, view_of
from ._bind import Operand
from ._kernel import as_scale
from ._layout import ALIGNMENT, OUTPUTS, check_memory, check_outputs_apart, columns_of, fits, has_layout
from ._plan import KEPT, Plan

_f32 = torch.float32
_is_grad_enabled = torch.is_grad_enabled
_is_compiling = torch.compiler.is_compiling
_increment_version = torch.autograd.graph.increment_version
_current_stream, _current_device = private.current_stream, private.current_device
_dispatch_modes, _is_tracing, _functorch_level = private.dispatch_modes, private.is_tracing, private.functorch_level
_empty_here = private.empty_here


class _Call:
    """What is kept of calls with the same types, shapes and strides."""

    __slots__ = ("launches", "plan", "outputs", "device", "index", "on_device", "operands", "count", "same")

    def __init__(self, plan: Optional[Plan], q: Tensor, operands: Mapping[str, Operand]) -> None:
        # By addresses that were checked: others launch by the same plan, which does not ask how
        # operands lie. Without a plan there is nothing to write.
        self.launches: Dict[Any, Any] = {}
        self.plan = plan
        types = {"o": q.dtype, "lse": _f32}
        self.outputs = [(operands[n].shape, operands[n].strides, types[n]) for n in OUTPUTS if n in operands]
        self.device = q.device
        self.index = plan.device.index if plan else None
        self.on_device = plan.device.current if plan else None
        self.operands = operands
        self.count = 0  # of tensors that `same` takes: are they like those of this call?
        self.same: Callable[..., bool] = private.never


_calls: Dict[Any, Optional[_Call]] = {}  # None where operands of these strides are copied
_recent: Dict[Any, Tuple[_Call, ...]] = {}  # by options and the shape of k, the newest first: what guards are tried of
RECENT = 4
_UNKNOWN: Any = object()
NO_BACKWARD = "fa4.attention has no backward pass: call it under torch.no_grad()"
NO_FORWARD_MODE = "fa4.attention has no forward-mode derivative"
_lock = threading.Lock()  # of what is kept, but for reading
_generation = 0  # counts how often that was forgotten


def forget() -> None:
    global _generation
    with _lock:
        _generation += 1
        _calls.clear()
        _recent.clear()


def attention(q: Any, k: Any, v: Any, causal: Any, scale: Any, return_lse: Any, out: Any) -> Any:
    """NotImplemented for what is not a tensor of PyTorch."""
    if causal is not False and causal is not True:
        causal = bool(causal)
    if return_lse is not False and return_lse is not True:
        return_lse = bool(return_lse)
    if scale is not None and type(scale) is not float:
        scale = as_scale(scale)
    if _is_compiling():
        return _by_operator(q, k, v, causal, scale, return_lse, out)
    tensors = (q, k, v) if out is None else (q, k, v, *out) if type(out) in (tuple, list) else (q, k, v, out)
    modes = _dispatch_modes()
    if modes == 0 and forward_ad._current_level < 0 and _are_plain(tensors):
        options = (causal, scale, return_lse, type(out))
        for call in _recent.get((options, k.shape), ()):
            # The answers to all that is asked below are as they were for that call.
            if len(tensors) == call.count and call.same(*tensors):
                return _launch(call, tensors, options, out)
    if type(q) is not Tensor or type(k) is not Tensor or type(v) is not Tensor:
        return _of_subclasses(q, k, v, causal, scale, return_lse, out)
    # Whoever follows the operators (a mode of the dispatcher, a trace, vmap) has to see one.
    if modes or _is_tracing() or _functorch_level() is not None:
        _check_gradients(q, k, v)
        return _by_operator(q, k, v, causal, scale, return_lse, out)
    return _run(q, k, v, causal, scale, return_lse, out, True)


def _are_plain(tensors: Sequence[Any]) -> bool:
    """Whether a guard may see them: one of a nested tensor, which has no strides, ends the process."""
    for tensor in tensors:
        if type(tensor) is not Tensor or tensor.is_nested:
            return False
    return True


def _check_gradients(*tensors: Tensor) -> None:
    if _is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        raise NotImplementedError(NO_BACKWARD)
    if private.have_tangents(tensors):
        raise NotImplementedError(NO_FORWARD_MODE)


def _run(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: Optional[float], return_lse: bool, out: Any,
    remember: bool = False,
) -> Any:  # fmt: skip
    _check_gradients(q, k, v)
    tensors = (q, k, v, *_written(out, return_lse)) if out is not None else (q, k, v)
    options = (causal, scale, return_lse, type(out))
    generation = _generation
    call = _look_up(tensors, options, generation)
    if type(call) is not _Call:
        return call(q, k, v, causal, scale, return_lse, out)
    if remember:
        _remember(call, tensors, options, generation)
    return _launch(call, tensors, options, out)


def _remember(call: _Call, tensors: Tuple[Tensor, ...], options: Tuple[Any, ...], generation: int) -> None:
    """Lets the next calls like this one find it by a guard, which is of the dispatcher's state now."""
    if any(tensor.requires_grad for tensor in tensors) or not _are_plain(tensors):
        return
    if not call.same(*tensors):
        call.count, call.same = len(tensors), private.guard(tensors)
    key = (options, tensors[1].shape)
    others = [other for other in _recent.get(key, ()) if other is not call]
    with _lock:
        if generation == _generation:
            if len(_recent) >= KEPT:
                _recent.clear()
            _recent[key] = (call, *others[: RECENT - 1])


def _launch(call: _Call, tensors: Tuple[Tensor, ...], options: Tuple[Any, ...], out: Any) -> Any:
    index = call.index
    is_here = _current_device() == index
    o: Any
    lse: Any = None
    if out is not None:
        for tensor in tensors[3:]:
            if tensor.is_inference() and not torch.is_inference_mode_enabled():
                raise RuntimeError("out: an inference tensor cannot be written outside of torch.inference_mode()")
        addresses = tuple([tensor.data_ptr() for tensor in tensors])
    else:
        q, k, v = tensors
        new = _empty_here if is_here else partial(private.empty_strided, device=call.device)
        o = new(*call.outputs[0])
        addresses = (q.data_ptr(), k.data_ptr(), v.data_ptr(), o.data_ptr())
        if len(call.outputs) == 2:
            lse = new(*call.outputs[1])
            addresses += (lse.data_ptr(),)
    launch = call.launches.get(addresses)
    if launch is None and call.plan is not None:
        at = dict(zip(call.operands, addresses))
        check_memory(call.operands, at)
        # New outputs are where they have to be.
        if out is not None:
            check_outputs_apart(call.operands, at)
            copies = not all(fits(name, call.operands, at) for name in at)
        else:
            copies = any(address % ALIGNMENT for address in addresses[:3])
        if copies:
            return _on_copies(*tensors[:3], *options[:3], out)
        launch = call.plan.launch_at(addresses)
        if launch is not None:
            if len(call.launches) >= KEPT:
                call.launches.clear()
            call.launches[addresses] = launch
    if launch is not None:
        if is_here:
            launch(_current_stream(index))
        else:
            with call.on_device():
                launch(_current_stream(index))
        # What autograd has saved of these is not what they were.
        for tensor in tensors[3:]:
            if not tensor.is_inference():
                _increment_version(tensor)
    if out is not None:
        return out
    return o if lse is None else (o, lse)


def _written(out: Any, return_lse: bool) -> Tuple[Tensor, ...]:
    o, lse = common.split_out(out, return_lse)
    written = (o, lse) if return_lse else (o,)
    for name, tensor in zip(OUTPUTS, written):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"operand '{name}': expected a torch.Tensor, but got {type(tensor).__name__}")
        if tensor.requires_grad and _is_grad_enabled():
            raise NotImplementedError(
                f"operand '{name}': it requires a gradient, and fa4.attention has no backward pass"
            )
    return written


def _look_up(tensors: Tuple[Tensor, ...], options: Tuple[Any, ...], generation: int) -> Any:
    """The _Call of these tensors, or a function that does what is asked in another way."""
    key = (options, *[(t.shape, t.stride(), t.dtype, t.device, t.is_neg()) for t in tensors])
    call = _calls.get(key, _UNKNOWN)
    if call is _UNKNOWN:
        other = _other_way(*tensors[:3])
        if other is not None:
            return other
        call = _new_call(tensors, options)
        with _lock:
            if generation == _generation:
                if len(_calls) >= KEPT:
                    _calls.clear()
                _calls[key] = call
    return _on_copies if call is None else call


def _other_way(q: Tensor, k: Tensor, v: Tensor) -> Optional[Callable[..., Any]]:
    """What a call does whose operands are not what a kernel takes: those without memory go by
    the operators, those that autocast is for are cast."""
    if q.is_meta:
        return _by_operator
    cast = _autocast(q, k, v)
    return None if cast is None else lambda q, k, v, *rest: _run(*cast, *rest)


AUTOCAST = (torch.float16, torch.bfloat16, torch.float32)  # what autocast casts


def _autocast(q: Any, k: Any, v: Any) -> Optional[Tuple[Tensor, ...]]:
    """The inputs as autocast has them where some are f32; None where it has nothing to do."""
    if not torch.is_autocast_enabled("cuda") or all(tensor.dtype != _f32 for tensor in (q, k, v)):
        return None
    dtype = torch.get_autocast_dtype("cuda")
    if dtype not in (torch.float16, torch.bfloat16):
        return None
    return tuple(tensor.to(dtype) if tensor.is_cuda and tensor.dtype in AUTOCAST else tensor for tensor in (q, k, v))


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
            lse = q.new_empty(_lse_shape(q), dtype=_f32)
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


def _lse_shape(q: Tensor) -> Tuple[int, ...]:
    return q.shape[0], q.shape[2], q.shape[1]


def _new_call(tensors: Tuple[Tensor, ...], options: Tuple[Any, ...]) -> Optional[_Call]:
    """Checks the operands and chooses the kernel; None where there have to be copies."""
    causal, scale, return_lse, _ = options
    scale = as_scale(scale)
    q, v = tensors[0], tensors[2]
    views = {name: view_of(tensor, name) for name, tensor in zip(("q", "k", "v"), tensors)}
    common.check_inputs(
        {name: view.operand for name, view in views.items()}, {name: view.device for name, view in views.items()}
    )
    index = views["q"].device
    if len(tensors) == 3:
        # Without memory, for the strides that a new output will have.
        outputs = {"o": _operand_like(_new_output(q, v, device="meta"))}
        if return_lse:
            outputs["lse"] = _operand_like(q.new_empty(_lse_shape(q), dtype=_f32, device="meta"))
        devices = dict.fromkeys(outputs, index)
    else:
        seen = {name: view_of(tensor, name) for name, tensor in zip(OUTPUTS, tensors[3:])}
        outputs = {name: view.operand for name, view in seen.items()}
        devices = {name: view.device for name, view in seen.items()}
    operands = {**{name: view.operand for name, view in views.items()}, **outputs}
    common.check_outputs(operands, {"q": index, **devices})
    if common.is_empty(operands["q"]):
        return _Call(None, q, operands)
    if all(has_layout(name, operands) for name in operands):
        return _Call(common.plan_for(operands, index, causal, scale), q, operands)
    return None


def _operand_like(tensor: Any) -> Operand:
    return Operand(torch_types()[tensor.dtype], tuple(tensor.shape), tuple(tensor.stride()))


def _of_subclasses(q: Any, k: Any, v: Any, causal: bool, scale: Any, return_lse: bool, out: Any) -> Any:
    """Parameters are tensors; other subclasses (fake ones of a trace) go by the operators."""
    if any(isinstance(tensor, torch.fx.Proxy) for tensor in (q, k, v)):
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
        _check_gradients(q, k, v)
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
    return _new_output(q, v), q.new_empty(_lse_shape(q), dtype=_f32)


@_attention_out_op.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Optional[Tensor], causal: bool = False,
      scale: Optional[float] = None) -> None:  # fmt: skip
    _check_fake(q, k, v)


def _check_fake(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Ranks and types, and extents unless they are symbols of the trace."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() != 4:
            raise ValueError(f"operand '{name}': expected rank 4 [B, S, H, D], but got {tensor.dim()}")
        if tensor.dtype not in (torch.float16, torch.bfloat16) or tensor.dtype != q.dtype:
            raise TypeError(f"operand '{name}': expected f16 or bf16, the type of 'q', but got {tensor.dtype}")
    if all(type(extent) is int for tensor in (q, k, v) for extent in tensor.shape):
        tensors = {"q": q, "k": k, "v": v}
        common.check_inputs({name: _operand_like(tensor) for name, tensor in tensors.items()}, dict.fromkeys(tensors, 0))


def _no_backward(*_: Any) -> Any:
    raise NotImplementedError(NO_BACKWARD)


_attention_op.register_autograd(_no_backward)
_attention_lse_op.register_autograd(_no_backward)


def _attention_out_autograd(q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Optional[Tensor], *rest: Any) -> None:
    """Of an operator that writes its arguments PyTorch takes no derivative, not one that raises either."""
    _check_gradients(q, k, v, out, *([] if lse is None else [lse]))
    with torch._C._AutoDispatchBelowAutograd():
        torch.ops.fa4.attention_out.default(q, k, v, out, lse, *rest)


_autograd = torch.library.Library("fa4", "IMPL")
_autograd.impl("attention_out", _attention_out_autograd, "AutogradCUDA")


def _fold_batch(size: int, dims: Any, tensors: Any) -> List[Tensor]:
    """torch.vmap's dimension as more batches."""
    folded = []
    for tensor, dim in zip(tensors, dims):
        tensor = tensor.unsqueeze(0).expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
        folded.append(tensor.reshape(size * tensor.shape[1], *tensor.shape[2:]))
    return folded


def _unfold_batch(size: int, q: Tensor, dim: Any, tensor: Tensor) -> Tensor:
    """A result of folded batches, of which `q`, batched along `dim`, tells the number."""
    batches = q.shape[0] if dim is None else q.movedim(dim, 0).shape[1]
    return tensor.reshape(size, batches, *tensor.shape[1:])


def _vmap_attention(info: Any, in_dims: Any, q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> Any:
    o = torch.ops.fa4.attention(*_fold_batch(info.batch_size, in_dims, (q, k, v)), *rest)
    return _unfold_batch(info.batch_size, q, in_dims[0], o), 0


def _vmap_attention_lse(info: Any, in_dims: Any, q: Tensor, k: Tensor, v: Tensor, *rest: Any) -> Any:
    outputs = torch.ops.fa4.attention_lse(*_fold_batch(info.batch_size, in_dims, (q, k, v)), *rest)
    return tuple(_unfold_batch(info.batch_size, q, in_dims[0], tensor) for tensor in outputs), (0, 0)


_attention_op.register_vmap(_vmap_attention)
_attention_lse_op.register_vmap(_vmap_attention_lse)

OPERATORS: List[Any] = [_attention_op, _attention_lse_op, _attention_out_op]
