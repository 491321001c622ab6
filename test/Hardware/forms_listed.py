# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test/Sim/forms.txt lists of arithmetic, comparison and conversion and the other generators leave out, from its own text."""

import re

import coverage
from forms_base import Form, Rows

SECTIONS = ("comparison and selection", "f32", "f64", "half precision", "conversion")
WITHIN = {"h": "h", "r": "w", "f": "w", "d": "x", "g": "x"}
POOL = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16", "f16x2": "f16", "bf16x2": "bf16"}


def form(opcode, text):
    """The text over the registers of a row: sources 2, 3, 4 are slots 0, 1, 2; %p1 or %p3 as a source is %c."""
    operands = [o.strip() for o in text[len(opcode):].rstrip(";").split(",")]
    target, sources = operands[0], operands[1:]
    moved = []
    for o in sources:
        o = re.sub(r"%p\d", "%c", o)
        moved.append(re.sub(r"%([hrfdg])(\d)", lambda m: "%%%s%d" % (WITHIN[m.group(1)], int(m.group(2)) - 2), o))
    tail = ", ".join(moved)
    name = opcode + (" !c" if "!%c" in tail else "")
    # f64 arithmetic may return any NaN.
    bound = "nan" if opcode.endswith(".f64") and opcode.split(".")[0] in ("add", "sub", "mul", "mad") else ""
    if target == "%p1|%p2":
        code = "%s %%p|%%q, %s; selp.b32 %%wd, 1, 0, %%p; selp.b32 %%w31, 2, 0, %%q; or.b32 %%wd, %%wd, %%w31;" % (opcode, tail)
        return Form(code, "b", name)
    if target == "%p1":
        return Form("%s %%p, %s; selp.b32 %%wd, 1, 0, %%p;" % (opcode, tail), "b", name)
    kind = WITHIN[target[1]]
    return Form("%s %%%sd, %s;" % (opcode, kind, tail), kind, name, bound)


def entries():
    groups, names = {}, set()
    for _, opcode, text in coverage.missing(*SECTIONS):
        f = form(opcode, text)
        pool = POOL.get(opcode.split(".")[-1], "int")
        if ".oob" in opcode:
            pool += "oob"
        if f.name not in names:
            names.add(f.name)
            groups.setdefault(pool, []).append(f)
    rows = []
    for pool, list_ in sorted(groups.items()):
        rows.append(Rows("listed_" + pool, [pool, pool, pool, "int"], list_, 96))
    return {"listed": rows}
