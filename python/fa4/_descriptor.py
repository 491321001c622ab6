# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The launch descriptor, read from JSON; docs/abi.md specifies it.

Reading is strict: a missing or unknown field, another schema or a name that is used before
it is defined raises DescriptorError, which says where.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Set, Tuple

from . import _tensor_map as maps
from ._expr import Expr, ExprError, constant, is_name, parse

SCHEMA = 1
_REQUIRED = object()


class DescriptorError(ValueError):
    """A launch descriptor that cannot be read."""


@dataclass(frozen=True)
class Tensor:
    name: str
    type: str
    shape: Tuple[Expr, ...]
    strides: Tuple[Expr, ...]


@dataclass(frozen=True)
class Symbol:
    name: str
    operand: str
    is_stride: bool
    index: int


@dataclass(frozen=True)
class Derived:
    name: str
    value: Expr


@dataclass(frozen=True)
class Check:
    require: Expr
    message: str
    parts: Tuple[Any, ...]  # of the message: text and Expr


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str
    offset: int  # in the kernel's parameter space, bytes
    value: Optional[Expr] = None  # of a pointer or an i32; the base of a tensor map
    type: str = ""
    dims: Tuple[Expr, ...] = ()
    strides: Tuple[Expr, ...] = ()
    box: Tuple[Expr, ...] = ()
    swizzle: str = "none"
    interleave: str = "none"
    l2_promotion: str = "none"
    oob_fill: str = "zero"
    input: str = ""
    factor: float = 0.0


# Bytes and alignment in the parameter space.
SIZES = {"tensor_map": (128, 64), "pointer": (8, 8), "i32": (4, 4), "f32": (4, 4)}


@dataclass(frozen=True)
class Descriptor:
    kernel: str
    chip: str
    ptx: str
    versions: Dict[str, str]
    tensors: Tuple[Tensor, ...]
    symbols: Tuple[Symbol, ...]
    derived: Tuple[Derived, ...]
    checks: Tuple[Check, ...]
    skip_if: Expr
    parameters: Tuple[Parameter, ...]
    grid: Tuple[Expr, Expr, Expr]
    block: Tuple[int, int, int]
    dynamic_shared_bytes: int
    roles: Tuple[Tuple[str, int, int], ...] = field(default=())  # name, warps, registers a thread

    @staticmethod
    def parse(text: str) -> "Descriptor":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DescriptorError(f"no JSON: {error}") from None
        fields = _Fields(value, "")
        descriptor = _read(fields)
        _verify(descriptor)
        return descriptor

    def parameter_bytes(self) -> int:
        last = self.parameters[-1] if self.parameters else None
        return last.offset + SIZES[last.kind][0] if last else 0


class _Fields:
    """The fields of one object, each taken by name."""

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise DescriptorError(f"{path or 'the descriptor'}: expected an object")
        self.value, self.path, self.left = value, path, set(value)

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def take(self, name: str, kind: type, default: Any = _REQUIRED) -> Any:
        self.left.discard(name)
        if name not in self.value:
            if default is _REQUIRED:
                raise DescriptorError(f"{self.at(name)}: the field is missing")
            return default
        value = self.value[name]
        if isinstance(value, bool) or not isinstance(value, kind):
            words = {str: "a string", int: "an integer", list: "an array", dict: "an object"}
            raise DescriptorError(f"{self.at(name)}: expected {words.get(kind, 'a number')}")
        return value

    def choice(self, name: str, choices: Dict[str, Any]) -> str:
        value = self.take(name, str)
        if value not in choices:
            raise DescriptorError(f"{self.at(name)}: expected one of {', '.join(choices)}, but got '{value}'")
        return value

    def expr(self, name: str) -> Expr:
        value = self.take(name, object)
        return _expr(value, self.at(name))

    def exprs(self, name: str) -> Tuple[Expr, ...]:
        return tuple(_expr(v, f"{self.at(name)}[{i}]") for i, v in enumerate(self.take(name, list)))

    def objects(self, name: str) -> List["_Fields"]:
        return [_Fields(v, f"{self.at(name)}[{i}]") for i, v in enumerate(self.take(name, list))]

    def finish(self) -> None:
        if self.left:
            raise DescriptorError(f"{self.at(min(self.left))}: unknown field")


def _expr(value: Any, where: str) -> Expr:
    if isinstance(value, int) and not isinstance(value, bool):
        return constant(value)
    if not isinstance(value, str):
        raise DescriptorError(f"{where}: expected an integer or an expression")
    try:
        return parse(value)
    except ExprError as error:
        raise DescriptorError(f"{where}: in '{value}', {error}") from None


def _message(text: str, where: str) -> Tuple[Any, ...]:
    """Splits a message into text and the expressions in braces."""
    parts: List[Any] = []
    plain, i = "", 0
    while i < len(text):
        if text[i : i + 2] in ("{{", "}}"):
            plain, i = plain + text[i], i + 2
        elif text[i] == "{":
            end = text.find("}", i)
            if end < 0:
                raise DescriptorError(f"{where}: column {i + 1}: expected '}}' after '{{'")
            parts += [plain, _expr(text[i + 1 : end], where)]
            plain, i = "", end + 1
        elif text[i] == "}":
            raise DescriptorError(f"{where}: column {i + 1}: expected '{{' before '}}'")
        else:
            plain, i = plain + text[i], i + 1
    return tuple(parts + [plain])


