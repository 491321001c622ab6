# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Break a schedule in every small way, and count which ways the proof refuses.

    mutate.py SCHEDULE.mlir [--all] [KIND ...]

Each mutant differs from the schedule in one place:

  delete     one op that synchronises is gone
  duplicate  it stands there twice
  swap       it has changed places with the op behind it
  slot       it names the other stage
  count      a pending count, or an arrival count of a barrier, is one off
  access     an op that moves a tile or a message names the other stage

Prints a line for every mutant that is not refused (with --all, for every one),
and what was refused and warned of, by kind and op.
"""

import argparse
import bisect
import collections
import re
import subprocess
import sys

SYNCHRONISES = ["fa4.wait", "fa4.arrive", "fa4.fence", "fa4.tmem_wait", "fa4.store_wait"]
MOVES = ["fa4.mma", "fa4.load", "fa4.store", "fa4.read_tile", "fa4.write_tile", "fa4.rescale",
         "fa4.publish", "fa4.collect"]


def op_of(line):
    """Name of the op on a line, or nothing."""
    found = re.match(r"\s*(?:%[\w:, %]+ = )?(fa4\.\w+|arith\.\w+)", line)
    return found.group(1) if found else ""


def label_of(line):
    """The op with what tells its variants apart."""
    words = line.strip().split()
    return " ".join(words[:2]) if words[0] == "fa4.tmem_wait" else op_of(line)


def other_stage(text):
    swapped = {"%c0": "%c1", "%c1": "%c0", "%stage": "%c0"}
    return swapped[text]


def mutants_of(lines):
    """Yields (kind, index of the line, lines)."""
    for i, line in enumerate(lines):
        op = op_of(line)
        if op in SYNCHRONISES:
            yield "delete", i, lines[:i] + lines[i + 1:]
            yield "duplicate", i, lines[:i + 1] + lines[i:]
            if op_of(lines[i + 1]) and "{" not in lines[i + 1]:
                yield "swap", i, lines[:i] + [lines[i + 1], line] + lines[i + 2:]
        if op in SYNCHRONISES or op in MOVES:
            kind = "slot" if op in SYNCHRONISES else "access"
            for stage in re.finditer(r"(?<=\[)%(?:c0|c1|stage)(?=\])", line):
                changed = line[:stage.start()] + other_stage(stage.group()) + line[stage.end():]
                yield kind, i, lines[:i] + [changed] + lines[i + 1:]
        if op == "fa4.store_wait" or op == "fa4.barrier":
            for count in re.finditer(r"(?<=pending\()\d+|(?<= threads )\d+|(?<= bytes )\d+", line):
                for change in (-1, 1):
                    value = int(count.group()) + change
                    changed = line[:count.start()] + str(value) + line[count.end():]
                    yield "count", i, lines[:i] + [changed] + lines[i + 1:]


def role_of(lines, i):
    for line in reversed(lines[:i + 1]):
        found = re.search(r"fa4\.role @(\w+)", line)
        if found:
            return "@" + found.group(1)
    return "-"


def verdicts_of(mutants):
    """The worst diagnostic on each mutant: (severity, message)."""
    text, starts, line = [], [], 1
    for _, _, lines in mutants:
        starts.append(line)
        text += lines + ["// -----"]
        line += len(lines) + 1
    result = subprocess.run(
        ["fa4-opt", "--split-input-file", "--mlir-print-op-on-diagnostic=false",
         "--pass-pipeline=builtin.module(fa4.kernel(fa4-verify-protocol))", "-o", "/dev/null",
         "-"],
        input="\n".join(text[:-1]), capture_output=True, text=True)
    worst = {}
    for report in result.stderr.splitlines():
        found = re.match(r"(?:[^:]+|<stdin>):(\d+):\d+: (error|warning): (.*)", report)
        if not found:
            continue
        index = bisect.bisect(starts, int(found.group(1))) - 1
        if index not in worst or worst[index][0] == "warning":
            worst[index] = (found.group(2), found.group(3))
    return [worst.get(i, ("none", "")) for i in range(len(mutants))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("schedule")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("kinds", nargs="*")
    args = parser.parse_args()
    lines = open(args.schedule).read().rstrip("\n").split("\n")
    mutants = [m for m in mutants_of(lines) if not args.kinds or m[0] in args.kinds]
    table = collections.Counter()
    for (kind, i, _), (severity, message) in zip(mutants, verdicts_of(mutants)):
        row = f"{kind} {label_of(lines[i])}"
        table[row, "total"] += 1
        table[row, severity] += 1
        if args.all or severity == "none":
            verdict = {"none": "passes", "warning": "warned", "error": "refused"}[severity]
            print(f"{verdict} {kind} {role_of(lines, i)}: {lines[i].strip()[:90]}",
                  f"| {message}" if message else "")
    for row in sorted({row for row, _ in table}):
        total = table[row, "total"]
        counts = {"refused": table[row, "error"], "warned": table[row, "warning"]}
        whole = [f"{verdict} all" for verdict, count in counts.items() if count == total]
        some = [f"{verdict} {count}" for verdict, count in counts.items() if count]
        print(f"{row}: {', '.join(whole or some or ['refused none'])} of {total}")


if __name__ == "__main__":
    sys.exit(main())
