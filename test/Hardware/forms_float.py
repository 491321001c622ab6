# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floating-point arithmetic: every rounding, flushing, saturation and NaN form."""

from forms_base import Rows, Form, op, predicate

ROUNDS = ("rn", "rz", "rm", "rp")


def single():
    out = []
    for f in ("", ".ftz"):
        for sat in ("", ".sat"):
            for m, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
                for r in ROUNDS:
                    out.append(op("%s.%s%s%s.f32" % (m, r, f, sat), ["w"] * n, "w"))
        out += [op("%s%s.f32" % (m, f), ["w"], "w") for m in ("abs", "neg")]
        for m in ("min", "max"):
            for nan in ("", ".NaN"):
                for x in ("", ".xorsign.abs"):
                    out.append(op("%s%s%s%s.f32" % (m, f, nan, x), ["w"] * 2, "w"))
        for r in ROUNDS:
            out.append(op("div.%s%s.f32" % (r, f), ["w"] * 2, "w"))
            out += [op("%s.%s%s.f32" % (m, r, f), ["w"], "w") for m in ("rcp", "sqrt")]
    out.append(op("copysign.f32", ["w"] * 2, "w"))
    out += [predicate("testp.%s.f32 %%p, %%w0;" % k, "testp.%s.f32" % k)
            for k in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")]
    return out


def double():
    """Which NaN comes out is left open."""
    out = []
    for m, n in (("add", 2), ("sub", 2), ("mul", 2), ("div", 2), ("fma", 3), ("rcp", 1), ("sqrt", 1)):
        out += [op("%s.%s.f64" % (m, r), ["x"] * n, "x", "nan") for r in ROUNDS]
    out += [op("%s.f64" % m, ["x"] * 2, "x", "nan") for m in ("min", "max")] + [op("copysign.f64", ["x"] * 2, "x")]
    out += [op("%s.f64" % m, ["x"], "x", "nan") for m in ("abs", "neg")]
    out += [predicate("testp.%s.f64 %%p, %%x0;" % k, "testp.%s.f64" % k)
            for k in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")]
    return out


def half(t):
    r = "w" if t.endswith("x2") else "h"
    out = []
    for f in ("", ".ftz"):
        for sat in ("", ".sat"):
            for rn in ("", ".rn"):
                out += [op("%s%s%s%s.%s" % (m, rn, f, sat, t), [r] * 2, r) for m in ("add", "sub", "mul")]
            out.append(op("fma.rn%s%s.%s" % (f, sat, t), [r] * 3, r))
        out.append(op("fma.rn%s.relu.%s" % (f, t), [r] * 3, r))
        out += [op("%s%s.%s" % (m, f, t), [r], r) for m in ("abs", "neg")]
        for m in ("min", "max"):
            for nan in ("", ".NaN"):
                for x in ("", ".xorsign.abs"):
                    out.append(op("%s%s%s%s.%s" % (m, f, nan, x, t), [r] * 2, r))
    return out


def approximate():
    """Slot 0 any float, slot 1 an angle, slot 2 a double, slot 3 half words, 4 bfloat words, 5 a divisor."""
    out = []
    for f in ("", ".ftz"):
        out.append(op("ex2.approx%s.f32" % f, ["w"], "w", "rel=2^-21.5"))
        out.append(op("lg2.approx%s.f32" % f, ["w"], "w", "rel=2^-21 abs=2^-21"))
        out.append(op("rcp.approx%s.f32" % f, ["w"], "w", "rel=2^-22"))
        out.append(op("rsqrt.approx%s.f32" % f, ["w"], "w", "rel=2^-21.4"))
        out.append(op("sqrt.approx%s.f32" % f, ["w"], "w", "rel=2^-22"))
        for m in ("sin", "cos"):
            out.append(Form("%s.approx%s.f32 %%wd, %%w1;" % (m, f), "w", bound="abs=2^-19.5"))
        out.append(Form("div.approx%s.f32 %%wd, %%w0, %%w5;" % f, "w", bound="rel=2^-21"))
        out.append(Form("div.full%s.f32 %%wd, %%w0, %%w5;" % f, "w", bound="rel=2^-21"))
    out.append(op("tanh.approx.f32", ["w"], "w", "rel=2^-10"))
    out.append(Form("rcp.approx.ftz.f64 %xd, %x2;", "x", bound="nan rel=2^-19"))
    out.append(Form("rsqrt.approx.f64 %xd, %x2;", "x", bound="nan rel=2^-19"))
    out.append(Form("rsqrt.approx.ftz.f64 %xd, %x2;", "x", bound="nan rel=2^-19"))
    for t, slot, tanh, ex2 in (("f16", 3, "2^-9.9", "2^-8.9 abs=2^-24"), ("bf16", 4, "2^-7", "2^-6")):
        out.append(Form("tanh.approx.%s %%hd, %%h%d;" % (t, slot), "h", bound="%s rel=%s" % (t, tanh)))
        out.append(Form("tanh.approx.%sx2 %%wd, %%w%d;" % (t, slot), "w", bound="%s rel=%s" % (t, tanh)))
        f = "" if t == "f16" else ".ftz"
        out.append(Form("ex2.approx%s.%s %%hd, %%h%d;" % (f, t, slot), "h", bound="%s rel=%s" % (t, ex2)))
        out.append(Form("ex2.approx%s.%sx2 %%wd, %%w%d;" % (f, t, slot), "w", bound="%s rel=%s" % (t, ex2)))
    return out


def entries():
    f32, f64 = ["f32"] * 3, ["f64"] * 3
    return {
        "float": [
            Rows("float_f32", f32, single()),
            Rows("float_f64", f64, double()),
            Rows("float_f16", ["f16"] * 3, half("f16")),
            Rows("float_bf16", ["bf16"] * 3, half("bf16")),
            Rows("float_f16x2", ["f16"] * 3, half("f16x2")),
            Rows("float_bf16x2", ["bf16"] * 3, half("bf16x2")),
        ],
        "approx": [Rows("approx", ["f32", "angle", "f64", "f16", "bf16", "f32mid"], approximate(), 512)],
    }
