# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Modules of PTX, and their runs."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ptxsim import _arrays, _native, _parameters
from ptxsim._errors import Deadlock, Fault, PTXError, SimulationError, StepLimit

Extent = Union[int, Sequence[int]]


@dataclass
class Result:
    """What a run did."""

    status: str = "ok"  # or "fault", "deadlock", "step limit"
    message: str = ""  # for people; empty where all is well
    fault: Optional[_native.FaultRecord] = None  # kind, line, text, message, cta, warp
    deadlock: Optional[str] = None  # the report
    warnings: List[_native.FaultRecord] = field(default_factory=list)  # no faults: with race
    ctas: int = 0
    instructions: int = 0  # warp instructions
    tensor_instructions: int = 0
    tma_instructions: int = 0
    seconds: float = 0.0
    tensors: Dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def ok(self) -> bool:
        return self.status == "ok"


class Module:
    """A parsed PTX module: ``Module(text)``. Raises PTXError where the text is not PTX."""

    def __init__(self, text: str):
        parsed = _native.parse(text)
        if isinstance(parsed, _native.Diagnostic):
            raise PTXError(parsed.line, parsed.message, parsed.text)
        self._native = parsed

    def __repr__(self) -> str:
        return f"<ptxsim.Module {', '.join(self.kernels)}>"

    @property
    def kernels(self) -> List[str]:
        """The names of the entries."""
        return self._native.kernels

    def parameters(self, kernel: str = "") -> List[_native.ParameterInfo]:
        """The parameters of a kernel (of the only one, without a name) as PTX declares them."""
        return self._native.parameters(kernel)

    def check(self) -> List[_native.Diagnostic]:
        """Decodes every kernel: the first instruction of each that the simulator refuses."""
        return self._native.check()

    def run(
        self,
        descriptor: Union[str, os.PathLike, Mapping[str, Any], None] = None,
        *,
        tensors: Optional[Mapping[str, Any]] = None,
        scalars: Optional[Mapping[str, float]] = None,
        kernel: str = "",
        grid: Optional[Extent] = None,
        block: Optional[Extent] = None,
        params: Union[Sequence[Any], Mapping[str, Any], None] = None,
        dynamic_shared_bytes: int = 0,
        mode: str = "eager",
        seed: int = 0,
        race: Union[bool, str] = False,
        strict_warps: bool = False,
        poison_loads: bool = False,
        max_steps: int = 0,
        threads: Optional[int] = None,
        progress: Optional[Callable[[int, int, float], Any]] = None,
        check: bool = True,
    ) -> Result:
        """Runs a kernel; the arrays that it writes hold what it wrote afterwards.

        With a launch descriptor (a path, or what is in it as a dict), ``tensors`` are its
        operands by name and ``scalars`` its inputs. Without one, ``grid``, ``block`` and
        ``params`` say what to launch, with ``dynamic_shared_bytes`` of shared memory; ``kernel``
        says which entry, where there are several.

        A tensor is a NumPy array, strided ones included, or a tuple of shape and dtype for a
        new one that is NaN before the run; ``result.tensors`` has them all. A kernel that
        writes to a read-only array faults. A parameter is a number, bytes, an array (its
        address), a list (of the elements of an array, or the members of a struct), or, for a
        tensor map, a dict with ``base`` (an array), ``box``, and, as far as the array does not
        say them, ``type``, ``dims``, ``strides``, ``element_strides``, ``swizzle`` and
        ``oob_fill``, as in a launch descriptor.

        mode          when asynchronous work completes: "eager", "lazy" or "random" by ``seed``
        race          look for races; "formal" asks for tcgen05 fences too
        strict_warps  diverged lanes meet again only at ``.sync`` instructions
        poison_loads  ``tcgen05.ld`` fills registers at ``tcgen05.wait::ld`` only
        max_steps     warp instructions that a CTA may execute; 0 is no limit
        threads       of the host; None is all
        progress      called as progress(done, total, seconds) with the CTAs so far, at most ten
                      times a second and at the end; an exception from it stops the run
        check         raise an exception where the kernel did not come to its end

        Raises Fault, Deadlock or StepLimit, or with ``check=False`` returns such a result. Arrays
        are written only by runs that came to their end. The GIL is free meanwhile, and
        Ctrl-C stops the run.
        """
        start = time.perf_counter()
        if (descriptor is None) == (params is None):
            raise TypeError("expected either a descriptor or 'params'")
        memory, arrays = _native.Memory(), _arrays.Arrays()
        if descriptor is not None:
            for name, given in (("grid", grid), ("block", block), ("kernel", kernel or None)):
                if given is not None:
                    raise TypeError(f"'{name}' is what the descriptor says; it cannot be given")
            launch = _bind(descriptor, tensors or {}, scalars or {}, memory, arrays)
        else:
            if tensors is not None or scalars is not None:
                raise TypeError("'tensors' and 'scalars' need a descriptor; put arrays into 'params'")
            launch = self._explicit(kernel, params, memory, arrays)
            launch.grid, launch.block = _extents("grid", grid), _extents("block", block)
            launch.dynamic_shared_bytes = _integer("dynamic_shared_bytes", dynamic_shared_bytes, 0, (1 << 32) - 1)

        result = Result(tensors={name: operand.array for name, operand in arrays.operands.items()})
        if launch is None:
            return result
        raw = _native.run(
            self._native,
            launch,
            memory,
            mode,
            _integer("seed", seed, 0, (1 << 64) - 1),
            0 if threads is None else _integer("threads", threads, 1, 256),
            _integer("max_steps", max_steps, 0, (1 << 64) - 1),
            bool(strict_warps),
            bool(poison_loads),
            race if isinstance(race, str) else "on" if race else "off",
            progress,
        )
        if raw.status == "error":
            raise ValueError(raw.message)
        result.status, result.ctas, result.instructions = raw.status, raw.ctas, raw.instructions
        result.tensor_instructions, result.tma_instructions = raw.tensor_instructions, raw.tma_instructions
        result.warnings = list(raw.warnings)
        error: Optional[SimulationError] = None
        if raw.status == "ok":
            changed = arrays.read(memory)
            stray = arrays.stray(changed)
            if stray:
                result.status = "fault"
                error = Fault(stray, result, "out-of-bounds")
            else:
                arrays.write_back(changed)
        elif raw.status == "fault":
            fault = result.fault = raw.faults[0]
            error = Fault(str(fault), result, fault.kind, fault.line, fault.text, tuple(fault.cta), fault.warp)
        elif raw.status == "deadlock":
            result.deadlock = raw.message
            error = Deadlock(raw.message, result)
        else:
            error = StepLimit(str(raw), result)
        result.seconds = time.perf_counter() - start
        if error:
            result.message = str(error)
            if check:
                raise error
        elif progress:
            progress(raw.ctas, raw.ctas, result.seconds)
        return result

    def _explicit(
        self, kernel: str, params: Any, memory: _native.Memory, arrays: _arrays.Arrays
    ) -> _native.Launch:
        infos = self._native.parameters(kernel)
        values = _parameters.in_order(infos, params)
        operands: Dict[int, _arrays.Operand] = {}
        for info, value in zip(infos, values):
            for index, array in enumerate(_parameters.arrays_in(value)):
                name = info.name if not isinstance(value, (list, tuple)) else f"{info.name}[{index}]"
                if id(array) not in operands:
                    operands[id(array)] = arrays.add(name, array)
        arrays.place(memory)
        launch = _native.Launch()
        launch.kernel = kernel
        for info, value in zip(infos, values):
            address = lambda array: operands[id(array)].address  # noqa: E731
            try:
                if isinstance(value, Mapping):
                    if info.size != 128:
                        raise ValueError(f"a tensor map has 128 bytes, the parameter {info.size}")
                    _parameters.add_tensor_map(launch, value, address)
                else:
                    launch.add_bytes(_parameters.pack(info, value, address))
            except (TypeError, ValueError) as error:
                raise type(error)(f"parameter '{info.name}': {error}") from None
        return launch


