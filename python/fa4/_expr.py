# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The integer expressions of launch descriptors (docs/abi.md), parsed and evaluated.

Values are signed, of 64 bits; `/` rounds towards minus infinity. Errors are ExprError, in
the words of the C++ library.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
MAX_DEPTH = 200

# How tight each operator binds. Two characters come before their first.
PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "==": 3,
    "!=": 3,
    "<=": 3,
    ">=": 3,
    "<": 3,
    ">": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
    "%": 5,
}
COMPARISON = 3
FUNCTIONS = {"ceildiv": 2, "min": 2, "max": 2, "select": 3, "log2floor": 1}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_DIGITS = re.compile(r"[0-9]+")
_SPACE = " \t\n\v\f\r"


class ExprError(ValueError):
    """Text that is no expression, or a value that does not exist."""


class Expr:
    """A constant, a name, or an operator or function over operands; immutable."""

    __slots__ = ("op", "value", "operands", "depth", "_compiled")

    def __init__(self, op: str, value: Union[int, str, None] = None, operands: Tuple["Expr", ...] = ()) -> None:
        self.op = op  # "const", "name", or the spelling of an operator or function
        self.value = value
        self.operands = operands
        self.depth: int = 1 + max((operand.depth for operand in operands), default=0)
        self._compiled: Any = None

    def __str__(self) -> str:
        if not self.operands:
            return str(self.value)
        if self.op in FUNCTIONS:
            return f"{self.op}({', '.join(map(str, self.operands))})"
        left, right = self.operands
        return f"{_operand(left, self.op, False)} {self.op} {_operand(right, self.op, True)}"

    def names(self) -> List[str]:
        """The names in it, once each, in order of appearance."""
        found: Dict[str, None] = {}
        _collect(self, found)
        return list(found)

    def evaluate(self, lookup: Callable[[str], int]) -> int:
        """Evaluates only what is needed; `lookup` raises ExprError for a name without a value."""
        op, operands = self.op, self.operands
        if not operands:
            return self.value if op == "const" else lookup(self.value)  # type: ignore[return-value,arg-type]
        first = operands[0].evaluate(lookup)
        if op == "select":
            return operands[1 if first else 2].evaluate(lookup)
        if op == "&&" or op == "||":
            if bool(first) == (op == "||"):
                return int(op == "||")
            return int(operands[1].evaluate(lookup) != 0)
        values = [first] + [operand.evaluate(lookup) for operand in operands[1:]]
        try:
            result = _APPLY[op](*values)
        except ZeroDivisionError:
            raise self._fault("division by zero", values) from None
        if result is None:
            raise self._fault("a logarithm of a value below 1", values)
        if not LOWEST <= result <= HIGHEST:
            raise self._fault("a result beyond 64 bits", values)
        return result

    def value_at(self, values: Mapping[str, int]) -> int:
        """What `evaluate` gives, by code of Python's own from the second time on.

        Raises KeyError for a name without a value, else ExprError.
        """
        if self._compiled is None:
            self._compiled = _ONCE
            return self.evaluate(values.__getitem__)
        if self._compiled is _ONCE:
            self._compiled = _compile(self)
        try:
            return self._compiled(values)  # type: ignore[no-any-return]
        except (ZeroDivisionError, _NoValue):
            return self.evaluate(values.__getitem__)  # which words it

    def _fault(self, what: str, values: List[int]) -> ExprError:
        return ExprError(f"{what} in '{self}' (operands {', '.join(map(str, values))})")


class _NoValue(Exception):
    """A fault of compiled code."""


_ONCE = object()  # in place of the code of an expression that was evaluated once


def _in_range(value: int) -> int:
    if LOWEST <= value <= HIGHEST:
        return value
    raise _NoValue


def _log2floor(value: int) -> int:
    if value < 1:
        raise _NoValue
    return value.bit_length() - 1


def _compile(expr: Expr) -> Any:
    names = {"__builtins__": {}, "in_range": _in_range, "log2floor": _log2floor, "min": min, "max": max}
    try:
        return eval(f"lambda v: {_source(expr)}", names)
    except (SyntaxError, MemoryError, RecursionError):  # too deep for Python
        return lambda values: expr.evaluate(values.__getitem__)


def _source(expr: Expr) -> str:
    """Its text in Python, where `v` has the values of names."""
    if not expr.operands:
        return f"({expr.value})" if expr.op == "const" else f"v[{expr.value!r}]"
    operands = [_source(operand) for operand in expr.operands]
    return _SOURCE[expr.op].format(*operands)


_SOURCE = {
    **{op: "in_range({} %s {})" % op for op in ("+", "-", "*")},
    **{op: "(1 if {} %s {} else 0)" % op for op in ("==", "!=", "<", "<=", ">", ">=")},
    "/": "in_range({} // {})",
    "%": "({} % {})",
    "&&": "(1 if {} and {} else 0)",
    "||": "(1 if {} or {} else 0)",
    "ceildiv": "in_range(-(-{} // {}))",
    "min": "min({}, {})",
    "max": "max({}, {})",
    "select": "({1} if {0} else {2})",
    "log2floor": "log2floor({})",
}

