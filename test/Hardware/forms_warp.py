# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warp exchanges, barriers by count, control flow and special registers."""

from forms_base import Form, Kernel, Rows, predicate

BOTH = " selp.b32 %w31, 0x80000000, 0, %p; xor.b32 %wd, %w9, %w31;"


def shuffles():
    """Slot 0 a value, 1 a lane or distance, 2 the clamp word."""
    out = []
    for mode in ("up", "down", "bfly", "idx"):
        for b in (0, 1, 2, 5, 16, 31):
            for c in (("0", "0x1c00", "0x1800", "0x1000", "5") if mode == "up" else ("0x1f", "0x1c03", "0x1807", "0x100f", "0x1f0f")):
                code = "shfl.sync.%s.b32 %%w9|%%p, %%w0, %d, %s, 0xffffffff;" % (mode, b, c)
                out.append(Form(code + BOTH, "w", "shfl.sync.%s.b32 %d %s" % (mode, b, c)))
        c = "0" if mode == "up" else "0x1f"
        out.append(Form("shfl.sync.%s.b32 %%w9|%%p, %%w0, %%w1, %s, -1;" % (mode, c) + BOTH, "w", "shfl.sync.%s.b32 by lane" % mode))
        out.append(Form("shfl.sync.%s.b32 %%w9|%%p, %%w0, %%w1, %%w2, -1;" % mode + BOTH, "w", "shfl.sync.%s.b32 by lane, clamped" % mode))
        out.append(Form("shfl.sync.%s.b32 %%wd, %%w0, 3, %s, -1;" % (mode, c), "w", "shfl.sync.%s.b32, no predicate" % mode))
    return out


def votes():
    """The last slot's low bit is %c; slot 1 has few values, slot 0 many."""
    out = []
    for m in ("all", "any", "uni"):
        for neg in ("", "!"):
            out.append(predicate("vote.sync.%s.pred %%p, %s%%c, -1;" % (m, neg), "vote.sync.%s.pred %sc" % (m, neg)))
        out.append(predicate("setp.ge.u32 %%q, %%w1, 0; vote.sync.%s.pred %%p, %%q, -1;" % m, "vote.sync.%s.pred, all alike" % m))
    out.append(Form("vote.sync.ballot.b32 %wd, %c, -1;", "w", "vote.sync.ballot.b32"))
    out.append(Form("vote.sync.ballot.b32 %wd, !%c, -1;", "w", "vote.sync.ballot.b32 !c"))
    for k, r in (("b32", "w"), ("b64", "x")):
        for slot in (0, 1):
            out.append(Form("match.any.sync.%s %%wd, %%%s%d, -1;" % (k, r, slot), "w", "match.any.sync.%s %d" % (k, slot)))
            code = "match.all.sync.%s %%w9|%%p, %%%s%d, -1; selp.b32 %%w31, 0x80000000, 0, %%p; xor.b32 %%wd, %%w9, %%w31;" % (k, r, slot)
            out.append(Form(code, "w", "match.all.sync.%s %d" % (k, slot)))
        same = "mov.%s %%%s9, 77; " % (k, r)
        out.append(Form(same + "match.all.sync.%s %%w9|%%p, %%%s9, -1; selp.b32 %%w31, 1, 0, %%p; xor.b32 %%wd, %%w9, %%w31;" % (k, r),
                        "w", "match.all.sync.%s, all alike" % k))
    for m in ("add", "min", "max"):
        out += [Form("redux.sync.%s.%s %%wd, %%w0, -1;" % (m, t), "w", "redux.sync.%s.%s" % (m, t)) for t in ("u32", "s32")]
    out += [Form("redux.sync.%s.b32 %%wd, %%w0, -1;" % m, "w", "redux.sync.%s.b32" % m) for m in ("and", "or", "xor")]
    out.append(Form("activemask.b32 %wd;", "w"))
    out.append(Form("elect.sync %w9|%p, -1; selp.b32 %w31, 256, 0, %p; add.u32 %wd, %w9, %w31;", "w", "elect.sync"))
    return out


