# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks docs/cases.md against the tests: check_cases.py REPOSITORY"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
problems, rows, named, tests_of = [], 0, set(), {}
for line in (root / "docs/cases.md").read_text().splitlines():
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) != 6 or not re.fullmatch(r"[A-Z]\d+", cells[1]):
        continue
    row, tests = cells[1], re.findall(r"`([^`]+)`", cells[3])
    rows += 1
    if row in tests_of:
        problems.append(f"{row} is there twice")
    tests_of[row] = tests
    if not tests:
        problems.append(f"{row} has no test")
    for test in tests:
        named.add(test)
        path = root / test
        if not path.is_file():
            problems.append(f"{row}: {test} is not there")
        elif not re.search(rf"\b{row}\b", path.read_text()):
            problems.append(f"{row}: {test} does not name it")
for path in sorted((root / "test/Cases").glob("*.*")):
    test = path.relative_to(root).as_posix()
    if test not in named:
        problems.append(f"{test} is in no row")
# What holds schedules that the proof or a verifier refuses, what runs on a GPU (run_on_gpu.py),
# and what runs the simulator.
PROVES = ("test/Analysis/", "test/Cases/")
ON_GPU = ("test/Numeric/", "test/GPU/cases/")
SIMULATES = ("test/Numeric/", "test/Sim/", "unittests/PTXSim/")
for line in (root / "test/Docs/Inputs/case_rows.txt").read_text().splitlines():
    if line.startswith("#") or not line.strip():
        continue
    row, where, *unless = line.split(" ", 2)
    if not set(where) & set("CSVG"):
        continue
    if row not in tests_of:
        problems.append(f"{row} is not there")
    elif "G" in where and not unless and not any(t.startswith(ON_GPU) for t in tests_of[row]):
        problems.append(f"{row}: no test of it runs on a GPU")
    elif "S" in where and not unless and not any(t.startswith(SIMULATES) for t in tests_of[row]):
        problems.append(f"{row}: no test of it runs the simulator")
    elif "V" in where and not unless and not any(t.startswith(PROVES) for t in tests_of[row]):
        problems.append(f"{row}: no test of it is about the proof")
print("\n".join(problems) if problems else f"{rows} rows, no problems")
sys.exit(bool(problems))
