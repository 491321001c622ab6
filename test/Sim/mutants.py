# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Breaks the PTX of our kernels one instruction at a time: each break must be reported.

A mutant is killed when a mode of ptx-sim reports it (fault, race, deadlock) or an output
bit differs from the kernel's own. A mutant that survives every mode needs a reason in
survivors.py, or the test fails. A sample of the mutants of one kernel is tried, or with
--full every mutant of every kernel. The first check that kills a mutant ends its trial,
except for the first kernel of a full run, which shows what each check is good for. The last
check reads PTX more strictly than machines do: what it alone kills is counted apart, with
how many of these ptx-sim --race warns of.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

import survivors
from harness import ALL_DYNAMIC, Harness, Inputs, Problem

# Several tasks a CTA and several key/value blocks, so that every ring turns over; each
# block rescales, and both query tiles see each block.
ALWAYS = "rescale-threshold=0"
PROBLEMS = {
    "causal": Problem(1, 160, 511, 3, 1, 128, True, schedule=f"scheduler=linear {ALWAYS}", target="sms = 1"),
    "plain": Problem(1, 200, 500, 2, 2, 64, False, "bf16", schedule=ALWAYS, target="sms = 1"),
    "groups": Problem(2, 129, 500, 4, 1, 128, False, schedule=ALWAYS, target="sms = 1"),
    "dynamic": Problem(
        1, 160, 511, 2, 1, 64, True, schedule=f"scheduler=linear {ALWAYS}", target="sms = 1", dynamic=ALL_DYNAMIC
    ),
}
CHECKS = {
    "race": ("--race",),
    "lazy": ("--mode", "lazy"),
    "eager": ("--mode", "eager"),
    "random": ("--mode", "random", "--seed", "1"),
    "random 2": ("--mode", "random", "--seed", "2"),
    "strict warps": ("--mode", "lazy", "--strict-warps", "--race"),
    "formal": ("--race=formal",),
    "poisoned loads": ("--mode", "lazy", "--race", "--poison-loads"),
}
STRICT = "poisoned loads"
WARNING = "warning"
Mutant = collections.namedtuple("Mutant", "kind line text")

GUARD = r"(\s*(?:@!?%p\d+\s+)?)"


