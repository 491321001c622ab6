# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every spelling of loads, stores, atomics, moves and address conversions that the other generators leave out: qualifiers,
scopes, windows of shared memory, cache hints, types."""

import re

import coverage
from forms_base import Form, Rows, op, predicate
from forms_memory import MODULE, PLACES, PROLOGUE

# %ln: 128 bytes of the thread's own in global memory.
LINES = "\n.global .align 128 .b8 lines[4096];\n"
EXTRA = " .reg .b128 %q0, %q1, %q2; .reg .b64 %ln, %pol; .reg .f32 %e<8>; .reg .f64 %dd<4>; .reg .b64 %sl;\n" \
    " mov.u64 %ln, lines; mad.wide.u32 %ln, %t, 128, %ln; cvt.u64.u32 %sl, %s;\n" \
    " createpolicy.fractional.L2::evict_last.b64 %pol, 1.0;\n"
KINDS = {"8": "h", "6": "h", "2": "w", "4": "x"}


def missing(section):
    """Opcodes that the other families have not."""
    return dict.fromkeys(opcode for _, opcode, _ in coverage.missing(section))


def places(opcode):
    """(name, address, space for plain accesses) of where an opcode works."""
    parts = opcode.split(".")
    if "global" in parts:
        return [("global", "%g", ".global")]
    if any(p.startswith("shared") for p in parts):
        return [("shared", "%s", ".shared")]
    if "local" in parts:
        return [("local", "%l", ".local")]
    return [("generic global", "%gg", ""), ("generic shared", "%sg", "")]


def fill(place, space, first=0):
    return "".join("st%s.b64 [%s+%d], %%x%d; " % (space, place, 8 * k, (k + first) % 4) for k in range(4))


def back(place, space):
    """All 32 bytes folded into %xd, each word with a weight of its own."""
    code = " ld%s.b64 %%xd, [%s];" % (space, place)
    for k in (1, 2, 3):
        code += " ld%s.b64 %%x9, [%s+%d]; mad.lo.u64 %%xd, %%xd, 5, %%x9;" % (space, place, 8 * k)
    return code


def typed(opcode):
    """Register prefix of the type, and how many registers."""
    parts = opcode.split(".")
    n = next((int(p[1]) for p in parts if re.fullmatch(r"v\d", p)), 1)
    t = next(p for p in reversed(parts) if re.fullmatch(r"[busf]\d+(x2)?|bf16(x2)?", p))
    if t == "b128":
        return t, "q", n
    if t == "f32":
        return t, "e", n
    if t == "f64":
        return t, "dd", n
    return t, ("w" if t.endswith("x2") else KINDS[t[-1]]), n


def vector(kind, n, first):
    regs = ["%%%s%d" % (kind, first + k) for k in range(n)]
    return regs[0] if n == 1 else "{" + ", ".join(regs) + "}"


def fold(t, kind, n, first):
    """n registers into %xd."""
    code = " mov.b64 %xd, 0;"
    for k in range(first, first + n):
        word = {"x": "mov.b64 %%x9, %%x%d;", "dd": "mov.b64 %%x9, %%dd%d;", "w": "cvt.u64.u32 %%x9, %%w%d;",
                "e": "mov.b32 %%w9, %%e%d; cvt.u64.u32 %%x9, %%w9;", "h": "cvt.u64.u16 %%x9, %%h%d;",
                "q": "mov.b128 {%%x8, %%x9}, %%q%d; mad.lo.u64 %%x9, %%x8, 3, %%x9;"}[kind] % k
        code += " " + word + " mad.lo.u64 %xd, %xd, 5, %x9;"
    return code


def sources(kind, n, first=0):
    """Code that puts n values into registers from `first` on, where rows do not do so."""
    if kind == "q":
        return "".join("mov.b128 %%q%d, {%%x%d, %%x%d}; " % (k, k % 4, (k + 1) % 4) for k in range(first, first + n))
    if kind == "e":
        return "".join("mov.b32 %%e%d, %%w%d; " % (k, k % 4) for k in range(first, first + n))
    if kind == "dd":
        return "".join("mov.b64 %%dd%d, %%x%d; " % (k, k % 4) for k in range(first, first + n))
    if kind == "h" and n > 4:
        return "".join("cvt.u16.u32 %%h%d, %%w%d; " % (k, k % 4) for k in range(4, first + n))
    return ""


def load(opcode):
    t, kind, n = typed(opcode)
    hint = ", %pol" if "cache_hint" in opcode else ""
    if ".const" in opcode:
        head = "and.b64 %x9, %x0, 0x10; add.u64 %x9, %cc, %x9; "
        yield Form(head + "%s %s, [%%x9+8];" % (opcode, vector(kind, n, 4 if kind in "hwx" else 0)) +
                   fold(t, kind, n, 4 if kind in "hwx" else 0), "x", opcode)
        return
    first = {"h": 4, "w": 4, "x": 10}.get(kind, 0)
    registers = vector(kind, n, first)
    if ".nc" in opcode or opcode.startswith("ldu"):  # nothing may write there
        yield Form("%s %s, [%%i]%s;" % (opcode, registers, hint) + fold(t, kind, n, first), "x", opcode)
        return
    for name, place, space in places(opcode):
        yield Form(fill(place, space) + "%s %s, [%s+16]%s;" % (opcode, registers, place, hint) + fold(t, kind, n, first), "x",
                   "%s (%s)" % (opcode, name))


def store(opcode):
    t, kind, n = typed(opcode)
    hint = ", %pol" if "cache_hint" in opcode else ""
    for name, place, space in places(opcode):
        code = fill(place, space, 1) + sources(kind, n) + "%s [%s+16], %s%s;" % (opcode, place, vector(kind, n, 0), hint)
        yield Form(code + back(place, space), "x", "%s (%s)" % (opcode, name))


def cached(opcode):
    """prefetch, createpolicy, applypriority, discard: memory holds what it held, or what is stored afterwards."""
    if opcode.startswith("prefetch"):
        for name, place, space in places(opcode):
            if "shared" not in name:
                place = "%i" if opcode == "prefetchu.L1" else place
                code = fill(place, space) if place != "%i" else ""
                yield Form(code + "%s [%s];" % (opcode, place) + back(place, space), "x", opcode)
    elif opcode.startswith("createpolicy.fractional"):
        for share in ("",) if opcode == "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64" else ("", ", 0.5"):
            yield Form("%s %%x10%s; st.global.b64 [%%g], %%x1; ld.global.L2::cache_hint.b64 %%xd, [%%g], %%x10;" % (opcode, share), "x", opcode + share)
    elif opcode.startswith("createpolicy.range"):
        code = "mov.b32 %%w9, 64; mov.b32 %%w10, 128; %s %%x10, [%%ln], %%w9, %%w10; st.global.b64 [%%ln], %%x1; ld.global.L2::cache_hint.b64 %%xd, [%%ln], %%x10;" % opcode
        yield Form(code, "x", opcode)
    elif opcode.startswith("applypriority"):
        yield Form(fill("%ln", ".global") + "%s [%%ln], 128;" % opcode + back("%ln", ".global"), "x", opcode)
    elif opcode.startswith("discard"):  # drops what was there
        yield Form("%s [%%ln], 128; " % opcode + fill("%ln", ".global", 1) + back("%ln", ".global"), "x", opcode)


def memory():
    for opcode in missing("loads and stores"):
        name = opcode.split(".")[0]
        if opcode.startswith(("ld.param", "st.param")):
            continue
        yield from load(opcode) if name in ("ld", "ldu") else store(opcode) if name == "st" else cached(opcode)


def atomics():
    """On the thread's own bytes: the old value and what stays, folded into one word."""
    for opcode in missing("atomics"):
        t, kind, n = typed(opcode)
        hint = ", %pol" if "cache_hint" in opcode else ""
        red = opcode.startswith("red")
        for name, place, space in places(opcode):
            code = fill(place, space)
            # Operands have registers of their own: ptxas 13.0 takes the upper half of an f16x2 that is the low word of a
            # 64-bit register from the register after it.
            if kind == "w":
                code += "".join("xor.b32 %%w%d, %%w%d, 0x10; " % (20 + k, (k + 1) % 4) for k in range(n))
                value = vector("w", n, 20)
            elif kind == "h":
                code += "".join("add.u16 %%h%d, %%h%d, 2; " % (4 + k, (k + 1) % 4) for k in range(n))
                value = vector("h", n, 4)
            else:
                code += sources(kind, n)
                value = vector(kind, n, {"q": 0, "x": 1}.get(kind, 0))
            old = {"w": 12, "h": 12, "x": 10, "e": 4, "dd": 3, "q": 2}[kind]
            to = vector(kind, n, old)
            after = back(place, space)
            if not red:
                after = fold(t, kind, n, old) + " mov.b64 %x11, %xd;" + after + " mad.lo.u64 %xd, %xd, 7, %x11;"
            if ".cas." in opcode:
                for expect, what in (("0", "met"), ("1", "not met")):
                    other = vector(kind, n, 1 if kind == "q" else 2)
                    if kind == "q":
                        swap = "mov.b128 %q0, {%x0, %x1}; mov.b128 %q1, {%x2, %x1}; "
                        first = "%q" + expect
                        other = "%q1"
                    else:
                        swap, first = "", "%%%s%s" % (kind, expect)
                    yield Form(code + swap + "%s %s, [%s], %s, %s;" % (opcode, to, place, first, other) + after, "x",
                               "%s, %s (%s)" % (opcode, what, name))
                continue
            operands = "[%s], %s%s;" % (place, value, hint)
            yield Form(code + opcode + " " + (operands if red else to + ", " + operands) + after, "x", "%s (%s)" % (opcode, name))
            if opcode == "atom.global.add.L2::cache_hint.u32":
                yield Form(fill(place, space) + "atom.global.add.u32 _, [%g], %w1;" + back(place, space), "x", "atom.global.add.u32 _")