def parted():
    """Half of a warp, or a ragged part of it, does the work."""
    out = []
    for name, mask, test in (("odd", "0xaaaaaaaa", "and.b32 %w9, %t, 1; setp.ne.b32 %q, %w9, 0;"),
                             ("high", "0xffffff00", "and.b32 %w9, %t, 31; setp.ge.u32 %q, %w9, 8;")):
        for what, code in (("activemask.b32", "activemask.b32 %w10;"),
                           ("vote.sync.ballot.b32", "vote.sync.ballot.b32 %%w10, %%c, %s;" % mask),
                           ("vote.sync.any.pred", "vote.sync.any.pred %%p, %%c, %s; selp.b32 %%w10, 1, 0, %%p;" % mask),
                           ("elect.sync", "elect.sync %%w10|%%p, %s; selp.b32 %%w31, 256, 0, %%p; add.u32 %%w10, %%w10, %%w31;" % mask),
                           ("match.any.sync.b32", "match.any.sync.b32 %%w10, %%w1, %s;" % mask),
                           ("redux.sync.add.s32", "redux.sync.add.s32 %%w10, %%w0, %s;" % mask),
                           ("redux.sync.min.u32", "redux.sync.min.u32 %%w10, %%w0, %s;" % mask),
                           ("redux.sync.xor.b32", "redux.sync.xor.b32 %%w10, %%w0, %s;" % mask),
                           ("shfl.sync.bfly.b32", "shfl.sync.bfly.b32 %%w10|%%p, %%w0, 2, 0x1f, %s;" % mask)):
            label = "L%d_%s" % (len(out), name)
            full = "mov.b32 %%w10, 0xabc; %s @!%%q bra %s; %s bar.warp.sync %s;" % (test, label, code, mask)
            # A label ends a line, so the store comes after it in the same form.
            out.append(Form("%s %s: mov.b32 %%wd, %%w10;" % (full, label), "w", "%s, %s lanes" % (what, name)))
    return out


def barriers():
    """128 threads; barriers order shared memory, and reduce."""
    out = []
    for m in ("bar", "barrier"):
        for r in ("and", "or"):
            for neg in ("", "!"):
                out.append(predicate("%s.red.%s.pred %%p, 1, %s%%c;" % (m, r, neg), "%s.red.%s.pred %sc" % (m, r, neg)))
        out.append(Form("%s.red.popc.u32 %%wd, 2, %%c;" % m, "w", "%s.red.popc.u32" % m))
        out.append(Form("%s.red.popc.u32 %%wd, 3, 128, !%%c;" % m, "w", "%s.red.popc.u32 counted" % m))
        out.append(Form("mov.b32 %%w9, 6; %s.red.popc.u32 %%wd, %%w9, 128, %%c;" % m, "w", "%s.red.popc.u32, barrier in a register" % m))
    out.append(Form("barrier.cta.red.popc.u32 %wd, 4, %c;", "w", "barrier.cta.red.popc.u32"))
    out.append(Form("barrier.cta.red.popc.aligned.u32 %wd, 5, %c;", "w", "barrier.cta.red.popc.aligned.u32"))
    return out


def special():
    out = []
    for r in ["%" + n + "." + d for n in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid",
                                          "cluster_nctaid") for d in "xyz"] + [
            "%laneid", "%warpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge",
            "%cluster_ctarank", "%cluster_nctarank", "%dynamic_smem_size", "%total_smem_size"]:
        out.append(Form("mov.u32 %%wd, %s;" % r, "w", "mov.u32 " + r, "open" if r == "%warpid" else ""))
    out.append(predicate("mov.pred %p, %is_explicit_cluster;", "mov.pred %is_explicit_cluster"))
    return out


HEAD = """ .reg .b64 %in, %out, %a; .reg .b32 %t, %v, %w, %k, %r<8>; .reg .pred %p, %q;
 .shared .align 16 .b8 room[4096];
 ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
 mul.wide.u32 %a, %t, 4; add.u64 %in, %in, %a; add.u64 %out, %out, %a; mov.u32 %k, room;
"""


def functions():
    """Parameters in registers, and in parameter space, are a file each."""
    launch = {"input": [["random", 64]], "block": 128, "out": 512}
    twist = """
.func (.reg .b32 %res) twist(.reg .b32 %x, .reg .b32 %y)
{
 .reg .b32 %z; .reg .pred %p;
 setp.lt.s32 %p, %x, %y; @%p bra L;
 mul.lo.u32 %z, %x, 3; add.u32 %res, %z, %y; ret;
L:
 xor.b32 %res, %x, %y; ret;
}
"""
    total = """
.func (.param .b64 res) sum(.param .align 16 .b8 pair[16], .param .b32 n)
{
 .reg .b64 %x, %y; .reg .b32 %n; .reg .pred %p;
 ld.param.b64 %x, [pair]; ld.param.b64 %y, [pair+8]; ld.param.b32 %n, [n];
L:
 setp.eq.u32 %p, %n, 0; @%p bra E;
 add.u64 %x, %x, %y; sub.u32 %n, %n, 1; bra.uni L;
E:
 st.param.b64 [res], %x; ret;
}
"""
    call = HEAD + " ld.global.b32 %v, [%in]; shr.u32 %w, %v, 7;\n call (%r0), twist, (%v, %w);\n st.global.b32 [%out], %r0;\n ret;\n"
    pairs = HEAD + """ ld.global.b32 %v, [%in]; shr.u32 %w, %v, 7;
 {
 .param .align 16 .b8 pair[16]; .param .b32 n; .param .b64 res;
 cvt.u64.u32 %a, %v; st.param.b64 [pair], %a; cvt.u64.u32 %a, %w; st.param.b64 [pair+8], %a; and.b32 %r1, %t, 7; st.param.b32 [n], %r1;
 call.uni (res), sum, (pair, n);
 ld.param.b64 %a, [res];
 }
 cvt.u32.u64 %r2, %a; st.global.b32 [%out], %r2;
 ret;
"""
    return [Kernel("call_registers", launch, call, twist)], [Kernel("call_parameters", launch, pairs, total)]