def mutants_of(lines):
    """All mutants: kind, index of the line, and the lines that take its place."""
    found = []

    def add(kind, i, text):
        if text != lines[i]:
            found.append(Mutant(kind, i, text))

    stores = []
    for i, line in enumerate(lines):
        s = re.sub(r"^@!?%p\d+\s+", "", line.strip())
        wait = re.match(GUARD + r"(mbarrier\.try_wait\S*)\s+(%p\d+), (\[.*?\]), (%r\d+|\d+)(.*);", line)
        if wait:
            guard, op, done, at, parity, rest = wait.groups()
            add("wait dropped", i, f"{guard}setp.eq.u32 {done}, 0, 0;")
            if parity.isdigit():
                add("parity", i, f"{guard}{op} {done}, {at}, {1 - int(parity)}{rest};")
            else:
                add(
                    "parity",
                    i,
                    f"{{ .reg .b32 flipped; xor.b32 flipped, {parity}, 1; {guard}{op} {done}, {at}, flipped{rest}; }}",
                )
        elif s.startswith("mbarrier.arrive"):
            add("arrive dropped", i, "")
            add("arrive twice", i, line + "\n" + line)
            if "expect_tx" in s:
                add("transaction bytes", i, re.sub(r"\.expect_tx(.*\]), \S+;", r"\1;", line))
        elif s.startswith("mbarrier.init"):
            add("init dropped", i, "")
            add("init count", i, re.sub(r", (\S+);$", r", 7;", line))
        elif s.startswith("tcgen05.commit") or s.startswith("cp.async.bulk.commit"):
            add("commit dropped", i, "")
        elif s.startswith("cp.async.bulk.wait_group"):
            add("group wait dropped", i, "")
            add("group wait", i, re.sub(r"(\d+);", lambda m: f"{int(m[1]) + 1};", line))
        elif s.startswith("tcgen05.wait"):
            add("wait::ld dropped" if "::ld" in s else "wait::st dropped", i, "")
        elif s.startswith("tcgen05.fence"):
            add("tcgen05.fence dropped", i, "")
        elif s.startswith("fence."):
            add("fence dropped", i, "")
        elif s.startswith("bar."):
            add("barrier dropped", i, "")
            add("barrier count", i, re.sub(r"^(\s*bar\.(?:sync|arrive)\s+\S+, )(\d+);", lambda m: f"{m[1]}{int(m[2]) // 2};", line))
        elif s.startswith("tcgen05.mma"):
            add("mma dropped", i, "")
            add("column", i, re.sub(r"\[(%r\d+)\]", r"[\1+1]", line, count=1))
        elif s.startswith("tcgen05.ld"):
            add("column", i, re.sub(r"\[(%r\d+)\]", r"[\1+1]", line))
        elif s.startswith("tcgen05.st"):
            add("column", i, re.sub(r"\[(%r\d+)\]", r"[\1+1]", line))
            stores.append(i)
        elif s.startswith("tcgen05.dealloc"):
            add("dealloc dropped", i, "")
        elif s.startswith("cp.async.bulk.tensor"):
            add("copy dropped", i, "")
        # The same barrier with its neighbour.
        if re.search(r"mbarrier\.(arrive|try_wait)|tcgen05\.commit", s):
            add("barrier swapped", i, re.sub(r"\[(\w+)\+(\d+)\]", lambda m: f"[{m[1]}+{int(m[2]) ^ 8}]", line))
    # Two stores of a row's weights change places.
    for first, second in zip(stores, stores[1:]):
        a, b = (re.search(r"\[(%r\d+)\]", lines[i])[1] for i in (first, second))
        if a != b and ".x16." in lines[first] and ".x16." in lines[second]:
            add("segments swapped", first, lines[first].replace(f"[{a}]", f"[{b}]"))
    return found


def apply(lines, mutant):
    text = list(lines)
    text[mutant.line] = mutant.text
    if mutant.kind == "segments swapped":
        a = re.search(r"\[(%r\d+)\]", lines[mutant.line])[1]
        b = re.search(r"\[(%r\d+)\]", mutant.text)[1]
        for i in range(mutant.line + 1, len(lines)):
            if "tcgen05.st" in lines[i]:
                text[i] = lines[i].replace(f"[{b}]", f"[{a}]")
                break
    return "\n".join(text)


