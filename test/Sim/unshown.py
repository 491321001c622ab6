# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Why the proof refuses a mutant that no run of the simulator shows wrong: each is a fault all
the same, and its reason says where. `REASONS` are tried in order, on the proof's message."""

import collections
import re

Reason = collections.namedtuple("Reason", "name pattern text")

REASONS = [
    Reason(
        "arrival at the end",
        r"when the block has ended",
        "a commit that nobody waits for arrives when the block's shared memory may be another's; "
        "the simulator ends with the last warp",
    ),
    Reason(
        "missed phase",
        r"the wait would miss (its phase|that) and block",
        "whether the next phase of the barrier comes before the wait is a matter of time",
    ),
    Reason(
        "another M block",
        r"expected the M block of the task at hand as coordinate 0",
        "the mask of another M block differs only where the diagonal is, and where there is more than one",
    ),
    Reason(
        "masked keys",
        r"expected the mask to name|expected one scale for all of S|expected (P|V) (of the task at hand|that goes with)",
        "in a block of this problem these keys are all masked: their weights are 0 whatever S, P and V hold",
    ),
    Reason(
        "stored twice",
        r"expected each tile to be stored once",
        "the same values twice, where once is what the contract of the launch says",
    ),
    Reason(
        "filled by others",
        r"to complete, but it lacks",
        "a named barrier that one side no longer comes to is filled by the other side's next arrivals; the barrier that "
        "is waited for in its place gives the order here",
    ),
    Reason(
        "other trip counts",
        r"deadlock: ",
        "with more masked blocks in a task than these tiles can have, a role would wait for ever",
    ),
]


def reason(message):
    """The name of the first that fits, or None."""
    return next((r.name for r in REASONS if re.search(r.pattern, message)), None)
