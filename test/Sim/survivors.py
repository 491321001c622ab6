# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Why a mutant may survive every check: it is no fault. Each reason says for which mutants
it holds and how many of them a kernel may have; one more fails the test."""

import collections
import re

Reason = collections.namedtuple("Reason", "kind holds limit text")

# What the load role does while it has work.
WORKS = re.compile(r"cp\.async|tcgen05\.|mbarrier\.arrive|bar\.sync")


def drains(lines, mutant):
    """The load role waits for the last commits: nothing but waits follows."""
    for line in lines[mutant.line + 1 :]:
        if "bar.warp.sync" in line:
            return True
        if WORKS.search(line):
            return False
    return False


def warp_barrier(lines, mutant):
    return "bar.warp.sync" in lines[mutant.line]


def always(lines, mutant):
    return True


REASONS = [
    Reason(
        "wait dropped",
        drains,
        10,
        "commits arrive in order, so of the waits for the last commits before the CTA ends each is implied by another",
    ),
    Reason(
        "parity",
        drains,
        10,
        "commits arrive in order, so of the waits for the last commits before the CTA ends each is implied by another",
    ),
    Reason(
        "barrier swapped",
        drains,
        10,
        "commits arrive in order, so of the waits for the last commits before the CTA ends each is implied by another",
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
        7,
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
