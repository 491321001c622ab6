# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads, stores and atomics in every space, and address arithmetic."""

from forms_base import Form, Rows, op, predicate

MODULE = """
.global .align 16 .b8 room[16384];
.const .align 16 .b8 table[32] = {1, 130, 3, 4, 255, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
 27, 28, 29, 30, 31, 200};
"""

# A slot of 32 bytes a thread in each space: %g global, %s shared (%sg generic), %l local (%lg generic), %cc constant.
PROLOGUE = """ .reg .b64 %g, %lg, %sg, %gg, %cc, %l; .reg .b32 %s, %s0; .reg .f32 %f0; .reg .f64 %d0;
 .shared .align 16 .b8 near[8192]; .local .align 16 .b8 own[32];
 mov.u32 %s0, near; mad.lo.u32 %s, %t, 32, %s0; mov.u64 %g, room; mad.wide.u32 %g, %t, 32, %g; mov.u64 %l, own; mov.u64 %cc, table;
 cvt.u64.u32 %sg, %s; cvta.shared.u64 %sg, %sg; cvta.local.u64 %lg, %l; cvta.global.u64 %gg, %g;
"""
PLACES = {"global": "%g", "shared": "%s", "local": "%l", "generic shared": "%sg", "generic local": "%lg", "generic global": "%gg"}


def fill(place, space):
    """Slots 0 to 3 go to the thread's bytes."""
    m = "st%s" % space
    return "".join("%s.b64 [%s+%d], %%x%d; " % (m, place, 8 * k, k) for k in range(4))


def scalar_loads():
    out = []
    for name, place in PLACES.items():
        space = "" if name.startswith("generic") else "." + name
        head = fill(place, space)
        for t in ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"):
            reg = "%d0" if t == "f64" else "%f0" if t == "f32" else "%xd"
            back = {"f64": " mov.b64 %xd, %d0;", "f32": " mov.b32 %wd, %f0; cvt.u64.u32 %xd, %wd;"}.get(t, "")
            at = {"8": 13, "6": 14, "2": 20, "4": 24}[t[-1]]
            out.append(Form("%sld%s.%s %s, [%s+%d];%s" % (head, space, t, reg, place, at, back), "x", "ld%s.%s (%s)" % (space, t, name)))
            if t in ("u8", "s8", "u16", "s16"):
                out.append(Form("%sld%s.%s %%wd, [%s+5];" % (head, space, t, place) if t[1:] == "8" else
                                "%sld%s.%s %%wd, [%s+6];" % (head, space, t, place), "w", "ld%s.%s to 32 bits (%s)" % (space, t, name)))
            if t in ("u8", "s8"):
                out.append(Form("%sld%s.%s %%hd, [%s+6];" % (head, space, t, place), "h", "ld%s.%s to 16 bits (%s)" % (space, t, name)))
    for t in ("u8", "s8", "u16", "s16", "u32", "u64"):
        out.append(Form("and.b64 %%x9, %%x0, 0x18; add.u64 %%x9, %%cc, %%x9; ld.const.%s %%xd, [%%x9];" % t, "x", "ld.const.%s" % t))
    return out


def vectors():
    """Loads and stores of vectors, then what memory holds."""
    out = []
    regs = {"8": "h", "16": "h", "32": "w", "64": "x"}
    for name, place in PLACES.items():
        space = "" if name.startswith("generic") else "." + name
        head = fill(place, space)
        for n in (2, 4):
            for t in ("u8", "s8", "b16", "u32", "f32", "b64", "f64"):
                if n == 4 and t.endswith("64"):
                    continue
                r = regs[t[1:]]
                first = 4 if r != "x" else 9
                v = "{" + ", ".join("%%%s%d" % (r, first + k) for k in range(n)) + "}"
                fold = {"x": "xor.b64 %xd, %x9, %x10;", "w": "mov.b64 %xd, {%w4, %w5};", "h": "mov.b64 %xd, {%h4, %h5, %h4, %h5};"}[r]
                if n == 4:
                    fold = {"w": "mov.b64 %xd, {%w4, %w5}; mov.b64 %x9, {%w6, %w7}; xor.b64 %xd, %xd, %x9;",
                            "h": "mov.b64 %xd, {%h4, %h5, %h6, %h7};"}[r]
                out.append(Form("%sld%s.v%d.%s %s, [%s+16]; %s" % (head, space, n, t, v, place, fold), "x",
                                "ld%s.v%d.%s (%s)" % (space, n, t, name)))
                src = "{" + ", ".join("%%%s%d" % (r, (k + 1) % 4) for k in range(n)) + "}"
                out.append(Form("%sst%s.v%d.%s [%s], %s; ld%s.b64 %%x9, [%s]; ld%s.b64 %%xd, [%s+8]; xor.b64 %%xd, %%xd, %%x9;" %
                                (head, space, n, t, place, src, space, place, space, place), "x", "st%s.v%d.%s (%s)" % (space, n, t, name)))
        for t, r in (("b8", "w"), ("u8", "h"), ("b16", "h"), ("b32", "w"), ("b64", "x"), ("u8", "x"), ("b8", "x")):
            out.append(Form("%sst%s.%s [%s+8], %%%s3; ld%s.b64 %%xd, [%s+8];" % (head, space, t, place, r, space, place), "x",
                            "st%s.%s from %s (%s)" % (space, t, r, name)))
    return out


