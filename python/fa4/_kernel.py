# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A kernel folder, loaded.

A folder holds NAME.json, the launch descriptor, NAME.cubin or NAME.ptx or both, and, where
fa4.compile made it, fa4.json: what the kernel computes, and what made it.
"""

from __future__ import annotations

import json
import re
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Union

from ._arrays import View, tell_autograd, view_of
from ._bind import bind
from ._descriptor import Descriptor, DescriptorError
from ._driver import CudaError, Device, get_device
from ._layout import OUTPUTS, check_memory
from ._image import load_function, load_in_capture, load_library, refusal
from ._plan import Plan
from ._streams import among

MANIFEST = "fa4.json"
MANIFEST_SCHEMA = 1


F32_MAX = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def as_scale(scale: Any) -> Optional[float]:
    """What a kernel can hold of a scale: a finite f32, or None for 1/sqrt(D)."""
    if scale is None:
        return None
    try:
        # A bool is likely another argument, text is none.
        value = None if isinstance(scale, (bool, str, bytes)) else float(scale)
    except (TypeError, ValueError, RuntimeError):
        value = None
    if value is None:
        raise TypeError(f"scale: expected a number, or None for 1/sqrt(D), but got {scale!r}")
    if not abs(value) <= F32_MAX:
        raise ValueError(f"scale: expected a finite number of f32, but got {value}")
    return value


@dataclass(frozen=True)
class Meaning:
    """What the descriptor of an attention does not say of it: mask and scale."""

    causal: bool
    scale: Optional[float]  # None is 1/sqrt(D)


def state(known: Optional[Meaning], causal: Optional[bool], scale: Optional[float], what: str) -> Optional[Meaning]:
    """What a kernel computes, of what is known and what the caller says. A mask or scale
    that is not the kernel's would have fa4.attention choose it for another attention."""
    scale = as_scale(scale)
    if causal is None and scale is None:
        return known
    if known is None:
        if causal is None:
            raise ValueError(f"{what} does not say whether it is causal: give causal beside scale")
        return Meaning(bool(causal), scale)
    if causal is not None and bool(causal) != known.causal:
        raise ValueError(f"{what} was compiled with causal={known.causal}: expected the same or none, but got {causal}")
    if scale is not None and scale != known.scale:
        raise ValueError(f"{what} was compiled with scale={known.scale}: expected the same or none, but got {scale}")
    return known


