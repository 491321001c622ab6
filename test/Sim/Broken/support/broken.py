# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A kernel of ours whose PTX is edited: what ptx-sim says of the fault, and of a look-alike
that is legal.

    b = Broken()
    b.reported("no fence", b.kernel.without(r"fence\\.proxy"), "race", "fence.proxy.async")
    b.passes("the fence twice", ...)
    b.finish()
"""

import argparse
import json
import os
import re
import subprocess
import sys

import numpy as np

from harness import Harness, Inputs, Problem

# Three tasks of four key/value blocks on one multiprocessor: every ring turns over and both
# query tiles see each block.
PROBLEM = Problem(
    1, 160, 511, 3, 1, 128, True, schedule="scheduler=linear rescale-threshold=0", target="sms = 1"
)
# In the order in which they are initialised, with the number of slots.
BARRIERS = (
    ("q_full", 2), ("q_empty", 2), ("kv_full", 3), ("kv_empty", 3), ("s_ready", 2), ("p_o_rescale", 2),
    ("p_ready_2", 2), ("o_ready", 2), ("o_full", 2), ("o_empty", 2),
)  # fmt: skip
RACE = ("--race",)
ALL_MODES = (("--mode", "eager"), ("--mode", "lazy"), ("--mode", "random", "--seed", "1"))
WITH_RACE = tuple((*mode, *RACE) for mode in ALL_MODES)


class Kernel:
    """Lines of PTX, with one space between words. Edits give a new kernel."""

    def __init__(self, lines):
        self.lines = list(lines)

    @staticmethod
    def of(text):
        return Kernel(re.sub(r"\s+", " ", line).strip() for line in text.split("\n"))

    def where(self, pattern, after=0, nth=0):
        """Index of the nth line from `after` on that the pattern is found in."""
        found = [i for i, line in enumerate(self.lines) if i >= after and re.search(pattern, line)]
        if len(found) <= nth:
            raise SystemExit(f"'{pattern}' is not in the kernel: it is another kernel now, mend this test")
        return found[nth]

    def cut(self, begin, end):
        """Without [begin, end), and what was there."""
        return Kernel(self.lines[:begin] + self.lines[end:]), self.lines[begin:end]

    def put(self, at, text):
        return Kernel(self.lines[:at] + ([text] if isinstance(text, str) else list(text)) + self.lines[at:])

    def without(self, pattern, after=0, nth=0):
        at = self.where(pattern, after, nth)
        return self.cut(at, at + 1)[0]

    def replaced(self, at, pattern, text):
        line = re.sub(pattern, text, self.lines[at])
        if line == self.lines[at]:
            raise SystemExit(f"'{pattern}' is not in '{line}'")
        return Kernel(self.lines[:at] + [line] + self.lines[at + 1 :])

    def barrier(self, name, slot=0):
        """The address of a barrier, as a pattern."""
        inits = [re.search(r"\[(.*)\]", line)[1] for line in self.lines if "mbarrier.init" in line]
        if len(inits) != sum(n for _, n in BARRIERS):
            raise SystemExit("the kernel has other barriers now, mend this test")
        first = 0
        for other, slots in BARRIERS:
            if other == name:
                return re.escape(f"[{inits[first + slot]}]")
            first += slots
        raise SystemExit(f"there is no barrier '{name}'")

    def wait(self, begin, nth=0):
        """[begin, end) of the nth wait from a line on, its label included."""
        at = self.where(r"mbarrier\.try_wait", begin, nth)
        return at - 1, at + 3

    def role(self, name):
        """First line of a role."""
        marks = {"softmax": ("setmaxnreg.inc", 0), "correction": ("setmaxnreg.dec", 0), "mma": ("setmaxnreg.dec", 1)}
        if name in marks:
            return self.where(*marks[name][:1], nth=marks[name][1])
        # Loads and stores follow with their copies.
        return self.where(r"try_wait.*" + self.barrier({"load": "q_empty", "store": "o_full"}[name]))

    def text(self):
        return "\n".join(self.lines)


def delay(warp, steps=10000):
    """`warp` takes that many steps more here."""
    return [
        ".reg .b32 %delay; .reg .pred %delayed;",
        f"mov.u32 %delay, %tid.x; shr.u32 %delay, %delay, 5; setp.ne.u32 %delayed, %delay, {warp};",
        "@%delayed bra GO; mov.b32 %delay, 0;",
        f"DELAY: add.u32 %delay, %delay, 3; setp.lt.u32 %delayed, %delay, {steps}; @%delayed bra DELAY;",
        "GO:",
    ]


class Broken:
    def __init__(self, problem=PROBLEM):
        parser = argparse.ArgumentParser()
        parser.add_argument("--work", required=True)
        self.work = parser.parse_args().work
        self.failed, self.count = 0, 0
        harness = Harness(self.work)
        self.good = harness.run(problem, Inputs.normal(problem, 1), flags=("--race=formal",))
        self.folder = harness.compile(problem)
        with open(os.path.join(self.folder, "f_attention.ptx")) as f:
            self.kernel = Kernel.of(f.read())

    def run(self, kernel, flags):
        """What is reported, or the words "right" or "wrong" for the values; and the text."""
        path = os.path.join(self.folder, "broken.ptx")
        with open(path, "w") as f:
            f.write(kernel.text())
        command = ["ptx-sim", path, "--launch", os.path.join(self.folder, "launch.json")]
        done = subprocess.run([*command, "--threads", "1", "--max-steps", "4000000", *flags], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{path}: exit code {done.returncode}\n{done.stderr}")
        if done.returncode:
            kind = re.search(r"^(\S+) in CTA|^(deadlock|step limit)", done.stderr, re.M)
            return kind[1] or kind[2], done.stderr
        outputs = [np.load(os.path.join(self.folder, name + ".out.npy")) for name in ("o", "lse")]
        same = np.array_equal(outputs[0].view(np.uint16).ravel(), self.good.o_bits.ravel())
        same = same and np.array_equal(outputs[1].view(np.uint32).ravel(), self.good.lse_bits.ravel())
        return ("right" if same else "wrong"), done.stderr

    def expect(self, name, kernel, kind, words, flags, silent=False):
        self.count += 1
        got, text = self.run(kernel, flags)
        missing = [w for w in words if w not in text]
        if got != kind or missing or (silent and "warning: " in text):
            self.failed += 1
            print(f"FAIL {name} {' '.join(flags)}: expected '{kind}', got '{got}'; missing {missing}\n{text[-1500:]}")

    def reported(self, name, kernel, kind, *words, checks=WITH_RACE):
        """In each check the kernel is reported as `kind`, with these words."""
        for flags in checks:
            self.expect(name, kernel, kind, words, flags)

    def warned(self, name, kernel, *words, checks=WITH_RACE):
        """In each check every bit is right, and there is a warning with these words."""
        for flags in checks:
            self.expect(name, kernel, "right", ("warning: ", *words), flags)

    def passes(self, name, kernel, checks=WITH_RACE):
        """In each check nothing is reported, no warning either, and every bit is right."""
        for flags in checks:
            self.expect(name, kernel, "right", (), flags, silent=True)

    def finish(self):
        print(f"{self.count} runs, {self.failed} failed")
        sys.exit(1 if self.failed or not self.count else 0)