_APPLY: Dict[str, Callable[..., Optional[int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "ceildiv": lambda a, b: -(-a // b),
    "min": min,
    "max": max,
    "log2floor": lambda a: a.bit_length() - 1 if a >= 1 else None,
}


def _operand(operand: Expr, op: str, is_right: bool) -> str:
    """An operand of an operator, in parentheses where the grammar needs them."""
    own, outer = PRECEDENCE.get(operand.op) if operand.operands else None, PRECEDENCE[op]
    if own and (own < outer or own == outer and (is_right or outer == COMPARISON)):
        return f"({operand})"
    return str(operand)


def _collect(expr: Expr, found: Dict[str, None]) -> None:
    if expr.op == "name":
        found[expr.value] = None  # type: ignore[index]
    for operand in expr.operands:
        _collect(operand, found)


def is_name(text: str) -> bool:
    """Whether `text` is a name of the grammar and not a function's."""
    return _NAME.fullmatch(text) is not None and text not in FUNCTIONS


def constant(value: int) -> Expr:
    return Expr("const", value)


def parse(text: str) -> Expr:
    """Raises ExprError with the column."""
    try:
        result = _Parser(text).parse()
    except RecursionError:
        raise ExprError(f"the expression nests too deep, expected at most {MAX_DEPTH} levels") from None
    if result.depth > MAX_DEPTH:
        raise ExprError(f"the expression nests {result.depth} deep, expected at most {MAX_DEPTH}")
    return result


class _Parser:
    """Precedence climbing: few Python frames a level, as Python's stack is short."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    def parse(self) -> Expr:
        result = self.level(1)
        if self.position != len(self.text):
            raise self.expected("an operator or the end of the text")
        return result

    def skip_space(self) -> None:
        while self.position < len(self.text) and self.text[self.position] in _SPACE:
            self.position += 1

    def error(self, message: str) -> ExprError:
        return ExprError(f"column {self.position + 1}: {message}")

    def expected(self, what: str) -> ExprError:
        self.skip_space()
        if self.position == len(self.text):
            here = "the end of the text"
        else:
            name = _NAME.match(self.text, self.position)
            here = f"'{name[0] if name else self.text[self.position]}'"
        return self.error(f"expected {what}, but got {here}")

    def consume(self, token: str) -> bool:
        self.skip_space()
        if not self.text.startswith(token, self.position):
            return False
        self.position += len(token)
        return True

    def operator(self) -> Optional[str]:
        self.skip_space()
        for op in PRECEDENCE:
            if self.text.startswith(op, self.position):
                return op
        return None

    def level(self, lowest: int) -> Expr:
        result = self.unary()
        compared = False
        while True:
            op = self.operator()
            if op is None or PRECEDENCE[op] < lowest:
                return result
            precedence = PRECEDENCE[op]
            if precedence == COMPARISON and compared:
                raise self.expected("parentheses around one of the comparisons")
            if self.depth + result.depth >= MAX_DEPTH:
                raise self.too_deep()
            self.position += len(op)
            result = Expr(op, None, (result, self.level(precedence + 1)))
            compared = precedence == COMPARISON

    def too_deep(self) -> ExprError:
        return self.error(f"the expression nests too deep, expected at most {MAX_DEPTH} levels")

    def unary(self) -> Expr:
        if not self.consume("-"):
            return self.atom()
        self.skip_space()
        # A negative number is one constant, so that -2^63 can be written.
        if _DIGITS.match(self.text, self.position):
            return self.number(negative=True)
        self.enter()
        operand = self.unary()
        self.depth -= 1
        return Expr("-", None, (constant(0), operand))

    def enter(self) -> None:
        self.depth += 1
        if self.depth >= MAX_DEPTH:
            raise self.too_deep()

    def number(self, negative: bool = False) -> Expr:
        digits = _DIGITS.match(self.text, self.position)[0]  # type: ignore[index]
        value = -int(digits) if negative else int(digits)
        if not LOWEST <= value <= HIGHEST:
            raise self.error(f"expected a number that fits 64 bits, but got '{digits}'")
        self.position += len(digits)
        if self.position < len(self.text) and re.match(r"[A-Za-z_]", self.text[self.position]):
            raise self.expected("an operator after the number")
        return constant(value)

    def atom(self) -> Expr:
        self.skip_space()
        self.enter()
        if self.consume("("):
            result = self.level(1)
            if not self.consume(")"):
                raise self.expected("')'")
        elif _DIGITS.match(self.text, self.position):
            result = self.number()
        else:
            result = self.name()
        self.depth -= 1
        return result

    def name(self) -> Expr:
        match = _NAME.match(self.text, self.position)
        if not match:
            raise self.expected("a number, a symbol, a function or '('")
        name = match[0]
        self.position = match.end()
        if name in FUNCTIONS:
            return self.call(name)
        self.skip_space()
        if self.text.startswith("(", self.position):
            raise self.error(f"expected ceildiv, min, max, select or log2floor before '(', but got '{name}'")
        return Expr("name", name)

    def call(self, name: str) -> Expr:
        count = FUNCTIONS[name]
        if not self.consume("("):
            raise self.expected(f"'(' after {name}")
        operands: List[Expr] = []
        for i in range(count):
            if i and not self.consume(","):
                raise self.expected(f"',' and operand {i + 1} of {count} of {name}")
            operands.append(self.level(1))
        if not self.consume(")"):
            raise self.expected(f"')' after {count} operand{'' if count == 1 else 's'} of {name}")
        return Expr(name, None, tuple(operands))