class Kernel:
    def __init__(self, work, name):
        problem = PROBLEMS[name]
        harness = Harness(os.path.join(work, name))
        self.good = harness.run(problem, Inputs.normal(problem, 1), flags=("--race=formal",))
        self.folder = harness.compile(problem)
        with open(os.path.join(self.folder, "f_attention.ptx")) as f:
            self.lines = f.read().split("\n")
        with open(os.path.join(self.folder, "launch.json")) as f:
            self.launch = json.load(f)

    def outcome(self, ptx, launch, outputs, flags):
        """Why this check kills the mutant, or None."""
        command = ["ptx-sim", ptx, "--launch", launch, "--threads", "1", "--max-steps", "4000000", *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{ptx}: exit code {done.returncode}\n{done.stderr}")
        if done.returncode:
            # A fault names its kind first in the line after the status.
            report = re.search(r"^(\S+) in CTA|^(deadlock|step limit)", done.stderr, re.M)
            return report[1] or report[2]
        o, lse = (np.load(path) for path in outputs)
        shape = self.good.o_bits.shape
        same = np.array_equal(o.view(np.uint16).reshape(shape), self.good.o_bits)
        if not same or not np.array_equal(lse.view(np.uint32), self.good.lse_bits):
            return "value"
        return WARNING if "warning: " in done.stderr else None

    def trial(self, number, mutant, every_check):
        """Check -> what it reported; and whether some check warns."""
        base = os.path.join(self.folder, f"m{number}")
        outputs = [base + ".o.npy", base + ".lse.npy"]
        launch = json.loads(json.dumps(self.launch))
        for name, path in zip(("o", "lse"), outputs):
            launch["tensors"][name]["out"] = os.path.basename(path)
        with open(base + ".json", "w") as f:
            json.dump(launch, f)
        with open(base + ".ptx", "w") as f:
            f.write(apply(self.lines, mutant))
        killed, warned = {}, False
        for check, flags in CHECKS.items():
            why = self.outcome(base + ".ptx", base + ".json", outputs, flags)
            if why == WARNING:
                warned = True
            elif why:
                killed[check] = why
                if not every_check:
                    break
        for path in (*outputs, base + ".json", base + ".ptx"):
            if os.path.exists(path):
                os.remove(path)
        return killed, warned


def row(name, tally):
    return f"{name:24}{tally['killed']:8}{tally['total']:8}{tally['explained']:12}{tally['strict']:12}{tally['warned']:8}"


def sample(mutants, size):
    """Evenly spread, each kind at least once."""
    kinds = collections.defaultdict(list)
    for m in mutants:
        kinds[m.kind].append(m)
    share = max(1, size // len(kinds))
    chosen = []
    for group in kinds.values():
        step = max(1, len(group) // share)
        chosen += group[step // 2 :: step][:share]
    return chosen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--full", action="store_true", help="every mutant of every kernel")
    parser.add_argument("--kernel", choices=PROBLEMS, action="append")
    parser.add_argument("--kind", help="mutants of this kind alone")
    parser.add_argument("--size", type=int, default=60, help="mutants of the sample")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    names = args.kernel or (list(PROBLEMS) if args.full else ["causal"])
    totals, checks = collections.defaultdict(collections.Counter), collections.Counter()
    only, reports, reasons, unexplained = collections.Counter(), collections.Counter(), collections.Counter(), []
    for name in names:
        shutil.rmtree(os.path.join(args.work, name), ignore_errors=True)
        kernel = Kernel(args.work, name)
        whole = kernel.trial(0, Mutant("none", 0, kernel.lines[0]), True)
        if any(whole):
            raise SystemExit(f"{name}: the kernel itself is reported: {whole}")
        mutants = [m for m in mutants_of(kernel.lines) if args.kind in (None, m.kind)]
        if not args.full:
            mutants = sample(mutants, args.size)
        every_check = args.full and name == names[0]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            results = list(pool.map(lambda m: kernel.trial(m[0], m[1], every_check), enumerate(mutants)))
        used = collections.Counter()
        for mutant, (killed, warned) in zip(mutants, results):
            tally = totals[mutant.kind]
            tally["total"] += 1
            if list(killed) == [STRICT]:
                tally["strict"] += 1
                tally["warned"] += warned
            elif killed:
                tally["killed"] += 1
            if killed:
                reports[next(iter(killed.values()))] += 1
                if every_check:
                    checks.update(killed.keys())
                    only.update(killed.keys() if len(killed) == 1 else ())
                continue
            reason = survivors.reason(kernel.lines, mutant, used)
            if reason:
                tally["explained"] += 1
                reasons[reason] += 1
            else:
                unexplained.append(f"{name}: {mutant.kind} at line {mutant.line + 1}: {kernel.lines[mutant.line].strip()[:110]}")
    print(f"{'kind':24}{'killed':>8}{'total':>8}{'equivalent':>12}{'strictly':>12}{'warned':>8}")
    for kind, tally in sorted(totals.items()):
        print(row(kind, tally))
    whole = sum(totals.values(), collections.Counter())
    print(row("all", whole))
    print("\nfirst report: " + ", ".join(f"{k} {n}" for k, n in reports.most_common()))
    if args.full:
        print(f"\ncheck: mutants of '{names[0]}' that it kills, and that no other kills")
        for check in CHECKS:
            print(f"{check:24}{checks[check]:8}{only[check]:8}")
    for reason, n in reasons.most_common():
        print(f"survive ({n}), {reason.kind}: {reason.text}")
    for line in unexplained:
        print("SURVIVES " + line)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
