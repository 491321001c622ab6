# RUN: %python %s --work %t

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The cases fail on the faults that they are named for (support/model.py), and not without."""

import argparse
import os
import re
import subprocess
import sys

EMPTY, TAILS, EXTREME, HEADS = "cases/empty_rows", "cases/tails_and_masks", "cases/extreme_values", "cases/heads"
SCALE, LAUNCHES, FAR = "cases/head_dim_and_scale", "cases/launches", "cases/far_places"
# Fault, file, and the cases that it fails, each of them.
FAULTS = (
    ("no guard", EMPTY, ("E1 (1, 5", "E1 (1, 300", "E2 f16")),
    ("finite LSE", EMPTY, ("E1 (1, 146", "E2 bf16", "E2 whole", "S3 (0, 128, 300, 300)")),
    ("empty rows unwritten", EMPTY, ("E1 (1, 5", "E4 (1, 5", "E4 (2, 4")),
    ("top left", TAILS, ("T1 f16", "T1 bf16", "T3")),
    ("whole tiles only", TAILS, ("T2 (1, 64", "T2 (1, 130", "T2 one")),
    ("one block masked", TAILS, ("T3 f16", "T3 bf16")),
    ("nothing masked", TAILS, ("T11 f16", "T11 bf16", "T4 f16")),
    ("zero keys", TAILS, ("T7 64 f16", "T7 1000 f16", "T7 1000 bf16", "T7 d128 f16")),
    ("rows behind", TAILS, ("T8 False", "T8 True")),
    ("placeholder", EXTREME, ("X1 on",)),
    ("finite minimum", EXTREME, ("X2 f16", "X2 bf16")),
    ("lagging maximum", EXTREME, ("X4 -1 f16",)),
    ("f16 accumulator", EXTREME, ("X6 f16",)),
    ("f16 scores", EXTREME, ("X8 f16", "X8 bf16")),
    ("NaN dropped", EXTREME, ("X9 1 f16", "X9 7 f16")),
    ("scale behind the mask", EXTREME, ("X12 200 f16",)),
    ("no guard", EXTREME, ("X14 128..256 f16",)),
    ("heads in turn", HEADS, ("G1 6/2", "G1 long", "G7", "G8 (8")),
    ("rows of packed heads", HEADS, ("G2", "G1 7/1")),
    ("first head's LSE", HEADS, ("G4",)),
    ("log2", SCALE, ("S1 f16", "S1 bf16")),
    ("padded scale", SCALE, ("A4 64 f16", "A4 128 bf16")),
    ("lanes beyond 64", SCALE, ("A5 128 zero from 0 f16",)),
    ("batch stride", LAUNCHES, ("L2 f16", "L2 bf16")),
    ("first layout", LAUNCHES, ("H1 ",)),
    ("compact", "layouts", ("L1 f16", "L8 k v", "L8 q")),
    ("no offset", "layouts", ("L3 fused 0", "padded 0")),
    ("32-bit offsets", FAR, ("Z4 k 16x129", "Z4 v 16x129")),
    ("cut addresses", FAR, ("M4 q", "M4 k", "M4 v")),
    ("another order", "modes", ("Q9",)),
)


def run(work, fault, file, case):
    """How many cases ran, and how many failed."""
    here = os.path.dirname(os.path.abspath(__file__))
    folder = os.path.join(work, re.sub(r"\W+", "_", f"{fault} {file} {case}"))
    command = [sys.executable, os.path.join(here, file + ".py"), "--work", folder, "--model", fault, "--only", case]
    done = subprocess.run(command, capture_output=True, text=True)
    counts = re.search(r"^.*: (\d+) cases, (\d+) failed", done.stdout, re.M)
    if not counts:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return int(counts[1]), int(counts[2]), done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    work, wrong, count = parser.parse_args().work, 0, 0
    for fault, file, cases in FAULTS:
        for case in cases:
            count += 1
            ran, failed, text = run(work, fault, file, case)
            if not ran or not failed:
                wrong += 1
                print(f"{file} '{case}' does not fail on '{fault}': {text}")
            ran, failed, text = run(work, "right", file, case)
            if not ran or failed:
                wrong += 1
                print(f"{file} '{case}' fails on a right model: {text}")
    print(f"{count} cases with a fault each, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
