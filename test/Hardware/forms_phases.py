# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mbarrier instructions in every spelling that the other generators leave out: addresses, orderings, scopes, operands."""

import re

import coverage
from forms_async import SHARED, Script

HEAD = " .reg .b64 %g; cvt.u64.u32 %g, %bar; cvta.shared.u64 %g, %g; mov.b32 %x0, 2; mov.b32 %x1, 64; mov.b32 %x2, 0; mov.b32 %x3, 20;\n"
PENDING = "mbarrier.pending_count.b64 %v, %m;"


def operate(opcode, text):
    """The text with the barrier's address and the registers that hold what it needs."""
    at = "%bar" if ".shared" in opcode else "%g"
    extra = text.split("]", 1)[1]
    code = text.replace("[%s1]", "[%s]" % at)
    if "wait.parity" in opcode:
        return code.replace("%r1", "PARITY").replace("%r2", "%x3").replace("%p1", "%p")
    if "wait" in opcode:
        return code.replace("%r1", "%x3").replace("%p1", "%p").replace("%d1", "%m")
    count = "%x1" if "_tx" in opcode else "%x0"
    return code.replace("%r1", count).replace("%d1", "%m") if extra else code


def steps(s, opcode, text):
    """A barrier for this one text; what it shows before, in between and afterwards."""
    code = operate(opcode, text)
    verb = re.match(r"mbarrier\.(\w+)", opcode).group(1)
    if verb == "init":
        s.do(code)
        s.look()
        s.do("mbarrier.arrive.shared::cta.b64 _, [%bar], 2;")
        s.look()
        s.do("mbarrier.inval.shared::cta.b64 [%bar];")
        return
    s.do("mbarrier.init.shared::cta.b64 [%%bar], %d;" % (2 if "wait" in verb else 4))
    if verb == "inval":
        s.do(code + " mbarrier.init.shared::cta.b64 [%bar], 1;")
        s.look()
    elif "wait" in verb:
        tries = verb == "test_wait" or "%x3" in code
        read = code + " selp.b32 %v, 1, 0, %p;"
        for count in (1, 1, 2):
            if "PARITY" in code:
                for parity in ("%x2", "1"):
                    # Without a limit of its own a false try_wait lasts as long as the machine likes.
                    if tries or (parity == "1") == (count == 1 and not s.turned):
                        s.note(read.replace("PARITY", parity))
            s.do("mbarrier.arrive.shared::cta.b64 %%m, [%%bar], %d;" % count)
            s.turned = not s.turned if count == 2 or s.half else s.turned
            s.half = not s.half if count == 1 else s.half
            if "PARITY" not in code and (tries or not s.half):
                s.note(read)
        s.turned = s.half = False
    elif verb == "expect_tx":
        s.do(code)
        s.do("mbarrier.arrive.shared::cta.b64 _, [%bar], 4;")
        s.look()
        s.do("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 64;")
        s.look()
    elif verb == "complete_tx":
        s.do("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 64; mbarrier.arrive.shared::cta.b64 _, [%bar], 3;")
        s.look()
        s.do(code)
        s.look()
    else:  # arrive and arrive_drop, with bytes or without
        s.do(code)
        if "%m" in code:
            s.note(PENDING)
        done = 2 if "%x0" in code else 1
        if done < 3:
            s.do("mbarrier.arrive.shared::cta.b64 %%m, [%%bar], %d;" % (3 - done))
        s.look()
        s.do("mbarrier.arrive.shared::cta.b64 %m, [%bar];")
        s.note(PENDING)
        s.look()
        if "expect_tx" in opcode:
            s.do("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 64;")
            s.look()
        left = 4 - done if verb == "arrive_drop" else 4
        if left > 1:  # what the next phase expects
            s.do("mbarrier.arrive.shared::cta.b64 %%m, [%%bar], %d;" % (left - 1))
            s.look()
        s.do("mbarrier.arrive.shared::cta.b64 %m, [%bar];")
        s.look()
    s.do("mbarrier.inval.shared::cta.b64 [%bar];")


def entries():
    scripts = {}
    for _, opcode, text in coverage.missing("mbarrier"):
        verb = re.match(r"mbarrier\.(\w+)", opcode).group(1)
        s = scripts.get(verb)
        if not s:
            s = scripts[verb] = Script()
            s.turned = s.half = False
        steps(s, opcode, text)
    kernels = [s.kernel("phases_" + verb, head=HEAD) for verb, s in scripts.items()]
    kernels[0].module = SHARED
    return {"phases": kernels}
