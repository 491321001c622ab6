# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""fa4.attention: what is asked, checked; the kernel that does it; outputs of each framework."""

from __future__ import annotations

import sys
import threading
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _compile
from ._arrays import View, is_jax, is_torch, module_of, view_of
from ._bind import Operand
from ._driver import get_device
from ._kernel import Kernel, state
from ._plan import Plan

_kernels: List[Kernel] = []
_lock = threading.Lock()
_torch_attention: Any = None  # of fa4._torch, once PyTorch is there


def use(kernel: Kernel, *, causal: Optional[bool] = None, scale: Optional[float] = None) -> Kernel:
    """Lets fa4.attention choose a kernel, before those of earlier calls.

    A kernel that fa4.compile did not make has to be told its mask and scale, here or in
    fa4.load.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(f"use: expected a kernel, as of fa4.load, but got {type(kernel).__name__}")
    kernel.meaning = state(kernel.meaning, causal, scale, repr(kernel))
    if kernel.meaning is None:
        raise ValueError(f"{kernel!r} does not say whether it is causal: give causal and scale")
    with _lock:
        _kernels.insert(0, kernel)
        _forget()
    return kernel


def clear() -> None:
    """Forgets the kernels of `use` and those compiled since."""
    with _lock:
        _kernels.clear()
        _forget()


def _forget() -> None:
    """Choices made before the list of kernels changed."""
    torch_module = sys.modules.get(__package__ + "._torch")
    if torch_module is not None:
        torch_module.forget()


def attention(
    q: Any, k: Any, v: Any, causal: bool = False, scale: Optional[float] = None, return_lse: bool = False,
    out: Any = None,
) -> Any:  # fmt: skip
    """softmax(scale * q k^T) v, over the keys that each query sees.

    q is [B, Sq, Hq, D]; k and v are [B, Skv, Hkv, D], and Hkv divides Hq; f16 or bf16, any
    strides with a contiguous last dimension. Query i sees keys up to i + Skv - Sq if causal.
    Gives the output, as q in shape and layout, or the pair of it and the natural log-sum-exp
    [B, Hq, Sq] in f32. Runs on the caller's current stream and does not wait.

    `out` is written instead of a new tensor: the output, or with return_lse the pair.
    Raises TypeError or ValueError where an operand breaks a rule, which the message names.
    """
    if _torch_attention is not None:
        result = _torch_attention(q, k, v, causal, scale, return_lse, out)
        if result is not NotImplemented:
            return result
    elif is_torch(q):
        _load_torch()
        return attention(q, k, v, causal, scale, return_lse, out)
    return _attention_of_arrays(q, k, v, bool(causal), scale, bool(return_lse), out)


def _load_torch() -> None:
    global _torch_attention
    from . import _torch

    _torch_attention = _torch.attention


def _attention_of_arrays(
    q: Any, k: Any, v: Any, causal: bool, scale: Optional[float], return_lse: bool, out: Any
) -> Any:
    views = {"q": view_of(q, "q"), "k": view_of(k, "k"), "v": view_of(v, "v")}
    check_inputs({name: view.operand for name, view in views.items()}, {n: view.device for n, view in views.items()})
    if is_jax(q) and out is not None:
        raise TypeError("out: arrays of JAX cannot be written")
    o, lse = outputs(q, views["q"], return_lse) if out is None else split_out(out, return_lse)
    views["o"] = view_of(o, "o")
    if return_lse:
        views["lse"] = view_of(lse, "lse")
    device = views["q"].device
    check_outputs({n: view.operand for n, view in views.items()}, {n: view.device for n, view in views.items()})
    check_overlap({n: view.address for n, view in views.items()}, views["o"].operand)
    plan = plan_for({n: view.operand for n, view in views.items()}, device, causal, scale)
    launch = plan.launch_at(tuple(view.address for view in views.values()))
    if launch is not None:
        with plan.device.current():
            launch(views["q"].stream())
            if is_jax(q):
                _wait(plan)
    return (o, lse) if return_lse else o


def _wait(plan: Plan) -> None:
    """JAX does not say which stream will read the outputs: they are complete instead."""
    from ._driver import check, get_driver

    check(get_driver().cuStreamSynchronize(get_driver().CUstream(0)))


def split_out(out: Any, return_lse: bool) -> Tuple[Any, Any]:
    if not return_lse:
        return out, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError("out: expected a pair of tensors, the output and the log-sum-exp, as return_lse asks")
    return out[0], out[1]


def outputs(q: Any, view: View, return_lse: bool) -> Tuple[Any, Any]:
    """New arrays of q's framework; those of PyTorch are in _torch.py."""
    b, sq, hq, d = view.operand.shape
    if module_of(q) == "cupy":
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(view.device):
            return cupy.empty((b, sq, hq, d), q.dtype), cupy.empty((b, hq, sq), "f4") if return_lse else None
    if is_jax(q):
        jax = sys.modules["jax"]
        with jax.default_device(next(iter(q.devices()))):
            o = jax.numpy.empty((b, sq, hq, d), q.dtype)
            lse = jax.numpy.empty((b, hq, sq), "float32") if return_lse else None
        # Buffers that a computation of JAX still fills are not ours yet.
        return jax.block_until_ready(o), jax.block_until_ready(lse)
    raise TypeError(f"out: expected an array to write to, as none can be made like a {type(q).__name__}")


