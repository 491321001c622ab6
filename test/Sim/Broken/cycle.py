# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P21: back-pressure that waits for itself. Nothing is copied by plain threads here (operands
that TMA cannot take are refused), but a load that waits for a buffer no one has had yet makes
the same cycle: the report names both edges."""

from broken import ALL_MODES, Broken

b = Broken()
k = b.kernel
load = k.role("load")
# The first wait of a role that fills passes at once, by its parity; the opposite one does not.
for name, full in (("q_empty", "q_full"), ("kv_empty", "kv_full")):
    at = load if name == "q_empty" else k.where(r"mbarrier\.try_wait", after=load + 1)
    parity = k.lines[at].rsplit(",", 1)[1].strip(" ;")
    flipped = [f".reg .b32 %other; xor.b32 %other, {parity}, 1;"]
    broken = k.replaced(at, ", " + parity.replace("%", "%") + ";", ", %other;").put(at - 1, flipped)
    text = b.run(broken, ALL_MODES[0])[1]
    empties, fulls = (k.barrier(n).replace("\\", "").strip("[]") for n in (name, full))
    offset = [int(x.split("+")[1]) for x in (empties, fulls)]
    words = [f"(dynamic shared + {o}) has completed 0 phases" for o in offset]
    b.reported(f"the first load waits for {name}", broken, "deadlock", "warp 12", "warp 13", *words)

# What completes once may be waited for by any number of warps.
b.passes("as it is", k)
b.finish()