def _read(f: _Fields) -> Descriptor:
    schema = f.take("schema", int)
    if schema != SCHEMA:
        raise DescriptorError(f"schema: expected {SCHEMA}, but got {schema}")
    versions = _Fields(f.take("versions", dict), "versions")
    tensors = [
        Tensor(t.take("name", str), t.choice("type", maps.TYPES), t.exprs("shape"), t.exprs("strides"))
        for t in _finished(f.objects("tensors"), {"name", "type", "shape", "strides"})
    ]
    symbols = [_symbol(s) for s in f.objects("symbols")]
    derived = [
        Derived(d.take("name", str), d.expr("value")) for d in _finished(f.objects("derived"), {"name", "value"})
    ]
    checks = []
    for c in _finished(f.objects("checks"), {"require", "message"}):
        message = c.take("message", str)
        checks.append(Check(c.expr("require"), message, _message(message, c.at("message"))))
    parameters: List[Parameter] = []
    end = 0
    for p in f.objects("parameters"):
        parameter, end = _parameter(p, end)
        parameters.append(parameter)
    grid, block = f.exprs("grid"), f.take("block", list)
    if len(grid) != 3 or len(block) != 3 or not all(type(n) is int for n in block):
        raise DescriptorError("expected 3 entries in grid and 3 integers in block")
    roles = tuple((r.take("name", str), r.take("warps", int), r.take("registers", int)) for r in f.objects("roles"))
    descriptor = Descriptor(
        f.take("kernel", str), f.take("chip", str), f.take("ptx", str),
        {name: versions.take(name, str) for name in ("fa4", "llvm", "ptxas")},
        tuple(tensors), tuple(symbols), tuple(derived), tuple(checks), f.expr("skip_if"), tuple(parameters),
        grid, tuple(block), f.take("dynamic_shared_bytes", int), roles,
    )  # fmt: skip
    versions.finish()
    f.finish()
    return descriptor


def _finished(objects: List[_Fields], known: Set[str]) -> List[_Fields]:
    for entry in objects:
        entry.left -= known
        entry.finish()
    return objects


def _symbol(f: _Fields) -> Symbol:
    is_stride = "stride" in f.value
    symbol = Symbol(
        f.take("name", str), f.take("operand", str), is_stride, f.take("stride" if is_stride else "dim", int)
    )
    f.finish()
    return symbol


def _parameter(f: _Fields, end: int) -> Tuple[Parameter, int]:
    name, kind = f.take("name", str), f.choice("kind", SIZES)
    size, alignment = SIZES[kind]
    offset = -(-end // alignment) * alignment
    if kind == "tensor_map":
        parameter = Parameter(
            name, kind, offset, f.expr("base"), f.choice("type", maps.TYPES), f.exprs("dims"), f.exprs("strides"),
            f.exprs("box"), f.choice("swizzle", maps.SWIZZLES), f.choice("interleave", maps.INTERLEAVES),
            f.choice("l2_promotion", maps.PROMOTIONS), f.choice("oob_fill", maps.FILLS),
        )  # fmt: skip
        rank = len(parameter.dims)
        if not 1 <= rank <= 5 or len(parameter.strides) != rank - 1 or len(parameter.box) != rank:
            raise DescriptorError(f"{f.path}: expected 1 to 5 dims, a stride less and as many in box")
    elif kind == "f32":
        parameter = Parameter(
            name, kind, offset, input=f.take("input", str, ""), factor=float(f.take("factor", (int, float)))
        )  # type: ignore[arg-type]
    else:
        parameter = Parameter(name, kind, offset, f.expr("value"))
    f.finish()
    return parameter, offset + size


def _verify(d: Descriptor) -> None:
    """Names are new, and defined before they are used."""
    tensors = {t.name: t for t in d.tensors}
    values: Set[str] = set()

    def define(where: str, name: str) -> None:
        if not is_name(name) or name in values:
            raise DescriptorError(f"{where}: expected a new name such as 'Sq' or 'q.stride0', but got '{name}'")
        values.add(name)

    def known(where: str, exprs: Any, names: Any = ()) -> None:
        for expr in exprs:
            for name in expr.names():
                if name not in values and name not in names:
                    raise DescriptorError(f"{where}: unknown symbol '{name}' in '{expr}'")

    if len(tensors) != len(d.tensors):
        raise DescriptorError("tensors: expected names of their own")
    for i, s in enumerate(d.symbols):
        if s.operand not in tensors or not 0 <= s.index < len(tensors[s.operand].shape):
            raise DescriptorError(f"symbols[{i}]: expected a dimension of a tensor, but got {s.operand}[{s.index}]")
        define(f"symbols[{i}].name", s.name)
    for i, t in enumerate(d.tensors):
        if len(t.shape) != len(t.strides):
            raise DescriptorError(f"tensors[{i}].strides: expected {len(t.shape)} entries")
        known(f"tensors[{i}]", t.shape + t.strides)
    for i, v in enumerate(d.derived):
        known(f"derived[{i}].value", [v.value])
        define(f"derived[{i}].name", v.name)
    for i, c in enumerate(d.checks):
        known(f"checks[{i}]", [c.require] + [p for p in c.parts if isinstance(p, Expr)])
    known("skip_if", [d.skip_if])
    for i, p in enumerate(d.parameters):
        known(f"parameters[{i}]", p.dims + p.strides + p.box + ((p.value,) if p.value and p.kind == "i32" else ()))
        if p.kind in ("tensor_map", "pointer") and p.value:
            known(f"parameters[{i}]", [p.value], tensors)
    known("grid", d.grid)
    if not all(1 <= n <= 1024 for n in d.block) or d.block[0] * d.block[1] * d.block[2] > 1024:
        raise DescriptorError(f"block: expected at most 1024 threads, but got {list(d.block)}")
    if not 0 <= d.dynamic_shared_bytes <= 232448:
        raise DescriptorError(f"dynamic_shared_bytes: expected 0 to 232448, but got {d.dynamic_shared_bytes}")