def moves():
    out = [op("mov." + t, [k], k) for t, k in (("b16", "h"), ("u16", "h"), ("s16", "h"), ("s32", "w"), ("s64", "x"), ("f32", "w"), ("f64", "x"))]
    out.append(Form("mov.b128 %q1, {%x0, %x1}; mov.b128 %q2, %q1; mov.b128 {%x9, %x10}, %q2; mad.lo.u64 %xd, %x9, 3, %x10;", "x", "mov.b128"))
    out.append(Form("and.b64 %x9, %x0, 0x18; mov.u64 %x10, table; cvta.const.u64 %x10, %x10; add.u64 %x10, %x10, %x9; ld.b64 %xd, [%x10];",
                    "x", "cvta.const.u64"))
    out.append(Form("mov.u64 %x10, table; cvta.const.u64 %x10, %x10; cvta.to.const.u64 %x10, %x10; ld.const.b64 %xd, [%x10+8];", "x",
                    "cvta.to.const.u64"))
    for w in ("shared::cta", "shared::cluster"):
        out.append(Form("cvta.%s.u64 %%x10, %%sl; st.shared.b64 [%%s], %%x1; ld.b64 %%xd, [%%x10];" % w, "x", "cvta.%s.u64" % w))
        out.append(Form("cvta.to.%s.u64 %%x10, %%sg; st.shared.b64 [%%s], %%x2; ld.%s.b64 %%xd, [%%x10];" % (w, w), "x", "cvta.to.%s.u64" % w))
    for k, reg in (("global", "%gg"), ("shared", "%sg"), ("local", "%lg")):
        out.append(predicate("isspacep.param %%p, %s;" % reg, "isspacep.param of %s" % k))
    param = "mov.b64 %x9, in; cvta.param.u64 %x9, %x9; "
    out.append(predicate(param + "isspacep.param %p, %x9;", "isspacep.param of a parameter"))
    out.append(predicate(param + "cvta.to.param.u64 %x10, %x9; ld.param.b64 %x10, [%x10]; ld.param.b64 %x11, [in]; setp.eq.u64 %p, %x10, %x11;",
                         "cvta.to.param.u64"))
    out.append(Form("mapa.shared::cluster.u64 %x9, %sl, 0; st.shared.b32 [%s], %w3; ld.shared::cluster.b32 %wd, [%x9];", "w",
                    "mapa.shared::cluster.u64"))
    for g in ("wait", "launch_dependents"):
        out.append(Form("st.global.b32 [%%g], %%w1; griddepcontrol.%s; ld.global.b32 %%wd, [%%g];" % g, "w", "griddepcontrol." + g))
    return out


def entries():
    def rows(name, pool, forms):
        return Rows(name, [pool] * 4, forms, 32, PROLOGUE + EXTRA)
    out = [rows("spelling_memory", "int", list(memory())), rows("spelling_atomics", "mixed", list(atomics())),
           rows("spelling_moves", "int", moves())]
    out[0].module = MODULE + LINES
    return {"spelling": out}
