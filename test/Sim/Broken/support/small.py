# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels written by hand, of one block, that leave words in a buffer."""

import argparse
import json
import os
import re
import subprocess
import sys

import numpy as np

ALL_MODES = (("--mode", "eager"), ("--mode", "lazy"), ("--mode", "random", "--seed", "1"))
WITH_RACE = tuple((*mode, "--race") for mode in ALL_MODES)

HEAD = """.version 8.8
.target {chip}
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 pin, .param .u64 pout)
{{
 .reg .pred %p<16>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %d<16>;
 .reg .b32 %tid, %warp, %lane; .reg .b64 %in, %out;
 ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];
 mov.u32 %tid, %tid.x; shr.u32 %warp, %tid, 5; and.b32 %lane, %tid, 31;
"""


class Small:
    def __init__(self, threads, words, shared=16384, inputs=None, chip="sm_100a"):
        parser = argparse.ArgumentParser()
        parser.add_argument("--work", required=True)
        self.work = parser.parse_args().work
        os.makedirs(self.work, exist_ok=True)
        self.words, self.chip, self.failed, self.count = words, chip, 0, 0
        inputs = np.zeros(1, np.uint32) if inputs is None else inputs
        np.save(self.path("in.npy"), inputs)

        def tensor(name, size):
            return {"name": name, "type": "u32", "shape": [size], "strides": [1]}

        def pointer(name):
            return {"name": name, "kind": "pointer", "value": name}

        descriptor = {
            "kernel": "k",
            "tensors": [tensor("in", inputs.size), tensor("out", words)],
            "parameters": [pointer("in"), pointer("out")],
            "grid": [1, 1, 1],
            "block": [threads, 1, 1],
            "dynamic_shared_bytes": shared,
        }
        with open(self.path("k.json"), "w") as f:
            json.dump(descriptor, f)
        tensors = {"in": {"in": "in.npy"}, "out": {"type": "u32", "shape": [words], "out": "out.npy"}}
        with open(self.path("launch.json"), "w") as f:
            json.dump({"descriptor": "k.json", "tensors": tensors}, f)

    def path(self, name):
        return os.path.join(self.work, name)

    def run(self, body, flags):
        """Kind and text of a report, or "done" and the words."""
        with open(self.path("k.ptx"), "w") as f:
            f.write(HEAD.format(chip=self.chip) + body + "\n ret;\n}\n")
        command = ["ptx-sim", self.path("k.ptx"), "--launch", self.path("launch.json"), "--max-steps", "100000"]
        done = subprocess.run([*command, *flags], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"exit code {done.returncode}\n{done.stderr}\n{body}")
        if done.returncode:
            kind = re.search(r"^(\S+) in CTA|^(deadlock|step limit)", done.stderr, re.M)
            return kind[1] or kind[2], done.stderr
        return "done", np.load(self.path("out.npy"))

    def fail(self, name, flags, got, text):
        self.failed += 1
        print(f"FAIL {name} {' '.join(flags)}: {got}\n{text}")

    def reported(self, name, body, kind, *words, checks=ALL_MODES):
        for flags in checks:
            self.count += 1
            got, text = self.run(body, flags)
            if got != kind or any(w not in text for w in words):
                self.fail(name, flags, f"expected '{kind}' with {words}, got '{got}'", text)

    def passes(self, name, body, right, checks=ALL_MODES):
        """Done, and right(words) holds."""
        for flags in checks:
            self.count += 1
            got, words = self.run(body, flags)
            if got != "done" or not right(words):
                self.fail(name, flags, got, words)

    def finish(self):
        print(f"{self.count} runs, {self.failed} failed")
        sys.exit(1 if self.failed or not self.count else 0)
