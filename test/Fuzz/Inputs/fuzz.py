# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a tool on damaged copies of IR: fuzz.py SEED COUNT BASE.mlir -- TOOL ARGS

Each mutant must be accepted, or refused with an error. A signal, a stack dump,
an assertion or a run without end is a fault: the mutant is printed and the
script ends with 1. The same seed makes the same mutants.
"""

import random
import re
import subprocess
import sys
import tempfile

SEPARATOR = "// -----\n"
NUMBERS = [
    "0", "1", "-1", "2", "3", "7", "15", "16", "17", "31", "32", "63", "64", "65", "96",
    "100", "127", "128", "129", "255", "256", "512", "1000", "65535", "65536", "2147483647",
    "-2147483648", "4294967296", "9223372036854775807", "-9223372036854775808",
    "1152921504606846976",
]  # fmt: skip
TOKEN = re.compile(r"%[\w#]+|@\w+|\"[\w.]+\"|[A-Za-z_][\w.]*|\d+")
DIED = re.compile(r"Stack dump|Assertion|PLEASE submit|LLVM ERROR|UNREACHABLE|terminate called")


def replace(line, match, text):
    return line[: match.start()] + text + line[match.end() :]


def mutate_token(rng, lines, at, tokens):
    matches = list(TOKEN.finditer(lines[at]))
    if not matches:
        return
    match = rng.choice(matches)
    token = match.group()
    if token.isdigit():
        text = rng.choice(NUMBERS)
    else:
        kind = [t for t in tokens if t[0] == token[0]] if token[0] in '%@"' else tokens
        text = rng.choice(kind or tokens)
    lines[at] = replace(lines[at], match, text)


def region_end(lines, at):
    """The line behind the region that opens on line `at`."""
    depth = 0
    for i in range(at, len(lines)):
        depth += lines[i].count("{") - lines[i].count("}")
        if depth <= 0:
            return i + 1
    return len(lines)


def mutate(rng, text):
    lines = text.splitlines(keepends=True)
    tokens = sorted({t for t in TOKEN.findall(text) if not t.isdigit()})
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        # Whole ops or regions, so that much of the damage still parses.
        at = rng.randrange(len(lines))
        end = region_end(lines, at)
        other = rng.randrange(len(lines))
        kind = rng.randrange(8)
        if kind == 0:
            del lines[at:end]
        elif kind == 1:
            lines[end:end] = lines[at:end]
        elif kind == 2:
            moved = lines[at:end]
            del lines[at:end]
            other = min(other, len(lines))
            lines[other:other] = moved
        elif kind == 3:
            lines[other:other] = lines[at:end]
        elif kind == 4:
            numbers = list(re.finditer(r"\d+", lines[at]))
            if numbers:
                lines[at] = replace(lines[at], rng.choice(numbers), rng.choice(NUMBERS))
        elif kind == 5:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            mutate_token(rng, lines, at, tokens)
        if not lines:
            lines = ["\n"]
    return "".join(lines)


def run(command, mutants):
    """Whether the tool survives; what it said."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(SEPARATOR.join(mutants))
        file.flush()
        try:
            done = subprocess.run(
                command + ["--split-input-file", file.name, "-o", "/dev/null"],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=30 + len(mutants),
            )
        except subprocess.TimeoutExpired:
            return False, "no end in sight"
    silent = done.returncode != 0 and "error:" not in done.stderr
    survived = done.returncode in (0, 1) and not silent and not DIED.search(done.stderr)
    return survived, f"exit status {done.returncode}\n" + done.stderr[-3000:]


def find_faults(command, mutants, faults):
    survived, said = run(command, mutants)
    if survived:
        return
    if len(mutants) == 1:
        faults.append((mutants[0], said))
        return
    half = len(mutants) // 2
    find_faults(command, mutants[:half], faults)
    find_faults(command, mutants[half:], faults)


def main():
    split = sys.argv.index("--")
    seed, count, base = sys.argv[1:split]
    command = sys.argv[split + 1 :]
    with open(base) as file:
        text = file.read()
    rng = random.Random(int(seed))
    mutants = [mutate(rng, text) for _ in range(int(count))]
    faults = []
    for begin in range(0, len(mutants), 25):
        find_faults(command, mutants[begin : begin + 25], faults)
    for mutant, said in faults:
        print("=== mutant\n" + mutant + "=== " + said)
    print(f"{len(mutants)} mutants, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