class Kernel:
    """One kernel; `kernel(q, k, v, o)` launches it on tensors in the descriptor's order."""

    def __init__(self, descriptor: Descriptor, image: bytes, folder: Path, meaning: Optional[Meaning] = None) -> None:
        self.descriptor = descriptor
        self.image = image  # a cubin, or PTX that ends in a zero
        self.folder = folder
        self.meaning = meaning
        self.name = descriptor.kernel
        self.operands = tuple(tensor.name for tensor in descriptor.tensors)
        self._library: Any = None
        self._functions: Dict[int, Any] = {}
        self._plans: Dict[Any, Plan] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<fa4 kernel '{self.name}' for {self.descriptor.chip} from {self.folder}>"

    @property
    def versions(self) -> Dict[str, str]:
        """What made it: fa4, llvm, ptxas."""
        return dict(self.descriptor.versions)

    def __call__(self, *tensors: Any, scalars: Optional[Mapping[str, float]] = None) -> None:
        """Launches on the current stream of the first tensor's framework and device.

        That is all: gradients, and outputs that lie over inputs, are the caller's to see to.
        """
        if len(tensors) != len(self.operands):
            raise TypeError(f"expected {len(self.operands)} tensors ({', '.join(self.operands)}), got {len(tensors)}")
        views = {name: view_of(tensor, name) for name, tensor in zip(self.operands, tensors)}
        first = views[self.operands[0]]
        for name in OUTPUTS:
            if name in views and not views[name].writable:
                raise TypeError(f"operand '{name}': expected memory that can be written")
        for name, view in views.items():
            if view.device != first.device:
                raise ValueError(
                    f"operand '{name}': expected a tensor on device {first.device} as '{self.operands[0]}', "
                    f"but got one on {view.device}"
                )
        plan = self.plan(views, first.device, scalars)
        if not plan.binding.skip:
            check_memory({n: view.operand for n, view in views.items()}, {n: view.address for n, view in views.items()})
        launch = plan.launch_at(tuple(view.address for view in views.values()))
        if launch is not None:
            with among(plan.device, list(views.values())) as stream:
                launch(stream)
            for name, tensor in zip(self.operands, tensors):
                if name in OUTPUTS:
                    tell_autograd(tensor)

    def plan(self, views: Mapping[str, View], device: int, scalars: Optional[Mapping[str, float]] = None) -> Plan:
        """The launch of these types, shapes and strides on a device, kept for the next call."""
        key = (device, tuple(view.operand for view in views.values()), tuple(sorted((scalars or {}).items())))
        plan = self._plans.get(key)
        if plan is None:
            operands = {name: view.operand for name, view in views.items()}
            plan = Plan(bind(self.descriptor, operands, scalars), get_device(device), tuple(views), self.function)
            if len(self._plans) >= 1024:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def function(self, device: Device) -> Any:
        """The CUfunction on a device; loads the kernel at first."""
        function = self._functions.get(device.index)
        if function is None:
            with self._lock:
                function = self._functions.get(device.index)
                if function is None:
                    function = self._functions[device.index] = self._load(device)
        return function

    def check_device(self, device: Device) -> None:
        match = re.fullmatch(r"sm_(\d+)[af]?", self.descriptor.chip)
        if not match or int(match[1]) != device.capability:
            raise ValueError(
                f"kernel '{self.name}' was made for {self.descriptor.chip}, "
                f"but device {device.index} is sm_{device.capability}"
            )

    def _load(self, device: Device) -> Any:
        self.check_device(device)
        with device.current(), load_in_capture():
            try:
                if self._library is None:
                    self._library = load_library(self.image)
                return load_function(self._library, self.descriptor, device)
            except CudaError as error:
                raise refusal(error, self.descriptor, self.folder, self.image, device) from None


def load(
    folder: Union[str, Path], name: Optional[str] = None, *, causal: Optional[bool] = None,
    scale: Optional[float] = None,
) -> Kernel:  # fmt: skip
    """The kernel in a folder; `name` chooses where there are several.

    `causal` and `scale` say what a kernel computes that fa4.compile did not make, so that
    fa4.attention can choose it; of one that it did make they may say the same. Raises FileNotFoundError, or ValueError where a file is not
    what it should be.
    """
    folder = Path(folder)
    names = [path.stem for path in sorted(folder.glob("*.json")) if path.name != MANIFEST]
    if name is None:
        if not names:
            raise FileNotFoundError(f"no kernel in '{folder}': expected a launch descriptor, NAME.json")
        if len(names) > 1:
            raise ValueError(f"'{folder}' holds the kernels {', '.join(names)}: say which")
        name = names[0]
    elif name not in names:
        raise FileNotFoundError(f"no kernel '{name}' in '{folder}', which has {', '.join(names) or 'none'}")
    path = folder / f"{name}.json"
    try:
        descriptor = Descriptor.parse(path.read_text(encoding="utf-8"))
    except DescriptorError as error:
        raise DescriptorError(f"{path}: {error}") from None
    meaning = state(_meaning(folder, name), causal, scale, f"{path}")
    return Kernel(descriptor, _image(folder, name), folder, meaning)


def _image(folder: Path, name: str) -> bytes:
    cubin, ptx = folder / f"{name}.cubin", folder / f"{name}.ptx"
    if cubin.exists():
        return cubin.read_bytes()
    if ptx.exists():
        return ptx.read_bytes() + b"\0"
    raise FileNotFoundError(f"no {name}.cubin and no {name}.ptx in '{folder}'")


def _meaning(folder: Path, name: str) -> Optional[Meaning]:
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["schema"] != MANIFEST_SCHEMA:
            raise ValueError(f"expected schema {MANIFEST_SCHEMA}, but got {manifest['schema']}")
        if manifest["kernel"] != name:
            return None
        scale = manifest["scale"]
        return Meaning(bool(manifest["causal"]), None if scale is None else float(scale))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not what fa4.compile writes: {error!r}") from None
