# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Strided views: whatever the strides, the result is that of the compact copy, to the
bit. What lies between the rows of an input is NaN and must never be read; what lies
between the rows of an output must stay as it was."""

from harness import Inputs, Problem
from storage import Layout, bhsd, expanded, pitched, sbhd, subview
from suite import Suite

suite = Suite("layouts")


def views(problem):
    """Name and layouts of the ways to lay the operands out."""
    shapes = {n: problem.shape(n) for n in "qkvo"}
    yield "bhsd", {n: bhsd(s) for n, s in shapes.items()}
    yield "sbhd", {n: sbhd(s) for n, s in shapes.items()}
    for name in "qkvo":
        yield f"{name} bhsd alone", {name: bhsd(shapes[name])}
    # Rows 7 on of a longer buffer, columns 64 on of a wider one.
    padded = {}
    for n, (b, s, h, d) in shapes.items():
        padded[n] = subview((b + 1, s + 20, h + 2, d + 64), (1, 7, 1, 64), (b, s, h, d))
    yield "padded", padded
    # L3: one buffer [B, S, Hq + 2 Hkv, D] holds q, k and v.
    if problem.sq == problem.skv:
        b, s, d, hq, hkv = problem.b, problem.sq, problem.d, problem.hq, problem.hkv
        fused = (b, s, hq + 2 * hkv, d)
        yield "L3 fused", {
            "q": subview(fused, (0, 0, 0, 0), shapes["q"]),
            "k": subview(fused, (0, 0, hq, 0), shapes["k"]),
            "v": subview(fused, (0, 0, hq + hkv, 0), shapes["v"]),
        }
    yield "pitched", {n: pitched(s, s[2] * s[3] + 8 * (i + 1)) for i, (n, s) in enumerate(shapes.items())}


def expansions(problem):
    shapes = {n: problem.shape(n) for n in "qkv"}
    yield "k v over batch", {n: expanded(shapes[n], (0,)) for n in "kv"}
    yield "k v over heads", {n: expanded(shapes[n], (2,)) for n in "kv"}
    yield "q over heads", {"q": expanded(shapes["q"], (2,))}
    yield "k over keys", {"k": expanded(shapes["k"], (1,))}


problems = (
    Problem(2, 65, 130, 4, 2, 64, True),
    Problem(2, 70, 70, 4, 2, 128, False, "bf16"),
    Problem(1, 130, 130, 3, 1, 128, True),
)
for number, problem in enumerate(problems if suite.full else problems[1:2]):
    inputs = Inputs.normal(problem, 5)
    plain = suite.check(f"{number} compact", problem, inputs)
    for name, layouts in views(problem):
        for dynamic in (frozenset(), frozenset(("layout",))):
            name += " dynamic" if dynamic else ""
            strided = problem.but(layouts=layouts, dynamic=dynamic)
            output = suite.check(f"{name} {number}", strided, inputs)
            if output and plain:
                suite.expect(name, strided, output.same_bits(plain), "differs from the compact copy")
    for name, layouts in expansions(problem):
        # The storage is shared, so the values that the copy has are those that the view shows.
        shown = Inputs(inputs.q.copy(), inputs.k.copy(), inputs.v.copy(), problem.dtype)
        for operand, layout in layouts.items():
            values = getattr(shown, operand)
            for dim in range(3):
                if layout.strides[dim] == 0:
                    values[...] = values.take([0], axis=dim)
        strided = problem.but(layouts=layouts)
        output = suite.check(f"{number} {name}", strided, shown)
        copy = suite.check(f"{number} {name} copied", problem, shown)
        if output and copy:
            suite.expect(name, strided, output.same_bits(copy), "differs from the compact copy")

def same(name, problem, layouts, inputs):
    """The view and the compact copy, with equal bits."""
    copy = suite.check(f"{name} copied", problem, inputs)
    view = suite.check(name, problem.but(layouts=layouts), inputs)
    moved = suite.check(f"{name} dynamic", problem.but(layouts=layouts, dynamic=frozenset(("layout",))), inputs)
    for output in (view, moved):
        if copy and output:
            suite.expect(name, problem, output.same_bits(copy), "differs from the compact copy")


for dtype in ("f16", "bf16") if suite.full else ("f16",):
    # L1: Q, K and V lie as [B, H, S, D].
    problem = Problem(2, 65, 130, 4, 2, 64, True, dtype)
    same(f"L1 {dtype}", problem, {n: bhsd(problem.shape(n)) for n in "qkv"}, Inputs.normal(problem, 1))
    # L8: K and V are the same for each batch; then Q for each head.
    for causal in (False, True) if suite.full else (False,):
        problem = Problem(4, 17, 65, 2, 2, 64, causal, dtype)
        inputs = Inputs.normal(problem, 8)
        inputs.k[...], inputs.v[...] = inputs.k[:1], inputs.v[:1]
        same(f"L8 k v {causal} {dtype}", problem, {n: expanded(problem.shape(n), (0,)) for n in "kv"}, inputs)
        inputs = Inputs.normal(problem, 9)
        inputs.q[...] = inputs.q[:, :, :1]
        same(f"L8 q {causal} {dtype}", problem, {"q": expanded(problem.shape("q"), (2,))}, inputs)

# L5: what TMA cannot take is refused with the operand, the dimension, the bytes and the rule.
problem = Problem(1, 8, 70, 2, 1, 64)
for operand in "qkvo":
    shape = problem.shape(operand)
    for pitch in (1733, shape[2] * 64 + 1):
        odd = problem.but(layouts={operand: pitched(shape, pitch)})
        words = (f"'{operand}' dimension 1", str(2 * pitch), "multiple of 16", "TMA")
        suite.refused(f"L5 {operand} pitch {pitch}", odd, words)
        words = (f"'{operand}' (dimension 1)", str(2 * pitch), "multiple of 16", "TMA")
        suite.refused(f"L5 {operand} pitch {pitch} dynamic", odd.but(dynamic=frozenset(("layout",))), words)
several = problem.but(b=2)
for dim in range(3):
    suite.refused(
        f"o expanded {dim}",
        several.but(layouts={"o": expanded(several.shape("o"), (dim,))}),
        ("'o'", f"dimension {dim}", "stride other than 0"),
    )
    suite.refused(
        f"o expanded {dim} dynamic",
        several.but(layouts={"o": expanded(several.shape("o"), (dim,))}, dynamic=frozenset(("layout",))),
        ("'o'", f"dimension {dim}", "from 2 to 2^40"),
    )
# L7: every other element; L7 for K: a column after the other.
for operand in "qkvo":
    b, s, h, d = problem.shape(operand)
    apart = Layout((s * h * d * 2, h * d * 2, d * 2, 2))
    suite.refused(f"L7 {operand}", problem.but(layouts={operand: apart}), (f"'{operand}' dimension 3", "stride 1", "2"))
b, s, h, d = problem.shape("k")
by_column = Layout((s * h * d, 1, d * s, s))
suite.refused("L7 k by columns", problem.but(layouts={"k": by_column}), ("'k' dimension 3", "stride 1"))

suite.finish()
