# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets a consumer of a Hopper schedule stage its result in the place of its query tile.

    stage_over_q.py [join] < SCHEDULE

With `join`, its warps meet behind their last product.
"""

import re
import sys

text = sys.stdin.read()
join = sys.argv[1:] == ["join"]


def role(name):
    return re.search(rf"    fa4\.role @{name}\b.*?\n    }}\n", text, re.S)[0]


def edit(part, *changes):
    for old, new in changes:
        if old not in part:
            sys.exit(f"no such text: {old}")
        part = part.replace(old, new, 1)
    return part


barriers = '    %o_read = fa4.barrier "o_read" slots(1) arrives(@store threads 32)\n'
meet = "        fa4.wait %met[%c0]\n" if join else ""
if join:
    barriers += '    %met = fa4.barrier "met" named slots(1) arrives(@consumer_0 threads 128)\n'
store, consumer = role("store"), role("consumer_0")
staged = edit(
    store, ("fa4.store %o_staging[%c0]", "fa4.store %q_smem[%c0]"), ("fa4.arrive %o_empty[%c0]", "fa4.arrive %o_read[%c0]")
)
consumed = edit(
    consumer,
    ("        fa4.arrive %q_empty_0[%c0]\n", ""),
    ("        fa4.wait %o_empty[%c0]\n", meet),
    ("%o_staging[%c0] columns(0)", "%q_smem[%c0] columns(0)"),
    (
        "        fa4.arrive %o_full_0[%c0]\n",
        "        fa4.arrive %o_full_0[%c0]\n        fa4.wait %o_read[%c0]\n        fa4.arrive %q_empty_0[%c0]\n",
    ),
)
text = edit(text, (store, staged), (consumer, consumed), ("    fa4.init_barriers", barriers + "    fa4.init_barriers"))
sys.stdout.write(text)
