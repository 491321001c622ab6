# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Why a mutant may survive every check: it is no fault. Each reason says for which mutants
it holds and how many of them a kernel may have; one more fails the test."""

import collections
import re

Reason = collections.namedtuple("Reason", "kind holds limit text")

# What lets another thread, or this one, write columns that a tcgen05.ld reads.
HANDS_OVER = re.compile(r"tcgen05\.(st|mma|dealloc)|mbarrier\.arrive|^\s*bar\.|^\s*(@\S+\s+)?bra|^\S+:|\bret;")


def another_load_wait_first(lines, mutant):
    for line in lines[mutant.line + 1 :]:
        if "tcgen05.wait::ld" in line:
            return True
        if HANDS_OVER.search(line):
            return False
    return False


def warp_barrier(lines, mutant):
    return "bar.warp.sync" in lines[mutant.line]


def always(lines, mutant):
    return True


REASONS = [
    Reason(
        "wait::ld dropped",
        another_load_wait_first,
        8,
        "the warp's next tcgen05.wait::ld covers this load too, before anything lets the columns be overwritten; "
        "registers carry their own order",
    ),
    Reason(
        "wait::ld dropped",
        always,
        2,
        "the arrival behind it releases shared memory only; the columns are released after the warp's next "
        "tcgen05.wait::ld",
    ),
    Reason(
        "barrier dropped",
        warp_barrier,
        8,
        "nothing passes between the lanes here, and the next shuffle or vote brings them together",
    ),
    Reason(
        "tcgen05.fence dropped",
        always,
        30,
        "no TMEM is handed over here, or another fence of the thread covers it: --race=formal follows each hand-over",
    ),
    Reason(
        "wait dropped",
        always,
        6,
        "another wait implies it: of the scale's slot (the next scores come after the correction has read it), of the "
        "second query tile and the first ring slots of a task (the first tile's commit comes after their last use)",
    ),
    Reason(
        "barrier swapped",
        always,
        6,
        "the other tile's barrier completes later, or at the same place, so that its wait implies this one",
    ),
]


def reason(lines, mutant, used):
    """The reason that holds for the mutant and is not used up, or None."""
    for r in REASONS:
        if r.kind == mutant.kind and used[r] < r.limit and r.holds(lines, mutant):
            used[r] += 1
            return r
    return None
