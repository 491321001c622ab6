# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons and selections."""

from forms_base import Form, Rows, op, predicate, predicates

FLOAT = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
ORDER = ("eq", "ne", "lt", "le", "gt", "ge")
REG = {"16": "h", "32": "w", "64": "x"}


def setp(types, combine=("lt", "ge")):
    out = []
    for t in types:
        r = "w" if t.endswith("x2") else REG[t[-2:]]
        if t[0] == "b" and t[:2] != "bf":
            names = ("eq", "ne")
        elif t[0] == "u":
            names = ORDER + ("lo", "ls", "hi", "hs")
        else:
            names = ORDER if t[0] == "s" else FLOAT
        for f in ("", ".ftz") if "f" in t else ("",):
            for c in names:
                m = "setp.%s%s.%s" % (c, f, t)
                if t.endswith("x2"):
                    out.append(predicates("%s %%p|%%q, %%w0, %%w1;" % m, m))
                else:
                    out.append(predicate("%s %%p, %%%s0, %%%s1;" % (m, r, r), m))
        for c in names if t[0] == "b" and t[:2] != "bf" else combine:
            for boolean in ("and", "or", "xor"):
                for neg in ("", "!"):
                    m = "setp.%s.%s.%s" % (c, boolean, t)
                    label = m + " " + neg + "c"
                    if t in ("f16", "bf16"):  # these write one predicate
                        out.append(predicate("%s %%p, %%%s0, %%%s1, %s%%c;" % (m, r, r, neg), label))
                    else:
                        out.append(predicates("%s %%p|%%q, %%%s0, %%%s1, %s%%c;" % (m, r, r, neg), label))
    return out


def sets():
    out = []
    for d, r in (("u32", "w"), ("s32", "w"), ("f32", "w")):
        for t in ("s32", "f32", "f64"):
            q = REG[t[-2:]]
            out += [op("set.%s.%s.%s" % (c, d, t), [q, q], r) for c in (("lt", "geu") if t[0] == "f" else ("lt", "ge"))]
    return out


def select():
    out = []
    for t in ("b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"):
        r = REG[t[-2:]]
        out.append(Form("selp.%s %%%sd, %%%s0, %%%s1, %%c;" % (t, r, r, r), r))
        out.append(Form("slct.%s.s32 %%%sd, %%%s0, %%%s1, %%w2;" % (t, r, r, r), r))
        for f in ("", ".ftz"):
            out.append(Form("slct%s.%s.f32 %%%sd, %%%s0, %%%s1, %%w2;" % (f, t, r, r, r), r))
    for m, n in (("and", 2), ("or", 2), ("xor", 2), ("not", 1)):
        rhs = ", %c" if n == 2 else ""
        out.append(predicate("setp.lt.s32 %%q, %%w0, %%w1; %s.pred %%p, %%q%s;" % (m, rhs), m + ".pred"))
    return out


def entries():
    return {
        "compare": [
            Rows("setp_integer", ["int"] * 3, setp([k + w for w in ("16", "32", "64") for k in "bsu"]), 128),
            Rows("setp_f32", ["f32", "f32", "int"], setp(["f32"]), 256),
            Rows("setp_f64", ["f64", "f64", "int"], setp(["f64"]), 256),
            Rows("setp_f16", ["f16", "f16", "int"], setp(["f16", "f16x2"]), 256),
            Rows("setp_bf16", ["bf16", "bf16", "int"], setp(["bf16", "bf16x2"]), 256),
            Rows("set", ["f64", "f64", "int"], sets(), 128),
            Rows("select", ["int", "int", "f32"], select(), 128),
        ],
    }
