# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs the cases of one test file and says which failed.

    suite = Suite("shapes")
    suite.check("a name", Problem(1, 5, 2, 4, 2, 64, causal=True))
    suite.finish()

Without --full each case runs in one of the simulator's modes, in turn; with it, in all
three, whose outputs must be equal to the bit.
"""

import argparse
import json
import os
import sys
import time
import zlib

import numpy as np

import reference
from compare import LSE_HARDWARE, LSE_POLYNOMIAL, RMS_BAR, compare
from harness import Harness, Inputs, ToolError
from model import Model

MODES = ("eager", "lazy", "random")
FIGURES = ("error", "rms ratio", "lse error", "lse ratio")


class Suite:
    def __init__(self, group):
        parser = argparse.ArgumentParser()
        parser.add_argument("--full", action="store_true", help="every case in every mode")
        parser.add_argument("--work", required=True, help="folder for kernels and tensors")
        parser.add_argument("--only", default="", help="run the cases whose name contains this")
        parser.add_argument("--model", default="", help="a NumPy model with this fault in the kernel's place")
        self.args = parser.parse_args()
        self.group, self.full = group, self.args.full
        self.harness = Model(self.args.work, self.args.model) if self.args.model else Harness(self.args.work)
        self.count, self.failed, self.worst = 0, [], dict.fromkeys(FIGURES, 0.0)
        self.where = {}
        self.turn = 0
        self.started = time.time()

    def wanted(self, name):
        return self.args.only in name

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
            modes = MODES if self.full else (MODES[self.turn % 3],)
            self.turn += 1
        first = None
        for mode in modes:
            output = self.harness.run(problem, inputs, mode, seed=self.turn, **options)
            if first is not None and not output.same_bits(first):
                raise ToolError(f"outputs of modes '{modes[0]}' and '{mode}' differ")
            first = first or output
        return first

    def check(self, name, problem, inputs=None, modes=None, rms_bar=RMS_BAR, **options):
        """Simulates a problem and compares it with the reference; the output, or None."""
        if not self.wanted(name):
            return None
        self.count += 1
        if inputs is None:
            inputs = Inputs.normal(problem, zlib.crc32(name.encode()))
        try:
            output = self.outputs(problem, inputs, modes, **options)
            want = reference.attention(*inputs.values(), problem.causal, problem.scale, problem.dtype)
            if not (np.isfinite(want.o).all() and np.isfinite(want.lse).all()):
                # Was a NaN written, or was nothing?
                again = self.harness.run(problem, inputs, poison=0xFFA5, **options)
                self.expect(name, problem, again.same_bits(output), "an element is not written")
        except ToolError as error:
            self.fail(name, problem, str(error).strip()[-2000:])
            return None
        lse_bar = LSE_HARDWARE if "poly-pairs=0" in problem.schedule else LSE_POLYNOMIAL
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
        output.reference = want
        return output

    def refused(self, name, problem, words):
        """The problem is refused with a message that has all these words."""
        if not self.wanted(name):
            return
        self.count += 1
        try:
            self.harness.run(problem, Inputs.normal(problem, 1))
        except ToolError as error:
            missing = [w for w in words if w not in str(error)]
            self.expect(name, problem, not missing, f"{missing} is not in: {error}")
        else:
            self.fail(name, problem, f"ran, expected a message with {words}")

    def finish(self):
        seconds = time.time() - self.started
        figures = ", ".join(f"worst {k} {v:.3g} ({self.where.get(k, '-')})" for k, v in self.worst.items())
        print(f"{self.group}: {self.count} cases, {len(self.failed)} failed, {seconds:.0f} s, {figures}")
        with open(os.path.join(self.args.work, "report.json"), "w") as f:
            run = "full" if self.full else "quick"
            record = {"group": self.group, "run": run, "cases": self.count, "failed": self.failed, "seconds": seconds}
            json.dump({**record, **self.worst, "where": self.where}, f, indent=1)
        sys.exit(1 if self.failed or not self.count else 0)
