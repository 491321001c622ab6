# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""From a descriptor and the operands of a call to the arguments of a launch.

It does what lib/Launch/Bind.cpp does, in the same order and with the same messages; a test
compares the two on random problems. Addresses are apart from the rest: a Binding holds for
every call with the same shapes and strides, and `at` gives it addresses. So where several
things are wrong, an address is found out last.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._descriptor import Check, Descriptor, Parameter
from ._expr import Expr, ExprError
from ._tensor_map import TensorMap


@dataclass(frozen=True)
class Operand:
    """One tensor of a call, but for its address: strides in elements."""

    type: str
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]


Addresses = Mapping[str, int]
Value = Union[TensorMap, int, float]


@dataclass(frozen=True)
class MapAt:
    """A tensor map but for its base."""

    where: str
    base: Callable[[Addresses], int]
    blank: TensorMap

    def __call__(self, addresses: Addresses) -> TensorMap:
        result = replace(self.blank, base=self.base(addresses))
        violations = result.violations()
        if violations:
            raise ValueError("\n".join(f"{self.where}: {violation}" for violation in violations))
        return result


@dataclass(frozen=True)
class Binding:
    """What follows from shapes and strides."""

    descriptor: Descriptor
    values: Mapping[str, int]
    skip: bool = False  # nothing to launch: the rest is empty
    grid: Tuple[int, int, int] = (0, 0, 0)
    # One a parameter: what needs an address is a function of the addresses by name.
    parameters: Tuple[Union[Value, Callable[[Addresses], Value]], ...] = ()

    def at(self, addresses: Addresses) -> List[Value]:
        """The values of the parameters; raises ValueError where TMA cannot take an address."""
        return [value(addresses) if callable(value) else value for value in self.parameters]


def bind(
    descriptor: Descriptor, operands: Mapping[str, Operand], scalars: Optional[Mapping[str, float]] = None
) -> Binding:
    """Raises TypeError for an element type, ValueError for all else that does not match."""
    return _Binder(descriptor, operands, scalars or {}).run()


