# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integer arithmetic, carries, shifts and bit manipulation."""

from forms_base import Form, Rows, op, predicate

REG = {"16": "h", "32": "w", "64": "x"}


def ints(widths="16 32 64"):
    return [s + w for w in widths.split() for s in "su"]


def reg(t):
    return REG[t[1:]]


def arithmetic():
    out = []
    for t in ints():
        r = reg(t)
        out += [op("%s.%s" % (m, t), [r, r], r) for m in ("add", "sub", "mul.lo", "mul.hi", "min", "max")]
        out += [op("mad.%s.%s" % (m, t), [r] * 3, r) for m in ("lo", "hi")]
        out += [op("sad.%s" % t, [r] * 3, r)]
        if t[0] == "s":
            out += [op("%s.%s" % (m, t), [r], r) for m in ("abs", "neg")]
    out += [op("%s.sat.s32" % m, ["w", "w"], "w") for m in ("add", "sub")]
    out += [op("mad.hi.sat.s32", ["w"] * 3, "w")]
    for t in ints("16 32"):
        r, wide = reg(t), {"h": "w", "w": "x"}[reg(t)]
        out += [op("mul.wide." + t, [r, r], wide), op("mad.wide." + t, [r, r, wide], wide)]
    for t in ints("32"):
        out += [op("mul24.%s.%s" % (m, t), ["w", "w"], "w") for m in ("lo", "hi")]
        out += [op("mad24.%s.%s" % (m, t), ["w"] * 3, "w") for m in ("lo", "hi")]
    out += [op("mad24.hi.sat.s32", ["w"] * 3, "w")]
    for t in ("u16x2", "s16x2"):
        out += [op("%s.%s" % (m, t), ["w", "w"], "w") for m in ("add", "min", "max")]
    out += [op("%s.relu.s16x2" % m, ["w", "w"], "w") for m in ("min", "max")]
    out += [op("%s.relu.s32" % m, ["w", "w"], "w") for m in ("min", "max")]
    return out


def division():
    out = []
    for t in ints():
        r = reg(t)
        out += [op("%s.%s" % (m, t), [r, r], r) for m in ("div", "rem")]
    return out


def carries():
    out = []
    for t in ("u32", "s32", "u64", "s64"):
        r = reg(t)
        d, e = "%" + r + "d", "%" + r + "9"
        for m in ("add", "sub"):
            first = "%s.cc.%s %s, %%%s0, %%%s1; " % (m, t, e, r, r)
            out.append(Form(first + "%sc.%s %s, %%%s2, %%%s3;" % (m, t, d, r, r), r, "%s.cc %sc.%s" % (m, m, t)))
            out.append(Form(first + "%sc.cc.%s %s, %%%s2, %%%s3; %sc.%s %s, %%%s3, %%%s0;" %
                            (m, t, e, r, r, m, t, d, r, r), r, "%s.cc %sc.cc %sc.%s" % (m, m, m, t)))
            out.append(Form(first + "addc.%s %s, 0, 0;" % (t, d), r, "%s.cc addc.%s" % (m, t)))
            out.append(Form(first + "subc.%s %s, 0, 0;" % (t, d), r, "%s.cc subc.%s" % (m, t)))
        for half in ("lo", "hi"):
            first = "mad.%s.cc.%s %s, %%%s0, %%%s1, %%%s2; " % (half, t, e, r, r, r)
            out.append(Form(first + "addc.%s %s, 0, 0;" % (t, d), r, "mad.%s.cc addc.%s" % (half, t)))
            out.append(Form(first + "madc.%s.%s %s, %%%s1, %%%s2, %%%s3;" % (half, t, d, r, r, r), r,
                            "mad.%s.cc madc.%s.%s" % (half, half, t)))
            out.append(Form(first + "madc.%s.cc.%s %s, %%%s1, %%%s2, %%%s3; addc.%s %s, %s, 0;" %
                            (half, t, e, r, r, r, t, d, e), r, "madc.%s.cc addc.%s" % (half, t)))
    return out


def bits():
    out = []
    for b, r in (("b16", "h"), ("b32", "w"), ("b64", "x")):
        out += [op("%s.%s" % (m, b), [r, r], r) for m in ("and", "or", "xor")]
        out += [op("%s.%s" % (m, b), [r], r) for m in ("not", "cnot")]
        if b != "b16":
            out += [op("%s.%s" % (m, b), [r], "w") for m in ("popc", "clz")]
            out += [op("brev." + b, [r], r)]
    for t in ints("32 64"):
        out += [op("bfind.%s" % t, [reg(t)], "w"), op("bfind.shiftamt.%s" % t, [reg(t)], "w")]
    for lut in (0, 1, 0x1B, 0x2D, 0x80, 0x96, 0xCA, 0xE8, 0xFE, 0xFF):
        out.append(op("lop3.b32", ["w"] * 3, "w", extra=hex(lut)))
    for m in ("or", "and"):
        out.append(predicate("lop3.%s.b32 %%w9|%%p, %%w0, %%w1, %%w2, 0x96, %%c;" % m, "lop3.%s.b32 0x96" % m))
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        out.append(op("prmt.b32" + mode, ["w"] * 3, "w"))
    for selector in ("0x3210", "0x7654", "0x0123", "0xba98", "0x5410", "0x7632"):
        out.append(op("prmt.b32", ["w", "w"], "w", extra=selector))
    for a in "su":
        for b in "su":
            out.append(op("dp4a.%s32.%s32" % (a, b), ["w"] * 3, "w"))
            out += [op("dp2a.%s.%s32.%s32" % (h, a, b), ["w"] * 3, "w") for h in ("lo", "hi")]
    return out


def shifts():
    """Slots 0 and 1 are values, 2 is an amount."""
    out = []
    for kind in ("shl.b16", "shl.b32", "shl.b64", "shr.b16", "shr.b32", "shr.b64",
                 "shr.u16", "shr.u32", "shr.u64", "shr.s16", "shr.s32", "shr.s64"):
        r = REG[kind[-2:]]
        out.append(Form("%s %%%sd, %%%s0, %%w2;" % (kind, r, r), r))
    for d in "lr":
        out += [op("shf.%s.%s.b32" % (d, m), ["w"] * 3, "w") for m in ("clamp", "wrap")]
    return out


def fields():
    """Slot 0 and 1 are values, 2 a position, 3 a length."""
    out = []
    for t in ints("32 64"):
        r = reg(t)
        out.append(Form("bfe.%s %%%sd, %%%s0, %%w2, %%w3;" % (t, r, r), r))
    for b, r in (("b32", "w"), ("b64", "x")):
        out.append(Form("bfi.%s %%%sd, %%%s0, %%%s1, %%w2, %%w3;" % (b, r, r, r), r))
    for m in ("clamp", "wrap"):
        out.append(Form("bmsk.%s.b32 %%wd, %%w2, %%w3;" % m, "w"))
        for t in ("s32", "u32"):
            out.append(Form("szext.%s.%s %%wd, %%w0, %%w2;" % (m, t), "w"))
    out.append(Form("fns.b32 %wd, %w0, %w4, %w5;", "w"))
    return out


def entries():
    i = ["int"] * 4
    return {
        "integer": [
            Rows("int_arithmetic", i, arithmetic()),
            Rows("int_division", ["int", "divisor"], division()),
            Rows("int_carries", i, carries()),
        ],
        "bits": [
            Rows("bits_logic", ["int"] * 3, bits()),
            Rows("bits_shifts", ["int", "int", "shift"], shifts()),
            Rows("bits_fields", ["int", "int", "length", "length", "lane", "small"], fields()),
        ],
    }