def flows():
    launch = {"input": [["random", 64]], "block": 128, "out": 512}
    branch = HEAD + " ld.global.b32 %v, [%in]; and.b32 %w, %v, 3;\n"
    branch += " targets: .branchtargets A, B, C, D;\n brx.idx %w, targets;\n"
    branch += "A:\n add.u32 %v, %v, 1; bra E;\nB:\n mul.lo.u32 %v, %v, 5; bra E;\nC:\n not.b32 %v, %v;\nD:\n xor.b32 %v, %v, 0x55;\nE:\n"
    branch += " st.global.b32 [%out], %v;\n ret;\n"
    loop = HEAD + " ld.global.b32 %v, [%in]; mov.u32 %w, 0;\nL:\n setp.le.u32 %p, %v, 1; @%p bra E; and.b32 %r0, %v, 1;\n"
    loop += " setp.eq.u32 %q, %r0, 0; @%q shr.u32 %v, %v, 1; @!%q mad.lo.u32 %v, %v, 3, 1; add.u32 %w, %w, 1;\n"
    loop += " setp.lt.u32 %q, %w, 50; @%q bra L;\nE:\n nanosleep.u32 20; shl.b32 %w, %w, 16; xor.b32 %w, %w, %v; st.global.b32 [%out], %w;\n ret;\n"
    # Two warps hand over to two others through barriers that count threads of both kinds.
    pairs = HEAD + """ ld.global.b32 %v, [%in]; mad.lo.u32 %k, %t, 4, %k; setp.ge.u32 %p, %t, 64; @%p bra L;
 st.shared.b32 [%k], %v; bar.arrive 1, 128; bar.sync 2, 128; ld.shared.b32 %w, [%k+256]; st.global.b32 [%out], %w; ret;
L:
 bar.sync 1, 128; ld.shared.b32 %w, [%k+-256]; add.u32 %w, %w, 7; st.shared.b32 [%k], %w; st.global.b32 [%out], %w; bar.arrive 2, 128; ret;
"""
    ragged = HEAD + """ ld.global.b32 %v, [%in]; mad.lo.u32 %k, %t, 4, %k; st.shared.b32 [%k], %v; xor.b32 %r0, %t, 32; mov.u32 %r1, room;
 mad.lo.u32 %r1, %r0, 4, %r1; shr.u32 %r2, %t, 6; add.u32 %r2, %r2, 4; barrier.sync %r2, 64; ld.shared.b32 %w, [%r1];
 st.global.b32 [%out], %w; barrier.cta.sync 0; barrier.cta.sync.aligned 3, 128; barrier.arrive 7, 256; barrier.sync 7, 256; ret;
"""
    exits = HEAD + """ ld.global.b32 %v, [%in]; and.b32 %w, %v, 1; setp.eq.u32 %p, %w, 0; st.global.b32 [%out], %t; @%p exit;
 st.global.b32 [%out], %v; ret;
"""
    registers = HEAD + """ ld.global.b32 %v, [%in]; setp.ge.u32 %p, %t, 128; @%p bra L;
 setmaxnreg.dec.sync.aligned.u32 24; add.u32 %v, %v, 1; st.global.b32 [%out], %v; ret;
L:
 setmaxnreg.inc.sync.aligned.u32 MORE; xor.b32 %v, %v, 1; st.global.b32 [%out], %v; ret;
"""
    out = [Kernel("flow_branch_table", launch, branch), Kernel("flow_loop", launch, loop),
           Kernel("barrier_pairs", launch, pairs), Kernel("barrier_counts", launch, ragged), Kernel("flow_exit", launch, exits)]
    for threads, more in ((256, 232), (384, 240), (512, 160)):
        k = Kernel("setmaxnreg_%d" % threads, dict(launch, block=threads, out=4 * threads, input=[["random", threads // 2]]),
                   registers.replace("MORE", str(more)))
        k.directives = "\n.maxntid %d\n.minnctapersm 1" % threads
        out.append(k)
    return out


def entries():
    value = "int"
    registers, parameters = functions()
    return {
        "call_registers": registers,
        "call": parameters,
        "warp": [
            Rows("shfl", [value, "lane", "clamp"], shuffles(), 64),
            Rows("vote", [value, "few", "random"], votes(), 64),
            Rows("vote_parted", [value, "few", "random"], parted(), 64),
        ],
        "control": [
            Rows("barrier_red", [value, "few", "random"], barriers(), 128),
            Rows("special", [value], special(), 96),
        ] + flows(),
    }
