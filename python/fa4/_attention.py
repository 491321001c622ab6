# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""fa4.attention: what is asked, checked; the kernel that does it; outputs of each framework."""

from __future__ import annotations

import sys
import threading
from contextlib import nullcontext
from typing import Any, Dict, List, Mapping, Optional, Tuple

from . import _compile
from ._arrays import View, is_jax, is_torch, view_of
from ._bind import Operand
from ._driver import Device, get_device, kept_context
from ._frameworks import framework_of
from ._kernel import Kernel, as_scale, state
from ._layout import OUTPUTS, check_memory, check_outputs_apart, columns_of, fits, is_distinct, may_overlap
from ._plan import Plan
from ._streams import among

MAX_HEAD_DIM = 128

_kernels: List[Kernel] = []
_lock = threading.Lock()
_compiling = threading.Lock()
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

    q is [B, Sq, Hq, D], k is [B, Skv, Hkv, D], v is [B, Skv, Hkv, Dv], and Hkv divides Hq; f16 or
    bf16, of any strides: what TMA cannot take is copied. Query i sees keys up to i + Skv - Sq if causal.
    Gives the output [B, Sq, Hq, Dv], in the layout of q, or the pair of it and the natural log-sum-exp
    [B, Hq, Sq] in f32. Runs on the caller's current stream and does not wait.

    `out` is written instead of a new tensor: the output, or with return_lse the pair.
    Raises TypeError or ValueError where an operand breaks a rule, which the message names.
    """
    if _torch_attention is not None:
        result = _torch_attention(q, k, v, causal, scale, return_lse, out)
        if result is not NotImplemented:
            return result
    elif is_torch(q) or _is_traced(q, k, v):
        _load_torch()
        return attention(q, k, v, causal, scale, return_lse, out)
    # JAX leaves the device of its last work as the current one, which is its caller's.
    with kept_context() if is_jax(q) else nullcontext():
        return _attention_of_arrays(q, k, v, bool(causal), as_scale(scale), bool(return_lse), out)


def _is_traced(*arrays: Any) -> bool:
    """Whether torch.fx follows the call."""
    fx = sys.modules.get("torch.fx")
    return fx is not None and any(isinstance(array, fx.Proxy) for array in arrays)


def _load_torch() -> None:
    global _torch_attention
    from . import _torch

    _torch_attention = _torch.attention


def _attention_of_arrays(
    q: Any, k: Any, v: Any, causal: bool, scale: Optional[float], return_lse: bool, out: Any
) -> Any:
    views = {"q": view_of(q, "q"), "k": view_of(k, "k"), "v": view_of(v, "v")}
    check_inputs({name: view.operand for name, view in views.items()}, {n: view.device for n, view in views.items()})
    framework = framework_of(q, views["q"])
    arrays = _written(q, framework, views, return_lse, out)
    check_outputs({n: view.operand for n, view in views.items()}, {n: view.device for n, view in views.items()})
    for name in arrays:
        if not views[name].writable:
            raise TypeError(f"operand '{name}': expected memory that can be written")
    check_memory(*_split(views))
    check_outputs_apart(*_split(views))
    device, head_dim = get_device(views["q"].device), views["q"].operand.shape[3]
    if is_empty(views["q"].operand):
        return (arrays["o"], arrays["lse"]) if return_lse else arrays["o"]
    with among(device, list(views.values())) as stream:
        # Their memory is given back once the launch is on its stream.
        kept = _copy_what_must_be(framework, {"q": q, "k": k, "v": v}, views)
        if scale is None and views["q"].operand.shape[3] != head_dim:
            scale = head_dim**-0.5
        plan = plan_for(_split(views)[0], device.index, causal, scale)
        launch = plan.launch_at(tuple(view.address for view in views.values()))
        if launch is not None:
            launch(stream)
            if is_jax(q):
                _wait()
        for name in arrays:
            if name in kept:
                arrays[name] = framework.store(kept[name], arrays[name])
    return (arrays["o"], arrays["lse"]) if return_lse else arrays["o"]


def _split(views: Mapping[str, View]) -> Tuple[Dict[str, Operand], Dict[str, int]]:
    return {n: view.operand for n, view in views.items()}, {n: view.address for n, view in views.items()}


def _written(q: Any, framework: Any, views: Dict[str, View], return_lse: bool, out: Any) -> Dict[str, Any]:
    """The outputs by name, new ones or the caller's; `views` gets theirs."""
    b, sq, hq, _ = views["q"].operand.shape
    d = views["v"].operand.shape[3]
    if out is not None:
        arrays = dict(zip(("o", "lse"), split_out(out, return_lse)))
        if not return_lse:
            del arrays["lse"]
        for name, array in arrays.items():
            if is_jax(array):
                raise TypeError("out: arrays of JAX cannot be written")
            views[name] = view_of(array, name)
        return arrays
    if framework is None:
        raise TypeError(f"out: expected an array to write to, as none can be made like a {type(q).__name__}")
    made = {"o": framework.new((b, sq, hq, d), views["q"].operand.type)}
    if return_lse:
        made["lse"] = framework.new((b, hq, sq), "f32")
    views.update((name, view) for name, (_, view) in made.items())
    return {name: array for name, (array, _) in made.items()}