def check_inputs(operands: Mapping[str, Operand], devices: Mapping[str, int]) -> None:
    q, k = operands["q"], operands["k"]
    for name, operand in operands.items():
        where = f"operand '{name}'"
        if operand.type not in ("f16", "bf16"):
            raise TypeError(f"{where}: expected f16 or bf16, but got {operand.type}")
        if operand.type != q.type:
            raise TypeError(f"{where}: expected {q.type} as 'q', but got {operand.type}")
        if devices[name] != devices["q"]:
            raise ValueError(
                f"{where}: expected a tensor on device {devices['q']} as 'q', but got one on {devices[name]}"
            )
        if len(operand.shape) != 4:
            heads = "Hq" if name == "q" else "Hkv"
            raise ValueError(
                f"{where}: expected rank 4 [B, S, {heads}, D], but got {len(operand.shape)} {list(operand.shape)}"
            )
        if operand.strides[3] != 1 and operand.shape[3] > 1 and 0 not in operand.shape:
            raise ValueError(f"{where}, dimension 3: expected stride 1, but got {operand.strides[3]}")
        for axis, what in ((0, "batches"), (3, "the head dimension")):
            if operand.shape[axis] != q.shape[axis]:
                raise ValueError(
                    f"{where}, dimension {axis}: expected {q.shape[axis]}, {what} of 'q', but got {operand.shape[axis]}"
                )
    for axis, what in ((1, "the keys"), (2, "the heads")):
        if operands["v"].shape[axis] != k.shape[axis]:
            raise ValueError(
                f"operand 'v', dimension {axis}: expected {k.shape[axis]}, {what} of 'k', "
                f"but got {operands['v'].shape[axis]}"
            )
    hq, hkv = q.shape[2], k.shape[2]
    if hq and (hkv == 0 or hq % hkv):
        raise ValueError(
            f"expected the number of query heads to be a multiple of the number of K/V heads, but got {hq} and {hkv}"
        )


def check_outputs(operands: Mapping[str, Operand], devices: Mapping[str, int]) -> None:
    b, sq, hq, d = operands["q"].shape
    expected = {"o": (operands["q"].type, (b, sq, hq, d)), "lse": ("f32", (b, hq, sq))}
    for name in operands:
        if name not in expected:
            continue
        kind, shape = expected[name]
        operand, where = operands[name], f"operand '{name}'"
        if operand.type != kind:
            raise TypeError(f"{where}: expected {kind}, but got {operand.type}")
        if operand.shape != shape:
            raise ValueError(f"{where}: expected shape {list(shape)}, but got {list(operand.shape)}")
        if devices[name] != devices["q"]:
            raise ValueError(
                f"{where}: expected a tensor on device {devices['q']} as 'q', but got one on {devices[name]}"
            )
        if operand.strides[-1] != 1 and shape[-1] > 1 and 0 not in shape:
            raise ValueError(f"{where}, dimension {len(shape) - 1}: expected stride 1, but got {operand.strides[-1]}")


def check_overlap(addresses: Mapping[str, int], o: Operand) -> None:
    """The same tensor as input and output; partial overlap is the caller's to avoid."""
    for name in ("q", "k", "v"):
        if addresses["o"] == addresses[name] and 0 not in o.shape:
            raise ValueError(f"operand 'o': expected memory of its own, but it begins where '{name}' does")


def plan_for(operands: Mapping[str, Operand], device: int, causal: bool, scale: Optional[float]) -> Plan:
    """The kernel for an attention on a device, bound: one of `use`, else one compiled now."""
    _compile.check_scale(scale)
    target = get_device(device)
    q, k = operands["q"], operands["k"]
    reasons: List[str] = []
    for kernel in list(_kernels):
        reason = _unfit(kernel, operands, target, causal, scale)
        if reason is None:
            try:
                return kernel.plan(_views(operands), device)
            except (TypeError, ValueError) as error:
                reason = str(error)
        reasons.append(f"{kernel.name} of {kernel.folder}: {reason}")
    if _compile.find_tool() is None:
        raise ValueError(
            "no kernel fits this attention, and there is no fa4-compile to make one"
            + "".join(f"\n  {reason}" for reason in reasons)
        )
    kernel = _compile.compile(
        chip=f"sm_{target.capability}a", dtype=q.type, head_dim=q.shape[3], query_heads=q.shape[2],
        kv_heads=k.shape[2], causal=causal, scale=scale, return_lse="lse" in operands,
    )  # fmt: skip
    plan = kernel.plan(_views(operands), device)
    with _lock:
        _kernels.append(kernel)
    return plan


def _unfit(
    kernel: Kernel, operands: Mapping[str, Operand], device: Any, causal: bool, scale: Optional[float]
) -> Optional[str]:
    """Why a kernel does not compute this, before its shapes are looked at."""
    meaning = kernel.meaning
    if meaning is None or set(kernel.operands) != set(operands):
        return f"its operands are {', '.join(kernel.operands)}"
    if meaning.causal != causal:
        return f"it is {'' if meaning.causal else 'not '}causal"
    d = operands["q"].shape[3]
    own, asked = (
        _compile.to_f32(s) if s is not None else _compile.to_f32(d**-0.5 if d else 0) for s in (meaning.scale, scale)
    )
    if own != asked:
        return f"its scale is {own:.6g}, not {asked:.6g}"
    try:
        kernel.check_device(device)
    except ValueError as error:
        return str(error)
    return None


def _views(operands: Mapping[str, Operand]) -> Dict[str, View]:
    return {name: View(operand, 0, 0, int) for name, operand in operands.items()}
