# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wgmma of every N, type of accumulator and operand, source of A and transposition; ldmatrix and stmatrix in every spelling."""

from forms_async import COPY_IN, DECLARE, PUBLISH, SHARED, loop
from forms_base import Kernel
from forms_tensor import B_AT, layout

GROUP = 4  # sizes a kernel


def products(sizes):
    """A sum over all sources and transpositions for each size and type; sums of f16 stay below 128, so all are exact."""
    whole = B_AT + 256 * 128  # the operands of one type; f16 comes first, then bf16
    body = DECLARE + " .reg .b64 %ak, %am, %bk, %bm; .reg .b32 %r<4>, %g<64>; .reg .f32 %f<128>;\n" + loop("c", 2 * whole, COPY_IN) + PUBLISH
    body += " mul.wide.u32 %a, %t, 4; add.u64 %a, %out, %a; setp.ne.u32 %p, %t, %t; setp.ge.u32 %q, %t, 0;\n"
    words = 0
    for n in sizes:
        for acc, kind in (("f32", "f16"), ("f32", "bf16"), ("f16", "f16")):
            d = ["%%%s%d" % ("f" if acc == "f32" else "g", i) for i in range(n // (2 if acc == "f32" else 4))]
            regs = "{" + ", ".join(d) + "}"
            start = whole if kind == "bf16" else 0
            body += " add.u32 %%v, %%s, %d; shr.u32 %%v, %%v, 4; and.b32 %%v, %%v, 0x3fff; cvt.u64.u32 %%m, %%v;\n" % start
            for name, major, at in (("ak", "k", 0), ("am", "mn", 0), ("bk", "k", B_AT // 16), ("bm", "mn", B_AT // 16)):
                body += " add.u64 %%n, %%m, %d; or.b64 %%%s, %%n, %d;\n" % (at, name, layout("128B", major, 64))
            body += " mul.wide.u32 %%m, %%t, 16; add.u64 %%m, %%in, %%m; ld.global.v4.b32 {%%r0, %%r1, %%r2, %%r3}, [%%m+%d];\n" % start
            body += " wgmma.fence.sync.aligned;\n"
            first = True
            for a, b, trans in [("%" + x + "," , "%" + y, t) for x, y, t in
                                (("ak", "bk", "0, 0"), ("ak", "bm", "0, 1"), ("am", "bk", "1, 0"), ("am", "bm", "1, 1"))] + [
                                    ("{%r0, %r1, %r2, %r3},", "%bk", "0"), ("{%r0, %r1, %r2, %r3},", "%bm", "1")]:
                body += " wgmma.mma_async.sync.aligned.m64n%dk16.%s.%s.%s %s, %s %s, %s, 1, 1, %s;\n" % (
                    n, acc, kind, kind, regs, a, b, "%p" if first else "%q", trans)
                first = False
            body += " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
            for r in d:
                body += " st.global.b32 [%%a+%d], %s;\n" % (512 * words, r)
                words += 1
    launch = {"input": [["f16.exact", whole // 2], ["bf16.exact", whole // 2]], "block": 128, "out": 512 * words, "shared": 2 * whole}
    kernel = Kernel("products_n%d" % sizes[0], launch, body + " ret;\n")
    kernel.serial = True  # three kinds of accumulators are too many to keep the instructions apart
    return kernel


def matrices():
    rows = " mad.lo.u32 %x4, %t, 5, 3; and.b32 %x4, %x4, 31; shl.b32 %x4, %x4, 4; add.u32 %v, %s, %x4; cvt.u64.u32 %m, %v; cvta.shared.u64 %n, %m;\n"
    at = " mul.wide.u32 %a, %t, 16; add.u64 %a, %out, %a;\n"
    load = DECLARE + loop("c", 512, COPY_IN, 128) + " bar.sync 0;\n" + rows + at
    store = DECLARE + rows + at + " mul.wide.u32 %m, %t, 16; add.u64 %m, %in, %m; ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%m]; add.u32 %i, %s, 0; cvt.u64.u32 %m, %v;\n"
    store += " shl.b32 %x4, %t, 4; add.u32 %i, %s, %x4;\n"
    forms = []
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            for space, place in (("", "%n"), (".shared", "%v"), (".shared::cta", "%v")):
                forms.append(("m8n8.x%d%s%s" % (count, trans, space), count, place))
    forms.append(("x4.m8n8.shared", 4, "%v"))
    for k, (form, count, place) in enumerate(forms):
        regs = "{" + ", ".join("%%x%d" % i for i in range(count)) + "}"
        if form != "x4.m8n8.shared":
            load += " mov.b32 %x0, 0; mov.b32 %x1, 0; mov.b32 %x2, 0; mov.b32 %x3, 0;\n"
            load += " ldmatrix.sync.aligned.%s.b16 %s, [%s]; st.global.v4.b32 [%%a+%d], {%%x0, %%x1, %%x2, %%x3};\n" % (form, regs, place, 512 * k)
        store += " bar.sync 0; st.shared.v4.b32 [%i], {%t, %t, %t, %t}; bar.sync 0;\n"
        store += " stmatrix.sync.aligned.%s.b16 [%s], %s; bar.sync 0;\n" % (form, place, regs)
        store += " ld.shared.v4.b32 {%%z0, %%z1, %%z2, %%z3}, [%%i]; st.global.v4.b32 [%%a+%d], {%%z0, %%z1, %%z2, %%z3};\n" % (512 * k)
    launch = {"input": [["random", 64]], "block": 32, "out": 512 * len(forms), "shared": 512}
    return [Kernel("ldmatrix_spelling", dict(launch, out=512 * (len(forms) - 1)), load + " ret;\n"),
            Kernel("stmatrix_spelling", launch, " .reg .b32 %z<4>;\n" + store + " ret;\n")]


def entries():
    sizes = list(range(8, 257, 8))
    p = [products(sizes[k:k + GROUP]) for k in range(0, len(sizes), GROUP)]
    m = matrices()
    p[0].module = m[0].module = SHARED
    return {"product": p, "fragment": m}
