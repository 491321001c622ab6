# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages: one warp writes, publishes under an ordering, another takes it up and reads. And parameters, and brx.idx.uni."""

import re

import coverage
from forms_base import Form, Kernel, Rows, predicate
from forms_warp import HEAD

# Lane l of warp 0 sends to lane l of warp 1 through a flag and a place for data of their own, in each space.
# %id is 3 and %count 64, which the assembler does not know.
PROLOGUE = """ .reg .pred %sender, %first; .reg .b32 %id, %count;
 mov.u32 %count, %ntid.x; shr.u32 %id, %count, 4; sub.u32 %id, %id, 1; .reg .b32 %sf, %sd; .reg .b64 %gf, %gd, %ggf, %sgf, %bar;
 .shared .align 16 .b8 near[512]; .shared .align 8 .b64 bar;
 setp.lt.u32 %sender, %t, 32; setp.eq.u32 %first, %t, 0; and.b32 %w29, %t, 31; mov.u32 %sf, near; mad.lo.u32 %sf, %w29, 4, %sf; add.u32 %sd, %sf, 256;
 mov.u64 %gf, far; mad.wide.u32 %gf, %w29, 4, %gf; add.u64 %gd, %gf, 256; cvta.global.u64 %ggf, %gf;
 cvt.u64.u32 %sgf, %sf; cvta.shared.u64 %sgf, %sgf; mov.u64 %bar, bar; cvta.shared.u64 %bar, %bar;
"""
MODULE = "\n.global .align 16 .b8 far[512];\n"
FLAGS = {"": ("%ggf", "%gd", ".global"), ".global": ("%gf", "%gd", ".global"), ".shared": ("%sf", "%sd", ".shared"),
         ".shared::cta": ("%sf", "%sd", ".shared"), ".shared::cluster": ("%sf", "%sd", ".shared")}
SCOPES = ("cta", "cluster", "gpu", "sys")


class Messages:
    def __init__(self):
        self.forms = []

    def add(self, name, send, take, data="%sd", space=".shared", reset=""):
        """send publishes; take polls and leaves in %q whether the message is there, or waits and has no %q."""
        n = len(self.forms)
        poll = "setp.ne.b32 %%q, %%w9, %d; @%%q bra T%d;" % (n + 1, n) if "%w9" in take else "@!%%q bra T%d;" % n if "%q" in take else ""
        code = "st%s.b32 [%s], %%w1; mov.b32 %%wd, %%w0; %s bar.sync 0; @!%%sender bra T%d; st%s.b32 [%s], %%w0; %s bra D%d; " % (
            space, data, reset.replace("COUNT", str(n)), n, space, data, send.replace("NEXT", str(n + 1)), n)
        code += "T%d: %s %s ld%s.b32 %%wd, [%s]; D%d: bar.sync 0;" % (n, take, poll, space, data, n)
        self.forms.append(Form(code, "w", name))

    def flag(self, name, space, send, take):
        """Through a flag that is n before and n + 1 afterwards; FLAG, SPACE and NEXT stand for it."""
        at, data, plain = FLAGS[space]
        send, take = (c.replace("FLAG", "[%s]" % at).replace("SPACE", space) for c in (send, take))
        self.add("%s (%s)" % (name, space[1:] or "generic"), send, take, data, plain,
                 "st%s.b32 [%s], COUNT;" % (plain, {"%ggf": "%gf"}.get(at, at)))


def flags(m):
    for space in FLAGS:
        for s in SCOPES:
            m.flag("st.release ld.acquire " + s, space, "st.release.%sSPACE.u32 FLAG, NEXT;" % s, "ld.acquire.%sSPACE.u32 %%w9, FLAG;" % s)
            m.flag("red.release ld.acquire " + s, space, "red.release.%sSPACE.add.u32 FLAG, 1;" % s,
                   "ld.acquire.%sSPACE.u32 %%w9, FLAG;" % s)
            m.flag("atom.release atom.acquire " + s, space, "atom.release.%sSPACE.add.u32 %%w10, FLAG, 1;" % s,
                   "atom.acquire.%sSPACE.add.u32 %%w9, FLAG, 0;" % s)
            m.flag("atom.acq_rel " + s, space, "atom.acq_rel.%sSPACE.add.u32 %%w10, FLAG, 1;" % s,
                   "atom.acq_rel.%sSPACE.add.u32 %%w9, FLAG, 0;" % s)
            for fence in ("fence.acq_rel.", "fence.sc."):
                m.flag(fence + s, space, "%s%s; st.relaxed.%sSPACE.u32 FLAG, NEXT;" % (fence, s, s),
                       "ld.relaxed.%sSPACE.u32 %%w9, FLAG; %s%s;" % (s, fence, s))
        for fence in ("membar.cta", "membar.gl", "membar.sys"):
            m.flag(fence + " volatile", space, fence + "; st.volatileSPACE.u32 FLAG, NEXT;", "ld.volatileSPACE.u32 %w9, FLAG; " + fence + ";")


