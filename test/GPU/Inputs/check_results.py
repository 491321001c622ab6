# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the results of run_on_gpu.py: check_results.py FOLDER CASE_ROWS"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Rows of the cases that a GPU decides; those with a reason need no run.
words = [line.split(maxsplit=2) for line in open(sys.argv[2]) if re.match(r"[A-Z]\d+ ", line)]
rows = [row for row, where, *reason in words if "G" in where and not reason]


def passed(results):
    """Rows that the names of cases begin with, of files without a failure."""
    names = [name for file in results["files"].values() if not file["failed"] for name in file["ran"]]
    return {match[0] for match in (re.match(r"[A-Z]\d+\b", name) for name in names) if match}


def other_ptx(sample, chip):
    """Whether this compiler makes other PTX of the source."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--schedule=" + sample["schedule"]] if sample["schedule"] else []
        command = ["fa4-compile", "-", "--chip", chip, "--emit", "ptx,launch", "-o", folder, *options]
        done = subprocess.run(command, input=sample["source"], capture_output=True, text=True)
        made = pathlib.Path(folder) / "f_attention.ptx"
        return done.returncode or hashlib.sha256(made.read_bytes()).hexdigest() != sample["ptx"]


wrong = False
for record in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    results = json.loads(record.read_text())
    cases = sum(file["cases"] for file in results["files"].values())
    failed = [f"{path} '{name}'" for path, file in results["files"].items() for name in file["failed"]]
    missing = sorted(set(rows) - passed(results))
    print(f"{record.name}: {results['card']}, driver {results['driver']}, {results['date']}: {cases} cases, {len(failed)} failed", *failed)
    print(f"{record.name}: {len(rows)} rows that a GPU decides, {len(missing)} without a case that passed", *missing)
    others = sum(bool(other_ptx(sample, results["chip"])) for sample in results["samples"])
    count = len(results["samples"])
    if others:
        print(f"{record.name}: older: of {count} kernels compiled again, {others} have another PTX than the one that ran")
    else:
        print(f"{record.name}: all {count} kernels compiled again have the PTX that ran")
    wrong |= bool(missing or not count)
sys.exit(wrong)
