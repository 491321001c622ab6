# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The simulator judges the proof: broken schedules, lowered without it, run in ptx-sim.

A mutant that a mode of ptx-sim shows wrong (another output bit, a fault, a race, a
deadlock) and that the proof accepts, with a warning or without, is a failure of the proof.
So is one that ptx-sim warns of and the proof does not: both speak of registers of a read of
tensor memory that are used without a wait. So is one that the proof refuses and that is
shown wrong on no problem, without a reason why it is a fault all the same (unshown.py). A
sample is tried, or with --full every mutant.
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

import unshown
from harness import Harness, Inputs, Problem

# Several tasks on one CTA and several blocks a task; every block rescales. What one problem
# does not show wrong goes to the next: other numbers of blocks, odd and even, or of tasks.
ALWAYS = "rescale-threshold=0"
FULL = Problem(1, 140, 300, 3, 3, 64, False, schedule=ALWAYS, target="sms = 1")
CAUSAL = Problem(1, 140, 400, 3, 1, 64, True, schedule=f"scheduler=linear {ALWAYS}", target="sms = 1")
HOPPER = CAUSAL.but(d=128, chip="sm_90a")
PROBLEMS = {
    "full": [FULL, FULL.but(sq=300, skv=500), FULL.but(skv=100), FULL.but(skv=130)],
    "causal": [CAUSAL, CAUSAL.but(sq=300, skv=520), CAUSAL.but(skv=128)],
    "hopper": [HOPPER, HOPPER.but(skv=300), HOPPER.but(skv=200), HOPPER.but(sq=300, skv=520)],
}
CHECKS = {
    "race": ("--mode", "lazy", "--race"),
    "eager": ("--mode", "eager"),
    "lazy": ("--mode", "lazy"),
    "random": ("--mode", "random", "--seed", "1"),
    "formal": ("--race=formal",),
}
ACCEPTED = ("passes", "warned")
WARNING = "warning"
Mutant = collections.namedtuple("Mutant", "number kernel kind role op detail verdict rule message")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode < 0:
        raise SystemExit(f"{' '.join(command)}: signal {-done.returncode}")
    return done


class Kernel:
    """A schedule, its mutants, and what the unbroken kernel writes."""

    def __init__(self, work, problem):
        self.problem = problem
        self.work = work
        shutil.rmtree(self.work, ignore_errors=True)
        harness = Harness(self.work)
        self.good = harness.run(self.problem, Inputs.normal(self.problem, 1))
        folder = harness.compile(self.problem)
        with open(os.path.join(folder, "launch.json")) as f:
            self.launch = json.load(f)
        for tensor in self.launch["tensors"].values():
            tensor["in"] = os.path.join(os.pardir, os.path.basename(folder), tensor["in"])
        self.schedule = os.path.join(self.work, "schedule.mlir")
        passes = f"--fa4-schedule-attention={self.problem.schedule}"
        made = run("fa4-opt", os.path.join(folder, "in.mlir"), passes, "-o", self.schedule)
        if made.returncode:
            raise SystemExit(made.stderr)
        listed = run("fa4-mutate", "--list", self.schedule).stdout.splitlines()
        rows = [line.split("\t") for line in listed if re.match(r"\d+\t", line)]
        self.mutants = [Mutant(int(row[0]), *row[1:]) for row in rows]

    def outcome(self, folder, flags):
        """What this check reports, or None."""
        command = ["ptx-sim", f"{folder}/f_attention.ptx", "--launch", f"{folder}/launch.json"]
        command += ["--threads", "1", "--max-steps", "4000000", *flags]
        done = run(*command)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        if done.returncode:
            # A fault names its kind first in the line after the status.
            report = re.search(r"^(\S+) in CTA|^(deadlock|step limit)", done.stderr, re.M)
            return (report[1] or report[2]) if report else done.stderr.strip().split("\n")[0]
        o, lse = (np.load(f"{folder}/{name}.out.npy") for name in ("o", "lse"))
        same = np.array_equal(o.view(np.uint16).reshape(self.good.o_bits.shape), self.good.o_bits)
        if not same or not np.array_equal(lse.view(np.uint32), self.good.lse_bits):
            return "value"
        return WARNING if "warning: " in done.stderr else None

    def trial(self, mutant, checks):
        """Whether the mutant can be lowered, the first report as (check, what), whether a check warns."""
        folder = os.path.join(self.work, str(mutant.number))
        os.makedirs(folder)
        try:
            run("fa4-mutate", self.schedule, f"--write={mutant.number}", "-o", folder)
            source = f"{folder}/{mutant.number}.mlir"
            if not os.path.exists(source):
                return "storage", None, False
            # fa4-compile proves every schedule, so the pass lowers it first.
            lowered = f"{folder}/lowered.mlir"
            if run("fa4-opt", source, "--fa4-lower-to-nvvm", "-o", lowered).returncode:
                return "lowering", None, False
            chip = self.problem.chip or "sm_100a"
            made = run("fa4-compile", lowered, "--chip", chip, "--emit", "ptx,launch", "-o", folder)
            if made.returncode:
                raise SystemExit(f"{source}: {made.stderr}")
            with open(f"{folder}/launch.json", "w") as f:
                json.dump(self.launch, f)
            warns = False
            for check in checks:
                what = self.outcome(folder, CHECKS[check])
                if what == WARNING:
                    warns = True
                elif what:
                    return None, (check, what), warns
            return None, None, warns
        finally:
            shutil.rmtree(folder)