def qualified():
    out = []
    for m in ("weak", "volatile", "relaxed.cta", "relaxed.gpu", "relaxed.sys", "relaxed.cluster", "acquire.cta", "acquire.gpu", "acquire.sys"):
        w = m.replace("acquire", "release")
        for name, place in (("global", "%g"), ("shared", "%s"), ("generic", "%sg")):
            s = "" if name == "generic" else "." + name
            out.append(Form("st.%s%s.b64 [%s], %%x1; ld.%s%s.b64 %%xd, [%s];" % (w, s, place, m, s, place), "x", "st.%s ld.%s (%s)" % (w, m, name)))
    for m in ("ca", "cg", "cs", "lu", "cv"):
        out.append(Form("st.global.b32 [%%g], %%w1; ld.global.%s.b32 %%wd, [%%g];" % m, "w", "ld.global.%s" % m))
    for m in ("wb", "cg", "cs", "wt"):
        out.append(Form("st.global.%s.b32 [%%g], %%w2; ld.global.b32 %%wd, [%%g];" % m, "w", "st.global.%s" % m))
    for m in ("L1::evict_first", "L1::evict_last", "L1::no_allocate", "L1::evict_unchanged", "L2::128B", "nc", "nc.L1::no_allocate.L2::256B"):
        out.append(Form("ld.global.%s.b64 %%xd, [%%i];" % m, "x", "ld.global.%s" % m))
    out.append(Form("st.shared::cta.b32 [%s], %w1; ld.shared::cta.b32 %wd, [%s];", "w", "ld.shared::cta"))
    out.append(Form("st.shared::cluster.b32 [%s], %w2; ld.shared::cluster.b32 %wd, [%s];", "w", "ld.shared::cluster"))
    out.append(Form("mapa.shared::cluster.u32 %w9, %s, 0; st.shared.b32 [%s], %w3; ld.shared::cluster.b32 %wd, [%w9];", "w", "mapa.shared::cluster.u32"))
    out.append(Form("mapa.u64 %x9, %sg, 0; st.shared.b32 [%s], %w0; ld.b32 %wd, [%x9];", "w", "mapa.u64"))
    out.append(Form("getctarank.shared::cluster.u32 %wd, %s;", "w", "getctarank.shared::cluster.u32"))
    out.append(Form("getctarank.u64 %wd, %sg;", "w", "getctarank.u64"))
    for s in ("global", "shared", "local", "const", "shared::cta", "shared::cluster"):
        for k, reg in (("global", "%gg"), ("shared", "%sg"), ("local", "%lg")):
            out.append(predicate("isspacep.%s %%p, %s;" % (s, reg), "isspacep.%s of %s" % (s, k)))
    for s, reg, to in (("global", "%gg", "%g"), ("shared", "%sg", ""), ("local", "%lg", "")):
        code = "cvta.to.%s.u64 %%x9, %s; st.%s.b64 [%%x9], %%x2; ld.%s.b64 %%xd, [%%x9];" % (s, reg, s, s)
        out.append(Form(code, "x", "cvta.to.%s.u64" % s))
    for code, name in (("mov.b64 {%w9, %w10}, %x0; xor.b32 %wd, %w9, %w10;", "mov.b64 to two"), ("mov.b64 %x9, {%w0, %w1}; cvt.u32.u64 %wd, %x9;", "mov.b64 of two"),
                       ("mov.b32 {%h9, %h10}, %w0; mov.b32 %wd, {%h10, %h9};", "mov.b32 halves"), ("mov.b64 {%h9, %h10, %h11, %h12}, %x0; mov.b32 %wd, {%h12, %h10};", "mov.b64 to four")):
        out.append(Form(code, "w", name))
    for f in ("fence.sc.cta", "fence.acq_rel.gpu", "fence.acq_rel.cluster", "fence.sc.sys", "membar.cta", "membar.gl", "membar.sys", "fence.proxy.async",
              "fence.proxy.async.global", "fence.acquire.sync_restrict::shared::cluster.cluster", "fence.release.sync_restrict::shared::cta.cluster"):
        out.append(Form("st.shared.b32 [%%s], %%w1; %s; ld.shared.b32 %%wd, [%%s];" % f, "w", f))
    return out


