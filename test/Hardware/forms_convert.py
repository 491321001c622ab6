# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cvt of every pair of types, with every rounding, flushing and saturation."""

from forms_base import Form, Rows

INTS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
WIDTH = {"8": "h", "16": "h", "32": "w", "64": "x"}


def reg(t):
    return WIDTH[t.lstrip("sbfu")]


def cvt(mods, d, s):
    m = ".".join(["cvt"] + [k for k in mods if k] + [d, s])
    return Form("%s %%%sd, %%%s0;" % (m, reg(d), reg(s)), reg(d))


def integer_sources():
    out = []
    for s in INTS:
        out += [cvt([sat], d, s) for d in INTS for sat in ("", "sat")]
        out += [cvt([r], d, s) for d in FLOATS for r in ("rn", "rz", "rm", "rp")]
    return out


def float_source(s):
    out = []
    for d in INTS:
        out += [cvt([r, f, sat], d, s) for r in ("rni", "rzi", "rmi", "rpi") for f in ("", "ftz") for sat in ("", "sat")]
    for d in FLOATS:
        for r in ("", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"):
            out += [cvt([r, f, sat], d, s) for f in ("", "ftz") for sat in ("", "sat")]
        if s == "f32":
            out += [cvt([r, "relu", sat], d, s) for r in ("rn", "rz") for sat in ("", "satfinite")]
            out += [cvt([r, "satfinite"], d, s) for r in ("rn", "rz")]
    return out


def packed():
    out = []
    for d in ("f16x2", "bf16x2"):
        for r in ("rn", "rz"):
            for relu in ("", ".relu"):
                for sat in ("", ".satfinite"):
                    out.append(Form("cvt.%s%s%s.%s.f32 %%wd, %%w0, %%w1;" % (r, relu, sat, d), "w"))
    for r in ("rn", "rz", "rna"):
        for relu in ("", ".relu"):
            for sat in ("", ".satfinite"):
                out.append(Form("cvt.%s%s%s.tf32.f32 %%wd, %%w0;" % (r, sat, relu), "w"))
    for d in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            out.append(Form("cvt.rn.satfinite%s.%s.f32 %%hd, %%w0, %%w1;" % (relu, d), "h"))
            out.append(Form("cvt.rn.satfinite%s.%s.f16x2 %%hd, %%w2;" % (relu, d), "h"))
            out.append(Form("cvt.rn%s.f16x2.%s %%wd, %%h2;" % (relu, d), "w"))
    return out


def integers_packed():
    out = []
    for d, s in (("s16", "s32"), ("u16", "s32"), ("s16", "u32"), ("u16", "u32")):
        out.append(Form("cvt.pack.sat.%s.%s %%wd, %%w0, %%w1;" % (d, s), "w"))
    for d in ("u8", "s8", "u4", "s4", "u2", "s2"):
        out.append(Form("cvt.pack.sat.%s.s32.b32 %%wd, %%w0, %%w1, %%w2;" % d, "w"))
    return out


def entries():
    n = 128
    return {
        "convert": [
            Rows("cvt_from_integer", ["int"], integer_sources(), n),
            Rows("cvt_from_f32", ["f32int"], float_source("f32"), n),
            Rows("cvt_from_f64", ["f64int"], float_source("f64"), n),
            Rows("cvt_from_f16", ["f16int"], float_source("f16"), n),
            Rows("cvt_from_bf16", ["bf16int"], float_source("bf16"), n),
            Rows("cvt_narrow_f32", ["f32half", "f32half", "f16"], packed(), 256),
            Rows("cvt_narrow_integer", ["int", "int", "int"], integers_packed(), n),
        ],
    }