def texts(pattern):
    """(opcode, text) of the forms of warps and barriers that ptx-sim decodes and that begin so."""
    for section, shape, text in coverage.listed():
        if section == "warps and barriers" and re.match(pattern, text):
            yield shape[0], text.rstrip(";")


def barriers(m):
    for opcode, text in texts(r"(bar|barrier)(\.cta)?\.(sync|arrive)"):
        code = text.replace("%r1", "%id").replace("%r2", "%count") + ";"
        m.add(text, code, opcode.replace("arrive", "sync") + " 3, 64;" if "arrive" in opcode else code)
    for aligned in ("", ".aligned"):
        for release in ("", ".release"):
            for acquire in ("", ".acquire"):
                both = "barrier.cluster.arrive%s%s; barrier.cluster.wait%s%s;" % (release, aligned, acquire, aligned)
                m.add("barrier.cluster%s%s%s" % (release, acquire, aligned), both, both)
        relaxed = "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed%s; barrier.cluster.wait.acquire%s;" % (aligned, aligned)
        m.add("barrier.cluster.arrive.relaxed%s" % aligned, relaxed, relaxed)


def phases(m):
    start = "@%%first mbarrier.init%s.b64 [%s], 32; "
    for space, at in (("", "%bar"), (".shared", "%bar"), (".shared::cta", "%bar")):
        at = "bar" if space else at
        for s in ("cta", "cluster"):
            for wait in ("test_wait", "try_wait"):
                arrive = "mbarrier.arrive.release.%s%s.b64 %%x9, [%s];" % (s, space, at)
                take = "mbarrier.%s.parity.acquire.%s%s.b64 %%q, [%s], 0;" % (wait, s, space, at)
                m.add("mbarrier %s %s %s" % (wait, s, space), arrive, take, reset=start % (space, at))
                # The phase has to be over before the object is made anew.
                f = m.forms[-1]
                f.code += " @%%first mbarrier.inval%s.b64 [%s]; bar.sync 0;" % (space, at)


def fences():
    """Alone, between a store and a load."""
    out = []
    for f in ["fence.proxy.alias", "fence.proxy.async.shared::cta", "fence.mbarrier_init.release.cluster",
              "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
              "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster"]:
        out.append(Form("st.shared.b32 [%%sd], %%w0; %s; ld.shared.b32 %%wd, [%%sd]; bar.sync 0;" % f, "w", f))
    for s in SCOPES:
        f = "fence.proxy.tensormap::generic"
        out.append(Form("st.global.b32 [%%gd], %%w0; %s.release.%s; ld.global.b32 %%wd, [%%gd]; bar.sync 0;" % (f, s), "w", f + ".release." + s))
        # Threads of both warps have the same place, so they write the same.
        out.append(Form("mov.u64 %%x9, lines; cvta.global.u64 %%x9, %%x9; st.global.b32 [%%gd], 77; %s.acquire.%s [%%x9], 128; "
                        "ld.global.b32 %%wd, [%%gd]; bar.sync 0;" % (f, s), "w", f + ".acquire." + s))
    for f in out:
        f.code = f.code.replace("[%gd], %w0", "[%gd], 77").replace("[%sd], %w0", "[%sd], 78")
    return out


def votes():
    """bar.red and barrier.red, aligned or not, with a count or without."""
    out = []
    for opcode, text in texts(r"(bar|barrier)(\.cta)?\.red"):
        target, rest = text[len(opcode):].split(",", 1)
        code = "%s %s,%s;" % (opcode, "%wd" if "popc" in opcode else "%p", re.sub(r"%p\d", "%c", rest))
        out.append(Form(code, "w", text) if "popc" in opcode else predicate(code, text))
    return out