def _copy_what_must_be(framework: Any, inputs: Mapping[str, Any], views: Dict[str, View]) -> Dict[str, Any]:
    """Puts copies of inputs, and scratch in the place of outputs, into `views` where a kernel
    cannot take them where they lie; the new arrays by name."""
    operands, addresses = _split(views)
    wrong = [name for name in views if not fits(name, operands, addresses)]
    if not wrong:
        return {}
    if framework is None:
        check_as_they_are(operands, addresses)
        return {}
    kept: Dict[str, Any] = {}
    for name in wrong:
        shape = views[name].operand.shape
        if name in inputs:
            kept[name], views[name] = framework.copy(inputs[name], columns_of(operands))
        else:
            shape = shape if name == "lse" else (*shape[:-1], columns_of(operands))
            kept[name], views[name] = framework.new(shape, views[name].operand.type)
    return kept


def _wait() -> None:
    """JAX does not say which stream will read the outputs: they are complete instead."""
    from ._driver import check, get_driver

    check(get_driver().cuStreamSynchronize(get_driver().CUstream(0)))


def split_out(out: Any, return_lse: bool) -> Tuple[Any, Any]:
    if not return_lse:
        if isinstance(out, (tuple, list)):
            raise TypeError("out: expected one tensor, as return_lse is not asked")
        return out, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError("out: expected a pair of tensors, the output and the log-sum-exp, as return_lse asks")
    return out[0], out[1]


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
        if not (name == "v" or operand.shape[3]) or operand.shape[3] > MAX_HEAD_DIM:
            raise ValueError(
                f"{where}, dimension 3: expected a head dimension of 1 to {MAX_HEAD_DIM}, but got {operand.shape[3]}"
            )
        for axis, what in ((0, "batches"), (3, "the head dimension")):
            if operand.shape[axis] != q.shape[axis] and (name, axis) != ("v", 3):
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
    b, sq, hq, _ = operands["q"].shape
    expected = {"o": (operands["q"].type, (b, sq, hq, operands["v"].shape[3])), "lse": ("f32", (b, hq, sq))}
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
        if not is_distinct(operand):
            raise ValueError(
                f"{where}: expected an element of memory for each element, "
                f"but got strides {list(operand.strides)} for shape {list(operand.shape)}"
            )


def is_empty(q: Operand) -> bool:
    """Whether there is nothing to write, and no kernel to choose: some have no head at all."""
    return 0 in q.shape[:3]


def check_as_they_are(operands: Mapping[str, Operand], addresses: Mapping[str, int]) -> None:
    """Raises for what could only be right by a copy, but for what the kernel itself tells of
    strides and addresses."""
    more = "and no copy can be made of this kind of array"
    d, dv = operands["q"].shape[3], operands["v"].shape[3]
    if d != dv:
        raise ValueError(f"operand 'v', dimension 3: expected {d}, the head dimension of 'q', but got {dv}, {more}")
    for name, operand in operands.items():
        shape, strides = operand.shape, operand.strides
        if strides[-1] != 1 and shape[-1] > 1 and 0 not in shape:
            raise ValueError(
                f"operand '{name}', dimension {len(shape) - 1}: expected stride 1, but got {strides[-1]}, {more}"
            )
        if name in OUTPUTS and any(
            may_overlap(operand, addresses[name], operands[other], addresses[other]) for other in ("q", "k", "v")
        ):
            raise ValueError(f"operand '{name}': expected memory of its own, but it may overlap an input, {more}")


def plan_for(operands: Mapping[str, Operand], device: int, causal: bool, scale: Optional[float]) -> Plan:
    """The kernel for an attention on a device, bound: one of `use`, else one compiled now."""
    target = get_device(device)
    plan, reasons = _kernel_in_use(operands, target, causal, scale)
    if plan is not None:
        return plan
    if _compile.find_tool() is None:
        raise ValueError(
            "no kernel fits this attention, and there is no fa4-compile to make one"
            + "".join(f"\n  {reason}" for reason in reasons)
        )
    # One compiles, and the others find the kernel then.
    with _compiling:
        plan, _ = _kernel_in_use(operands, target, causal, scale)
        if plan is None:
            q, k = operands["q"], operands["k"]
            kernel = _compile.compile(
                chip=f"sm_{target.capability}a", dtype=q.type, head_dim=q.shape[3], query_heads=q.shape[2],
                kv_heads=k.shape[2], causal=causal, scale=scale, return_lse="lse" in operands,
            )  # fmt: skip
            plan = kernel.plan(_views(operands), device)
            with _lock:
                _kernels.append(kernel)
    return plan


def _kernel_in_use(
    operands: Mapping[str, Operand], target: Device, causal: bool, scale: Optional[float]
) -> Tuple[Optional[Plan], List[str]]:
    """The plan of a kernel that fits, or why each does not."""
    reasons: List[str] = []
    for kernel in list(_kernels):
        reason = _unfit(kernel, operands, target, causal, scale)
        if reason is None:
            try:
                return kernel.plan(_views(operands), target.index), []
            except (TypeError, ValueError) as error:
                reason = str(error)
        reasons.append(f"{kernel.name} of {kernel.folder}: {reason}")
    return None, reasons


def _unfit(
    kernel: Kernel, operands: Mapping[str, Operand], device: Device, causal: bool, scale: Optional[float]
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