class _Binder:
    def __init__(self, descriptor: Descriptor, operands: Mapping[str, Operand], scalars: Mapping[str, float]) -> None:
        self.d, self.operands, self.scalars = descriptor, operands, scalars
        self.values: Dict[str, int] = {}
        self.broken: Dict[str, str] = {}  # why a derived value is not in values

    def run(self) -> Binding:
        self.check_operands()
        for symbol in self.d.symbols:
            operand = self.operands[symbol.operand]
            self.values[symbol.name] = (operand.strides if symbol.is_stride else operand.shape)[symbol.index]
        self.check_shapes()
        for derived in self.d.derived:
            try:
                self.values[derived.name] = self.evaluate(f"'{derived.name}'", derived.value)
            except ValueError as error:
                self.broken[derived.name] = str(error)
        # Before the checks: the strides of an empty tensor are often 0 and would break
        # rules that nothing depends on.
        if self.evaluate("skip_if", self.d.skip_if):
            return Binding(self.d, self.values, skip=True)
        for i, check in enumerate(self.d.checks):
            if not self.evaluate(f"checks[{i}]", check.require):
                raise ValueError(self.describe(check))
        parameters = [self.parameter(p) for p in self.d.parameters]
        grid = [self.extent(i, expr) for i, expr in enumerate(self.d.grid)]
        return Binding(self.d, self.values, False, (grid[0], grid[1], grid[2]), tuple(parameters))

    def lookup(self, name: str) -> int:
        value = self.values.get(name)
        if value is not None:
            return value
        if name in self.broken:
            raise ExprError(f"'{name}' has no value: {self.broken[name]}")
        raise ExprError(f"unknown symbol '{name}'")

    def evaluate(self, where: str, expr: Expr) -> int:
        try:
            return expr.value_at(self.values)
        except (KeyError, ExprError):
            pass
        try:
            return expr.evaluate(self.lookup)
        except ExprError as error:
            raise ValueError(f"{where}: {error}") from None

    def check_operands(self) -> None:
        for tensor in self.d.tensors:
            where = f"operand '{tensor.name}'"
            operand = self.operands.get(tensor.name)
            if operand is None:
                raise ValueError(f"{where}: expected a tensor, but got none")
            if operand.type != tensor.type:
                raise TypeError(f"{where}: expected {tensor.type}, but got {operand.type}")
            if len(operand.shape) != len(tensor.shape):
                raise ValueError(
                    f"{where}: expected rank {len(tensor.shape)}, but got {len(operand.shape)} {list(operand.shape)}"
                )
        for name in self.operands:
            if all(tensor.name != name for tensor in self.d.tensors):
                raise ValueError(f"operand '{name}': the kernel has no such operand")
        # A scalar that the kernel does not take is one that was meant for another parameter.
        known = sorted({p.input for p in self.d.parameters if p.input})
        for name in sorted(self.scalars):
            if name not in known:
                raise ValueError(
                    f"scalar '{name}': the kernel has no such scalar, it has {', '.join(known) or 'none'}"
                )

    def check_shapes(self) -> None:
        for tensor in self.d.tensors:
            operand = self.operands[tensor.name]
            empty = 0 in operand.shape
            for i, extent in enumerate(operand.shape):
                where = f"operand '{tensor.name}', dimension {i}"
                self.check_equal(where, "extent", tensor.shape[i], extent)
                # Nothing is ever addressed through the stride of a single element.
                if not empty and extent != 1:
                    self.check_equal(where, "stride", tensor.strides[i], operand.strides[i])

    def check_equal(self, where: str, what: str, expr: Expr, got: int) -> None:
        expected = self.evaluate(where, expr)
        if expected != got:
            source = "" if expr.op == "const" else f" ({expr})"
            raise ValueError(f"{where}: expected {what} {expected}{source}, but got {got}")

    def describe(self, check: Check) -> str:
        """The message with its expressions replaced, then what the condition names."""
        text = ""
        for part in check.parts:
            if isinstance(part, Expr):
                try:
                    text += str(part.evaluate(self.lookup))
                except ExprError:
                    text += f"{{{part}}}"
            else:
                text += part
        got = [f"{name} = {self.values[name]}" for name in check.require.names() if name in self.values]
        return text + (f" (got {', '.join(got)})" if got else "")

    def extent(self, i: int, expr: Expr) -> int:
        limit = 65535 if i else 2147483647
        value = self.evaluate(f"grid[{i}]", expr)
        if not 1 <= value <= limit:
            raise ValueError(f"grid[{i}]: expected 1 to {limit} blocks, but got {value} ({expr})")
        return value

    def address(self, where: str, expr: Expr) -> Callable[[Addresses], int]:
        """An expression in which the names of tensors stand for addresses."""
        values = self.values
        if expr.op == "name" and expr.value not in values:
            name = str(expr)
            return lambda addresses: addresses[name]

        def evaluate(addresses: Addresses) -> int:
            def lookup(name: str) -> int:
                value = values.get(name, addresses.get(name))
                return self.lookup(name) if value is None else value

            try:
                value = expr.evaluate(lookup)
            except ExprError as error:
                raise ValueError(f"{where}: {error}") from None
            if value < 0:
                raise ValueError(f"{where}: expected an address, but got {value} ({expr})")
            return value

        return evaluate

    def parameter(self, p: Parameter) -> Union[Value, Callable[[Addresses], Value]]:
        where = f"parameter '{p.name}'"
        if p.kind == "tensor_map":
            return self.tensor_map(where, p)
        if p.kind == "pointer":
            return self.address(where, p.value)  # type: ignore[arg-type]
        if p.kind == "i32":
            value = self.evaluate(where, p.value)  # type: ignore[arg-type]
            if not -(1 << 31) <= value < 1 << 31:
                raise ValueError(
                    f"{where}: expected a value from -2147483648 to 2147483647, but got {value} ({p.value})"
                )
            return value
        return self.f32(where, p)

    def f32(self, where: str, p: Parameter) -> float:
        value = p.factor
        if p.input:
            if p.input not in self.scalars:
                raise ValueError(f"{where}: expected a scalar '{p.input}', but got none")
            value *= self.scalars[p.input]
        largest = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
        if not math.fabs(value) <= largest:
            raise ValueError(f"{where}: expected a finite f32, but got {value:f}")
        return struct.unpack("<f", struct.pack("<f", value))[0]

    def tensor_map(self, where: str, p: Parameter) -> MapAt:
        def all_of(what: str, exprs: Sequence[Expr]) -> Tuple[int, ...]:
            return tuple(self.evaluate(f"{where}.{what}[{i}]", expr) for i, expr in enumerate(exprs))

        base = self.address(f"{where}.base", p.value)  # type: ignore[arg-type]
        dims, strides, box = all_of("dims", p.dims), all_of("strides", p.strides), all_of("box", p.box)
        blank = TensorMap(0, p.type, dims, strides, box, p.swizzle, p.interleave, p.l2_promotion, p.oob_fill)
        return MapAt(where, base, blank)