def parameters():
    """ld.param of a function's parameter, in a function a type."""
    module, forms = "", []
    fold = {"h": "cvt.u64.u16 %%y, %%h%d;", "w": "cvt.u64.u32 %%y, %%w%d;", "x": "mov.b64 %%y, %%x%d;",
            "f": "mov.b32 %%w9, %%f%d; cvt.u64.u32 %%y, %%w9;", "g": "mov.b64 %%y, %%g%d;"}
    types = [("b8", 1, 1), ("u8", 1, 3), ("s8", 1, 5), ("b16", 1, 6), ("u16", 1, 2), ("s16", 1, 10), ("b32", 1, 4), ("u32", 1, 8), ("s32", 1, 12),
             ("b64", 1, 16), ("u64", 1, 24), ("s64", 1, 8), ("f32", 1, 20), ("f64", 1, 8), ("v2.b32", 2, 8), ("v2.u32", 2, 16), ("v2.s32", 2, 24),
             ("v4.b32", 4, 0), ("v4.u32", 4, 16), ("v4.s32", 4, 16), ("v4.b8", 4, 4), ("v4.u8", 4, 20), ("v4.s8", 4, 12), ("v2.f32", 2, 8),
             ("v4.f32", 4, 16), ("v2.b64", 2, 16)]
    for t, n, at in types:
        kind = {"f32": "f", "f64": "g"}.get(t[-3:]) or {"8": "h", "6": "h", "2": "w", "4": "x"}[t[-1]]
        regs = ["%%%s%d" % (kind, k) for k in range(n)]
        name = "take_" + t.replace(".", "_")
        body = " ld.param.%s %s, [par+%d];" % (t, regs[0] if n == 1 else "{" + ", ".join(regs) + "}", at)
        for k in range(n):
            body += " %s mad.lo.u64 %%z, %%z, 5, %%y;" % (fold[kind] % k)
        module += ".func (.param .b64 r) %s(.param .align 16 .b8 par[32])\n{\n .reg .b16 %%h<4>; .reg .b32 %%w<10>; .reg .b64 %%x<4>, %%y, %%z; " \
            ".reg .f32 %%f<4>; .reg .f64 %%g<4>;\n mov.b64 %%z, 0;%s st.param.b64 [r], %%z; ret;\n}\n" % (name, body)
        code = "{ .param .align 16 .b8 p[32]; .param .b64 r; " + "".join("st.param.b64 [p+%d], %%x%d; " % (8 * k, k) for k in range(4))
        forms.append(Form(code + "call.uni (r), %s, (p); ld.param.b64 %%xd, [r]; }" % name, "x", "ld.param." + t))
    return Rows("parameters", ["int"] * 4, forms, 64, module="\n" + module)


def table():
    """All lanes of a warp take the same way."""
    launch = {"input": [["random", 64]], "block": 128, "out": 512}
    body = HEAD + " ld.global.b32 %v, [%in]; shr.u32 %w, %t, 5;\n targets: .branchtargets A, B, C, D;\n brx.idx.uni %w, targets;\n"
    body += "A:\n add.u32 %v, %v, 1; bra E;\nB:\n mul.lo.u32 %v, %v, 5; bra E;\nC:\n not.b32 %v, %v;\nD:\n xor.b32 %v, %v, 0x55;\nE:\n"
    return Kernel("flow_uniform_table", launch, body + " st.global.b32 [%out], %v;\n ret;\n")


def clusters():
    """What a kernel of explicit clusters sees."""
    out = []
    for name, directives in (("implicit", ""), ("required", "\n.reqnctapercluster 1, 1, 1"), ("explicit", "\n.explicitcluster\n.reqnctapercluster 1, 1, 1")):
        body = HEAD + " mov.pred %p, %is_explicit_cluster; selp.b32 %v, 1, 0, %p;\n"
        for r in ("clusterid.x", "nclusterid.x", "cluster_ctaid.x", "cluster_nctaid.x", "cluster_ctarank", "cluster_nctarank"):
            body += " mov.u32 %%w, %%%s; mad.lo.u32 %%v, %%v, 10, %%w;\n" % r
        k = Kernel("cluster_" + name, {"block": 32, "out": 128}, body + " st.global.b32 [%out], %v;\n ret;\n")
        k.directives = directives
        out.append(k)
    return out


def entries():
    m = Messages()
    flags(m)
    barriers(m)
    phases(m)
    rows = [Rows("messages", ["int", "int", "few"], m.forms, 64, PROLOGUE, MODULE + "\n.global .align 128 .b8 lines[128];\n"),
            Rows("fences", ["int", "int", "few"], fences(), 64, PROLOGUE),
            Rows("votes_of_barriers", ["int", "few"], votes(), 64, PROLOGUE), table()] + clusters()
    return {"order": rows, "parameter": [parameters()]}
