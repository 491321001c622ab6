# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Why a mutant may survive: it is no fault. docs/simulator.md has the table."""

import re

# What lets another thread, or this one, write columns that a tcgen05.ld reads.
HANDS_OVER = re.compile(r"tcgen05\.(st|mma|dealloc)|mbarrier\.arrive|^\s*bar\.|^\s*(@\S+\s+)?bra|^\S+:|\bret;")


def another_wait_first(lines, mutant):
    """The warp's next tcgen05.wait::ld covers this load too: it comes before anything
    that lets the columns be overwritten, and the registers carry their own order."""
    for line in lines[mutant.line + 1 :]:
        if "tcgen05.wait::ld" in line:
            return True
        if HANDS_OVER.search(line):
            return False
    return False


REASONS = {
    "wait::ld dropped": [another_wait_first],
}


def reason(lines, mutant):
    """The reason, or None."""
    for holds in REASONS.get(mutant.kind, []):
        if holds(lines, mutant):
            return " ".join(holds.__doc__.split())
    return None
