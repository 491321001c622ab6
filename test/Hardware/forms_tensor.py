# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wgmma, ldmatrix and stmatrix."""

from forms_async import COPY_IN, DECLARE, DUMP, PUBLISH, SHARED, loop
from forms_base import Kernel

B_AT = 8192  # the operand B in shared memory; A is at 0


def descriptor(lbo, sbo, swizzle):
    """Without the address; lbo and sbo in bytes."""
    code = {"none": 0, "128B": 1, "64B": 2, "32B": 3}[swizzle]
    return lbo >> 4 << 16 | sbo >> 4 << 32 | code << 62


def layout(swizzle, major, n):
    """Descriptor bits of an operand of n rows (of M or N) and 16 of K that starts a region."""
    span = {"none": 16, "32B": 32, "64B": 64, "128B": 128}[swizzle]
    if major == "k":
        return descriptor(128, 256, swizzle) if swizzle == "none" else descriptor(16, 8 * span, swizzle)
    # Contiguous along M or N: a panel is span bytes wide and holds 16 rows of K.
    if swizzle == "none":
        return descriptor(128, 256, swizzle)
    return descriptor(16 * span, 8 * span, swizzle)


def wgmma(name, n, kind="f16", a=("128B", "k"), b=("128B", "k"), rs=False, sa=1, sb=1, scale=1, steps=1, values="exact", step=0,
          acc="f32"):
    shared = B_AT + 256 * 128
    regs = n // 2 if acc == "f32" else n // 4
    body = DECLARE + " .reg .b64 %da, %db; .reg .b32 %r<4>; .reg .f32 %f<128>; .reg .b32 %g<64>;\n" + loop("c", shared, COPY_IN) + PUBLISH
    body += " shr.u32 %v, %s, 4; and.b32 %v, %v, 0x3fff; cvt.u64.u32 %m, %v;\n"
    body += " or.b64 %%da, %%m, %d; add.u64 %%m, %%m, %d; or.b64 %%db, %%m, %d;\n" % (
        layout(*a, 64) + step, B_AT // 16 + step, layout(*b, n))
    d = ["%%%s%d" % ("f" if acc == "f32" else "g", i) for i in range(regs)]
    for i in range(regs):
        if acc == "f32":
            body += " add.s32 %%v, %%t, %d; cvt.rn.f32.s32 %%f%d, %%v;\n" % (i - 70, i)
        else:
            body += " mov.b32 %%g%d, 0x3c004000;\n" % i
    if rs:
        body += " mul.wide.u32 %a, %t, 16; add.u64 %a, %in, %a; ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%a];\n"
    body += " setp.ne.b32 %%q, %%t, %s;\n wgmma.fence.sync.aligned;\n" % ("-1" if scale else "%t")
    left = "{%r0, %r1, %r2, %r3}" if rs else "%da"
    trans = [] if rs else [int(a[1] == "mn")]
    trans.append(int(b[1] == "mn"))
    for k in range(steps):
        body += " wgmma.mma_async.sync.aligned.m64n%dk16.%s.%s.%s {%s}, %s, %%db, %s, %d, %d, %s;\n" % (
            n, acc, kind, kind, ", ".join(d), left, "%q" if k == 0 else "1", sa, sb, ", ".join(map(str, trans)))
    body += " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    body += " mul.wide.u32 %a, %t, 4; add.u64 %a, %out, %a;\n"
    for i in range(regs):
        body += " st.global.b32 [%%a+%d], %s;\n" % (512 * i, d[i])
    body += " ret;\n"
    launch = {"input": [["%s.%s" % (kind, values), shared // 2]], "block": 128, "out": 512 * regs,
              "shared": shared}
    if values != "exact":  # where sums round, the order of additions is the machine's own
        launch["bound"] = "abs=2^-10" if values == "any" else "rel=2^-22 abs=2^-10"
    return Kernel(name, launch, body)


def multiply():
    out = [wgmma("wgmma_n%d" % n, n) for n in (8, 16, 24, 32, 40, 64, 96, 128, 176, 256)]
    for swizzle in ("none", "32B", "64B", "128B"):
        for am in ("k", "mn"):
            for bm in ("k", "mn"):
                for kind in ("f16", "bf16"):
                    name = "wgmma_%s_%s_%s_%s" % (swizzle, am, bm, kind)
                    out.append(wgmma(name, 64 if kind == "f16" else 16, kind, (swizzle, am), (swizzle, bm)))
    out.append(wgmma("wgmma_mixed_swizzle", 48, a=("64B", "k"), b=("128B", "mn")))
    out.append(wgmma("wgmma_mn_wide", 128, b=("128B", "mn")))
    out.append(wgmma("wgmma_mn_wide_64B", 96, b=("64B", "mn")))
    out.append(wgmma("wgmma_second_k", 32, step=2))
    out.append(wgmma("wgmma_fourth_k", 32, kind="bf16", step=6))
    out.append(wgmma("wgmma_accumulate", 32, steps=3))
    for kind in ("f16", "bf16"):
        for n in (8, 72):
            for bm in ("k", "mn"):
                out.append(wgmma("wgmma_rs_%s_n%d_%s" % (kind, n, bm), n, kind, b=("128B", bm), rs=True))
        for sa, sb in ((-1, 1), (1, -1), (-1, -1)):
            name = "_%s_%s%s" % (kind, "n" if sa < 0 else "p", "n" if sb < 0 else "p")
            out.append(wgmma("wgmma_negate" + name, 16, kind, sa=sa, sb=sb))
            out.append(wgmma("wgmma_rs_negate" + name, 16, kind, sa=sa, sb=sb, rs=True))
        out.append(wgmma("wgmma_zero_%s" % kind, 16, kind, scale=0))
        out.append(wgmma("wgmma_rs_zero_%s" % kind, 16, kind, scale=0, rs=True))
        out.append(wgmma("wgmma_rounded_%s" % kind, 64, kind, scale=0, values="any"))
        out.append(wgmma("wgmma_rounded_%s_sum" % kind, 64, kind, steps=4, values="any"))
        out.append(wgmma("wgmma_special_%s" % kind, 64, kind, scale=0, values="special"))
        out.append(wgmma("wgmma_rs_special_%s" % kind, 64, kind, values="special", rs=True))
    return out


def matrices():
    out = []
    rows = " mad.lo.u32 %x4, %t, 5, 3; and.b32 %x4, %x4, 31; shl.b32 %x4, %x4, 4; add.u32 %v, %s, %x4;\n"
    at = " mul.wide.u32 %a, %t, 16; add.u64 %a, %out, %a;\n"
    for count in (1, 2, 4):
        regs = "{" + ", ".join("%%x%d" % i for i in range(count)) + "}"
        for trans in ("", ".trans"):
            body = DECLARE + " mov.u32 %x0, 0; mov.u32 %x1, 0; mov.u32 %x2, 0; mov.u32 %x3, 0;\n"
            body += loop("c", 512, COPY_IN, 128) + " bar.sync 0;\n mov.u32 %x0, 0;\n" + rows
            body += " ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%v];\n" % (count, trans, regs) + at
            body += " st.global.v4.b32 [%a], {%x0, %x1, %x2, %x3};\n ret;\n"
            launch = {"input": [["random", 64]], "block": 32, "out": 512, "shared": 512}
            out.append(Kernel("ldmatrix_x%d%s" % (count, trans.replace(".", "_")), launch, body))
            body = DECLARE + loop("f", 512, " add.u32 %v, %s, %i; st.shared.b32 [%v], 0xa5a5a5a5;\n", 128) + " bar.sync 0;\n" + rows
            body += " mul.wide.u32 %a, %t, 16; add.u64 %a, %in, %a; ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%a];\n"
            body += " stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%v], %s;\n bar.sync 0;\n" % (count, trans, regs)
            body += loop("d", 512, DUMP, 128) + " ret;\n"
            out.append(Kernel("stmatrix_x%d%s" % (count, trans.replace(".", "_")), launch, body))
    return out


def entries():
    a, b = multiply(), matrices()
    a[0].module = b[0].module = SHARED
    return {"wgmma": a, "matrix": b}
