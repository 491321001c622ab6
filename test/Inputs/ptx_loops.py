# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts instructions in the loops of a PTX file.

    ptx_loops.py FILE.ptx

Finds the innermost loops (a backward branch with no other one inside) and prints,
for each loop that reads tensor memory and has exponentials, one line

    softmax loop NAME: ex2 112, fma.rn.f32x2 ..., ...

The last line, `unmasked NAME`, names the one with the fewest instructions: the
block that needs no mask. Exits with 1 where there is none.
"""

import re
import sys

# Counted by the prefix of the opcode.
COUNTED = [
    "ex2.",
    "fma.rn.f32x2",
    "mul.rn.f32x2",
    "add.rn.f32x2",
    "add.rm.ftz.f32x2",
    "fma.rn.f32",
    "mul.f32",
    "add.f32",
    "max.",
    "cvt.rn.",
    "tcgen05.ld",
    "tcgen05.st",
    "ld.local",
    "st.local",
    "mul.lo.s64",
    "mul.lo.u64",
    "mul.hi.s64",
    "mul.hi.u64",
    "mul.wide",
    "mad.wide",
    "mad.lo.s64",
]


def instructions(lines):
    """The opcodes of lines, those within inline assembly included."""
    for line in lines:
        text = re.sub(r"//.*", "", line).strip()
        text = re.sub(r"^[{}]\s*", "", text)
        text = re.sub(r"^@!?%\w+\s+", "", text)
        if not text or text.startswith(".") or text.endswith(":"):
            continue
        yield text.split()[0].rstrip(";")


def innermost_loops(text):
    """(label, lines) from a branch target to a branch back to it, for each loop that
    reads tensor memory and has no other such loop inside. The loop of a wait reads
    none, so that it does not hide the loop around it."""
    lines = text.splitlines()
    labels = {}
    for i, line in enumerate(lines):
        label = re.match(r"(\$L__BB\w+):", line)
        if label:
            labels[label.group(1)] = i
    loops = []
    for i, line in enumerate(lines):
        branch = re.search(r"\bbra(?:\.uni)?\s+(\$L__BB\w+)", line)
        if branch and labels[branch.group(1)] <= i:
            first = labels[branch.group(1)]
            if any("tcgen05.ld" in x for x in lines[first:i]):
                loops.append((first, i))
    for first, last in sorted(loops):
        if not any(o != (first, last) and first <= o[0] and o[1] <= last for o in loops):
            yield lines[first].split(":")[0], lines[first : last + 1]


def main():
    text = open(sys.argv[1]).read()
    found = []
    for label, lines in innermost_loops(text):
        opcodes = list(instructions(lines))
        count = {c: sum(o.startswith(c) for o in opcodes) for c in COUNTED}
        # f32 alone, not f32x2.
        count["fma.rn.f32"] -= count["fma.rn.f32x2"]
        if not count["ex2."]:
            continue
        count["max3"] = sum(1 for line in lines if re.search(r"\bmax\.(NaN\.)?f32\s+(%\w+,\s*){3}%\w+", line))
        print(f"softmax loop {label}: " + ", ".join(f"{k.rstrip('.')} {v}" for k, v in count.items()))
        found.append((len(opcodes), label, count))
    if not found:
        sys.exit("no loop reads tensor memory and has exponentials")
    _, label, count = min(found, key=lambda f: f[0])
    print(f"unmasked {label}: " + ", ".join(f"{k.rstrip('.')} {v}" for k, v in count.items()))


main()