def _bind(
    descriptor: Union[str, os.PathLike, Mapping[str, Any]],
    tensors: Mapping[str, Any],
    scalars: Mapping[str, float],
    memory: _native.Memory,
    arrays: _arrays.Arrays,
) -> Optional[_native.Launch]:
    if isinstance(descriptor, Mapping):
        text, fields = json.dumps(descriptor), descriptor
    else:
        with open(descriptor, encoding="utf-8") as file:
            text = file.read()
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise ValueError(f"{os.fspath(descriptor)}: {error}") from None
    listed = fields.get("tensors") if isinstance(fields, Mapping) else None
    # Whatever else is wrong with the descriptor, the library says.
    types = {}
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
            types[entry["name"]] = entry.get("type")
    for name, value in tensors.items():
        if isinstance(value, tuple) and len(value) == 2:
            value = _arrays.empty(name, *value)
        arrays.add(name, value)
        if isinstance(types.get(name), str):
            _arrays.check_type(name, value, types[name])
    arrays.place(memory)
    operands = []
    for name, operand in arrays.operands.items():
        type = types.get(name) or _arrays.type_of(operand.array)
        array, strides = operand.array, _arrays.element_strides(operand.array)
        operands.append(_native.Tensor(name, type, list(array.shape), strides, operand.address))
    for name, value in scalars.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"scalar '{name}': expected a number, but got {value.__class__.__name__}")
    return _native.bind(text, operands, {name: float(value) for name, value in scalars.items()})


def _integer(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"expected an integer as '{name}', but got {value.__class__.__name__}")
    value = value.__index__()
    if not low <= value <= high:
        raise ValueError(f"expected '{name}' from {low} to {high}, but got {value}")
    return value


def _extents(name: str, value: Any) -> Tuple[int, int, int]:
    """A number, or up to three."""
    if value is None:
        raise TypeError(f"expected '{name}', as there is no descriptor")
    values = list(value) if isinstance(value, Sequence) else [value]
    if not 1 <= len(values) <= 3:
        raise ValueError(f"expected one to three values of '{name}'")
    x, y, z = [_integer(name, v, 1, (1 << 31) - 1) for v in values] + [1] * (3 - len(values))
    return x, y, z
