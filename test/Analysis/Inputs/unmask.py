# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Give an op of a schedule what `fa4.mask` was given instead of what it makes.

    unmask.py ROLE OP NTH < SCHEDULE

The op is the NTH (from 1) OP of the role. A `fa4.mask` is taken out, so that all of its
users get its input; of another op one operand changes, the first that a mask makes.
"""

import re
import sys

from edit import find

MASK = r"( *)(%\w+) = fa4\.mask (%\w+)\["


def main():
    role, op, nth = sys.argv[1:]
    lines = sys.stdin.read().split("\n")
    i = find(lines, role, re.escape(op) + r"\b", int(nth))
    mask = re.match(MASK, lines[i])
    if mask:
        indent, old, new = mask.groups()
        del lines[i]
        while lines[i].startswith(indent):
            lines[i] = re.sub(old + r"\b", new, lines[i])
            i += 1
    else:
        operands = re.findall(r"%\w+", lines[i].split("=", 1)[1])
        masks = {m[2]: m[3] for m in (re.match(MASK, line) for line in lines[:i]) if m}
        old = next((operand for operand in operands if operand in masks), None)
        if not old:
            sys.exit(f"nothing masked in: {lines[i]}")
        lines[i] = re.sub(old + r"\b", masks[old], lines[i])
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    main()
