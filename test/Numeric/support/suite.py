# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the cases of one test file and says which failed.

    suite = Suite("shapes")
    suite.check("a name", Problem(1, 5, 2, 4, 2, 64, causal=True))
    suite.finish()

Without --full each case runs in one of the simulator's modes, in turn; with it, in all
three, whose outputs must be equal to the bit. --chip says what the kernels are for; with
--sample N a share of the sizes is enough, one in N of them. --prepare makes every kernel of
the cases and runs none; --gpu runs kernels that were made so, on a GPU.
"""

import re
import argparse
import json
import os
import sys
import time
import zlib

import numpy as np

import reference
from chips import CHIPS
from compare import LSE_HARDWARE, LSE_POLYNOMIAL, RMS_BAR, compare
from harness import Harness, Inputs, ToolError
from model import Model
from prepared import Preparing

MODES = ("eager", "lazy", "random")
FIGURES = ("error", "rms ratio", "lse error", "lse ratio")


class Suite:
    def __init__(self, group):
        parser = argparse.ArgumentParser()
        parser.add_argument("--full", action="store_true", help="every case in every mode")
        parser.add_argument("--work", required=True, help="folder for kernels and tensors")
        parser.add_argument("--only", default="", help="run the cases whose name contains this")
        parser.add_argument("--model", default="", help="a NumPy model with this fault in the kernel's place")
        parser.add_argument("--chip", default="sm_100a", choices=sorted(CHIPS))
        parser.add_argument("--sample", type=int, default=1, help="run the cases of one size in so many")
        parser.add_argument("--prepare", action="store_true", help="compile the kernels")
        parser.add_argument("--gpu", action="store_true", help="run prepared kernels on a GPU")
        parser.add_argument("--race", action="store_true", help="with the simulator's race detector")
        self.args = parser.parse_args()
        self.group, self.full = group, self.args.full
        self.chip = CHIPS[self.args.chip]
        self.harness = self.make_harness()
        self.count, self.failed, self.worst = 0, [], dict.fromkeys(FIGURES, 0.0)
        self.where = {}
        self.turn = 0
        self.ran = []  # names of the cases
        self.started = time.time()

    def make_harness(self):
        args = self.args
        if args.model:
            return Model(args.work, args.model, args.chip)
        if args.prepare:
            return Preparing(args.work, args.chip)
        if args.gpu:
            from cuda_harness import CudaHarness

            return CudaHarness(args.work, args.chip)
        return Harness(args.work, args.chip, ("--race",) if args.race else ())

    def wanted(self, name, problem):
        """Whether this run has the case: those of equal sizes are compared, and stay together."""
        if self.args.only not in name:
            return False
        p = problem
        sizes = f"{p.b} {p.sq} {p.skv} {p.hq} {p.hkv} {p.d} {p.causal} {p.dtype}"
        return zlib.crc32(sizes.encode()) % self.args.sample == 0

    def begin(self, name):
        self.count += 1
        self.ran.append(name)

    def pick(self, cases, every):
        """All cases in a full run, else one in `every` of them."""
        cases = list(cases)
        return cases if self.full else cases[::every]

    def fail(self, name, problem, why):
        self.failed.append(name)
        print(f"FAIL {name} [{problem}]: {why}", flush=True)

    def expect(self, name, problem, condition, why):
        """One more condition on a case."""
        if not condition:
            self.fail(name, problem, why)

    def outputs(self, problem, inputs, modes=None, **options):
        """Outputs in the modes of this run; raises ToolError unless all are equal."""
        if modes is None:
            modes = MODES if self.full and not self.args.prepare else (MODES[self.turn % 3],)
            self.turn += 1
        first = None
        for mode in modes:
            output = self.harness.run(problem, inputs, mode, seed=self.turn, **options)
            if first is not None and not output.same_bits(first):
                raise ToolError(f"outputs of modes '{modes[0]}' and '{mode}' differ")
            first = first or output
        return first

    def check(self, name, problem, inputs=None, modes=None, rms_bar=RMS_BAR, **options):
        """Runs a problem and compares it with the reference; the output, or None."""
        if not self.wanted(name, problem) or not self.chip.has(problem.schedule):
            return None
        self.begin(name)
        if inputs is None:
            inputs = Inputs.normal(problem, zlib.crc32(name.encode()))
        try:
            output = self.outputs(problem, inputs, modes, **options)
            if self.args.prepare:
                return None
            want = reference.attention(*inputs.values(), problem.causal, problem.scale, problem.dtype)
            if not (np.isfinite(want.o).all() and np.isfinite(want.lse).all()):
                # Was a NaN written, or was nothing?
                again = self.harness.run(problem, inputs, poison=0xFFA5, **options)
                self.expect(name, problem, again.same_bits(output), "an element is not written")
        except ToolError as error:
            self.fail(name, problem, str(error).strip()[-2000:])
            return None
        self.judge(name, problem, output, want, rms_bar)
        output.reference = want
        return output

    def judge(self, name, problem, output, want, rms_bar=RMS_BAR):
        """Compares an output with the reference and keeps the figures."""
        shares = re.findall(r"poly-pairs=(\d+)", problem.schedule)
        hardware = shares[-1] == "0" if shares else not self.chip.polynomial
        lse_bar = LSE_HARDWARE if hardware else LSE_POLYNOMIAL
        verdict = compare(output.o, output.lse, want, lse_bar, rms_bar)
        for why in verdict.problems:
            self.fail(name, problem, why)
        for key, value in (
            ("error", verdict.worst),
            ("rms ratio", verdict.rms_ratio if rms_bar == RMS_BAR else 0.0),
            ("lse error", verdict.worst_lse),
            ("lse ratio", verdict.lse_ratio),
        ):
            if value > self.worst[key]:
                self.worst[key], self.where[key] = value, name

    def refused(self, name, problem, words):
        """The problem is refused with a message that has all these words."""
        if not self.wanted(name, problem):
            return
        self.begin(name)
        try:
            if self.args.prepare:
                self.harness.compile(problem)
                return
            self.harness.run(problem, Inputs.normal(problem, 1))
        except ToolError as error:
            missing = [w for w in words if w not in str(error)]
            self.expect(name, problem, not missing, f"{missing} is not in: {error}")
        else:
            self.fail(name, problem, f"ran, expected a message with {words}")

    def finish(self):
        seconds = time.time() - self.started
        figures = ", ".join(f"worst {k} {v:.3g} ({self.where.get(k, '-')})" for k, v in self.worst.items())
        print(f"{self.group} {self.chip.name}: {self.count} cases, {len(self.failed)} failed, {seconds:.0f} s, {figures}")
        run = "full" if self.full else "quick"
        record = {"group": self.group, "chip": self.chip.name, "run": run, "cases": self.count, "failed": self.failed}
        record |= {"seconds": seconds, **self.worst, "where": self.where, "ran": self.ran}
        # On a GPU: the PTX of each kernel that ran.
        record |= {"ptx": self.harness.hashes} if self.args.gpu else {}
        with open(os.path.join(self.args.work, "report.json"), "w") as f:
            json.dump(record, f, indent=1)
        # Where nothing ran, nothing is right.
        sys.exit(1 if (self.failed and not self.args.prepare) or not self.count else 0)
