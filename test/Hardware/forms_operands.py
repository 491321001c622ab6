# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of operands of warps, moves and calls that the other generators leave out: registers for masks, lanes and ranks, symbols,
special registers."""

import coverage
from forms_base import Form, Rows, predicate

# %all is -1 and %none 0, which the assembler does not know. own is in local memory, near in shared, room in global.
PROLOGUE = """ .reg .b32 %all, %none, %s; .reg .b64 %sg, %sl; .local .align 16 .b8 own[32]; .shared .align 16 .b8 near[1024];
 mov.u32 %none, %nctaid.x; sub.u32 %none, %none, 1; not.b32 %all, %none;
 mov.u32 %s, near; mad.lo.u32 %s, %t, 8, %s; cvt.u64.u32 %sl, %s; cvta.shared.u64 %sg, %sl;
"""
MODULE = """
.global .align 16 .b8 room[256];
"""
# What they hold is the machine's own affair.
OWN = ("%nwarpid", "%smid", "%nsmid", "%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi", "%reserved_smem_offset_begin",
       "%reserved_smem_offset_end", "%reserved_smem_offset_cap", "%aggr_smem_size", "%envreg0", "%envreg31", "%pm0", "%pm7", "%clock64",
       "%globaltimer", "%gridid", "%pm0_64", "%current_graph_exec")


def warps():
    """Slot 0 a value, 1 a lane or distance, 2 the clamp word, 3 a predicate."""
    out = []
    for _, opcode, text in coverage.missing("warps and barriers"):
        if not opcode.startswith(("shfl", "vote", "match", "redux", "elect", "bar.warp")):
            continue
        target, *sources = coverage.operands(text[len(opcode):].rstrip(";"))
        if opcode == "bar.warp.sync":
            out.append(Form("st.shared.b32 [%s], %w0; bar.warp.sync %all; xor.b32 %w9, %s, 8; ld.shared.b32 %wd, [%w9]; bar.warp.sync %all;",
                            "w", text))
            continue
        mask = len(sources) - 1
        values = []
        for i, s in enumerate(sources):
            if s.startswith("%") and i == mask:
                s = "%all"
            elif s.lstrip("!").startswith("%p"):
                s = s.replace(s.lstrip("!"), "%c")
            elif s.startswith("%"):
                s = "%%%s%d" % ("x" if s.startswith("%d") else "w", i)
            values.append(s)
        to = {"%r1": "%wd", "%p1": "%p", "%r1|%p1": "%w9|%p", "_|%p1": "_|%p"}[target]
        code = "%s %s, %s;" % (opcode, to, ", ".join(values))
        if to == "%w9|%p":
            out.append(Form(code + " selp.b32 %w31, 0x80000000, 0, %p; xor.b32 %wd, %w9, %w31;", "w", text))
        else:
            out.append(Form(code, "w", text) if to == "%wd" else predicate(code, text))
    return out


def moves():
    out = []
    for r in OWN:
        wide = r in ("%clock64", "%globaltimer", "%gridid", "%pm0_64", "%current_graph_exec")
        m = "mov.u64" if wide else "mov.b32" if "reserved" in r else "mov.u32"
        out.append(Form("%s %%%sd, %s;" % (m, "x" if wide else "w", r), "x" if wide else "w", m + " " + r, "open"))
    out.append(Form("mov.u32 %wd, %w0;", "w", "mov.u32"))
    out.append(Form("mov.u64 %xd, %x0;", "x", "mov.u64"))
    out.append(Form("mov.pred %p, %c; selp.b32 %wd, 1, 2, %p;", "w", "mov.pred"))
    out.append(Form("mov.u32 %w9, own; st.local.b32 [%w9+4], %w0; ld.local.b32 %wd, [%w9+4];", "w", "mov.u32 of a local variable"))
    for symbol, space in (("own", "local"), ("room", "global")):
        at = "%x9" if space == "local" else "%x10"
        index = "" if space == "local" else "mul.wide.u32 %x11, %t, 4; add.u64 %x10, %x9, %x11; "
        out.append(Form("mov.u64 %%x9, %s; %sst.%s.b32 [%s], %%w0; ld.%s.b32 %%wd, [%s];" % (symbol, index, space, at, space, at), "w",
                        "mov.u64 of a %s variable" % space))
    out.append(Form("cvta.global.u64 %x9, room; mul.wide.u32 %x11, %t, 4; add.u64 %x9, %x9, %x11; st.b32 [%x9], %w1; ld.b32 %wd, [%x9];", "w",
                    "cvta.global.u64 of a variable"))
    out.append(predicate("cvta.param.u64 %x9, in; ld.b64 %x10, [%x9]; ld.param.b64 %x11, [in]; setp.eq.u64 %p, %x10, %x11;",
                         "cvta.param.u64 of a parameter"))
    near = "st.shared.b32 [%%s], %%w0; %s ld.%sb32 %%wd, [%s];"
    out.append(Form(near % ("mapa.u64 %x9, %sg, %none;", "", "%x9"), "w", "mapa.u64 of a rank"))
    out.append(Form(near % ("mapa.shared::cluster.u32 %w9, %s, %none;", "shared::cluster.", "%w9"), "w", "mapa.shared::cluster.u32 of a rank"))
    out.append(Form(near % ("mapa.shared::cluster.u64 %x9, %sl, %none;", "shared::cluster.", "%x9"), "w", "mapa.shared::cluster.u64 of a rank"))
    out.append(Form(near % ("mapa.shared::cluster.u32 %w9, near, 0; mad.lo.u32 %w9, %t, 8, %w9;", "shared::cluster.", "%w9"), "w",
                    "mapa.shared::cluster.u32 of a variable"))
    out.append(Form("and.b32 %w9, %w1, 31; nanosleep.u32 %w9; mov.b32 %wd, %w0;", "w", "nanosleep.u32"))
    return out


def calls():
    """Functions without parameters, without results, and with immediate arguments."""
    module = """
.global .align 16 .b8 tally[512];
.func mark()
{
 .reg .b64 %a; .reg .b32 %t, %v; mov.u64 %a, tally; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %a;
 ld.global.b32 %v, [%a]; add.u32 %v, %v, 3; st.global.b32 [%a], %v; ret;
}
.func add(.param .b32 a, .param .b64 b)
{
 .reg .b64 %a, %b; .reg .b32 %t, %v, %w; mov.u64 %a, tally; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %a;
 ld.param.b32 %w, [a]; ld.param.b64 %b, [b]; cvt.u32.u64 %v, %b; add.u32 %w, %w, %v; st.global.b32 [%a], %w; ret;
}
"""
    own = "mov.u64 %x9, tally; mad.wide.u32 %x9, %t, 4, %x9; st.global.b32 [%x9], %w0; "
    out = [Form(own + "call.uni mark; ld.global.b32 %wd, [%x9];", "w", "call.uni without parameters"),
           Form(own + "@%c call mark; ld.global.b32 %wd, [%x9];", "w", "call without parameters, for some"),
           Form(own + "{ .param .b32 p; .param .b64 q; st.param.b32 [p], 3; st.param.b64 [q], 77; call.uni add, (p, q); } ld.global.b32 %wd, [%x9];",
                "w", "call.uni without results")]
    return Rows("calls", ["int", "int"], out, 64, module=module)


def entries():
    return {"operands": [Rows("operands_warps", ["int", "lane", "clamp", "int"], warps(), 64, PROLOGUE, MODULE),
                         Rows("operands_moves", ["int", "int"], moves(), 32, PROLOGUE)],
            "calls": [calls()]}