class Kernels:
    """One schedule for several problems, and its mutants."""

    def __init__(self, work, name):
        self.each = [Kernel(os.path.join(work, f"{name}{i}"), problem) for i, problem in enumerate(PROBLEMS[name])]
        self.mutants = self.each[0].mutants
        edits = [[edit_of(m) for m in kernel.mutants] for kernel in self.each]
        if any(other != edits[0] for other in edits):
            raise SystemExit(f"{name}: expected the same mutants for each problem")

    def trial(self, mutant, checks, full):
        """As of a kernel, from the first problem that shows it wrong; of a sample, what is
        accepted runs on one."""
        warns = False
        for kernel in self.each if full or mutant.verdict not in ACCEPTED else self.each[:1]:
            unlowered, report, also = kernel.trial(mutant, checks)
            warns |= also
            if report or unlowered:
                return unlowered, report, warns
        return None, None, warns


def edit_of(mutant):
    """The mutant without extents of the problem."""
    return mutant.kind, mutant.role, re.sub(r"memref<[^>]*>", "memref", mutant.op), mutant.detail, mutant.verdict


def sample(mutants, size):
    """Evenly spread over kinds and verdicts, each at least once."""
    groups = collections.defaultdict(list)
    for m in mutants:
        groups[m.kind, m.verdict].append(m)
    share = max(1, size // len(groups))
    chosen = []
    for group in groups.values():
        step = max(1, len(group) // share)
        chosen += group[step // 2 :: step][:share]
    return chosen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--full", action="store_true", help="every mutant of every kernel")
    parser.add_argument("--kernel", choices=PROBLEMS, action="append")
    parser.add_argument("--size", type=int, default=40, help="mutants of the sample")
    parser.add_argument("--every", type=int, default=1, help="with --full, one in so many of the refused")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", help="a line for each mutant")
    args = parser.parse_args()
    bad, warned = 0, collections.Counter()
    table = collections.defaultdict(collections.Counter)
    never, reports = collections.Counter(), collections.Counter()
    unexplained = 0
    log = open(args.log, "w") if args.log else None
    for name in args.kernel or PROBLEMS:
        kernel = Kernels(args.work, name)
        mutants = [m for m in kernel.mutants if m.verdict != "malformed"]
        if args.full:
            accepted = [m for m in mutants if m.verdict in ACCEPTED]
            refused = [m for m in mutants if m.verdict not in ACCEPTED]
            mutants = accepted + refused[:: args.every]
        else:
            mutants = sample(mutants, args.size)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            results = pool.map(lambda m: kernel.trial(m, CHECKS, args.full), mutants)
            for mutant, (unlowered, report, warns) in zip(mutants, results):
                row = table[mutant.kind]
                accepted = mutant.verdict in ACCEPTED
                row["total"] += 1
                row["refused"] += not accepted
                row["unlowered"] += unlowered is not None
                row["wrong"] += report is not None
                row["refused and wrong"] += report is not None and not accepted
                if report:
                    reports[f"{report[0]}: {report[1]}"] += 1
                elif not accepted and not unlowered:
                    why = unshown.reason(mutant.message)
                    never[why] += 1
                    if why is None:
                        unexplained += 1
                        print(f"UNEXPLAINED {name} {mutant.kind} {mutant.role} {mutant.op[:110]} {mutant.detail}: {mutant.message}")
                if log:
                    print(name, *mutant, unlowered, report, warns, sep="\t", file=log, flush=True)
                warned[mutant.verdict == "warned", warns] += 1
                if accepted and (report or (warns and mutant.verdict != "warned")):
                    bad += 1
                    what = report or "only ptx-sim warns"
                    print(f"WRONG {name} {mutant.verdict} {mutant.kind} {mutant.role} {mutant.op[:110]} {mutant.detail}: {what}")
    columns = ["total", "refused", "unlowered", "wrong", "refused and wrong"]
    print(f"{'kind':12}" + "".join(f"{c:>20}" for c in columns))
    for kind, row in sorted(table.items()):
        print(f"{kind:12}" + "".join(f"{row[c]:20}" for c in columns))
    whole = sum(table.values(), collections.Counter())
    print(f"{'all':12}" + "".join(f"{whole[c]:20}" for c in columns))
    print("first report: " + ", ".join(f"{k} {n}" for k, n in reports.most_common()))
    print("refused, never wrong: " + ", ".join(f"{why} {n}" for why, n in never.most_common()))
    print(f"warned by both: {warned[True, True]}, by the proof alone: {warned[True, False]}")
    print(f"refused, never wrong, without a reason: {unexplained}")
    print(f"accepted, but wrong: {bad}")
    return 1 if bad or unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