def atomics():
    """Each thread on its own bytes: the old value and what stays, folded into one word."""
    out = []
    kinds = [("add", t) for t in ("u32", "s32", "u64", "f32", "f64")] + [("add.noftz", t) for t in ("f16", "bf16", "f16x2", "bf16x2")]
    kinds += [(m, t) for m in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
    kinds += [(m, t) for m in ("and", "or", "xor", "exch") for t in ("b32", "b64")] + [("inc", "u32"), ("dec", "u32")]
    width = {"f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32}
    reg = {16: "h", 32: "w", 64: "x"}
    for name, place in (("global", "%g"), ("shared", "%s"), ("generic", "%gg"), ("generic shared", "%sg")):
        s = "" if name.startswith("generic") else "." + name
        head = "st%s.b64 [%s], %%x0; " % (s, place)
        tail = " ld%s.b64 %%x9, [%s]; xor.b64 %%xd, %%x9, %%x10;" % (s, place)
        for m, t in kinds:
            r = reg[width.get(t) or int(t[1:])]
            back = "" if r == "x" else " cvt.u64.u%s %%x10, %%%s10; shl.b64 %%x10, %%x10, 32;" % ({"h": 16, "w": 32}[r], r)
            value, head_ = "%%%s1" % r, head
            if t.endswith("x2"):
                # ptxas 13.0 takes the upper half of an operand that is the low word of a 64-bit register from the next one.
                value, head_ = "%w9", head + "xor.b32 %w9, %w1, 0x10; "
            code = "atom%s.%s.%s %%%s10, [%s], %s;" % (s, m, t, r, place, value)
            out.append(Form(head_ + code + back + tail, "x", "atom%s.%s.%s (%s)" % (s, m, t, name)))
            if m != "exch":
                out.append(Form(head_ + "red%s.%s.%s [%s], %s; ld%s.b64 %%xd, [%s];" % (s, m, t, place, value, s, place), "x",
                                "red%s.%s.%s (%s)" % (s, m, t, name)))
        for t, r in (("b16", "h"), ("b32", "w"), ("b64", "x")):
            back = "" if r == "x" else " cvt.u64.u%s %%x10, %%%s10; shl.b64 %%x10, %%x10, 32;" % (t[1:], r)
            for expect, what in (("0", "met"), ("1", "not met")):
                code = "atom%s.cas.%s %%%s10, [%s], %%%s%s, %%%s2;" % (s, t, r, place, r, expect, r)
                out.append(Form(head + code + back + tail, "x", "atom%s.cas.%s, %s (%s)" % (s, t, what, name)))
    for q in ("relaxed.cta", "acquire.gpu", "release.cluster", "acq_rel.sys"):
        out.append(Form("st.global.b64 [%%g], %%x0; atom.%s.global.add.u32 %%w9, [%%g], %%w1; ld.global.b32 %%w10, [%%g]; xor.b32 %%wd, %%w9, %%w10;" % q,
                        "w", "atom.%s.global.add.u32" % q))
    # All threads on one word: only the sum is certain.
    for k, (m, t) in enumerate((("add", "u32"), ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"), ("xor", "b32"))):
        first = {"min": "0x7fffffff", "and": "-1"}.get(m, "0")
        code = "st.shared.b32 [%%s0], %s; bar.sync 0; red.shared.%s.%s [%%s0], %%w1; bar.sync 0; ld.shared.b32 %%wd, [%%s0]; bar.sync 0;" % (first, m, t)
        out.append(Form(code, "w", "red.shared.%s.%s of all" % (m, t)))
    return out


def entries():
    i, f = ["int"] * 4, ["mixed"] * 4
    def rows(name, pools, forms):
        return Rows(name, pools, forms, 64, PROLOGUE)
    out = [rows("memory_loads", i, scalar_loads()), rows("memory_vectors", i, vectors()), rows("memory_qualified", i, qualified())]
    atoms = [rows("atomics", f, atomics())]
    out[0].module = atoms[0].module = MODULE
    return {"memory": out, "atomic": atoms}
