# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A table of the figures that the numeric tests left behind.

    python3 test/Numeric/report.py build
"""

import glob
import json
import os
import sys

# The largest error of an element of O; root-mean-square error over that of rounding
# (at most 1.5); the largest error of an LSE of ordinary size; of any LSE, over its bar.
FIGURES = ("error", "rms ratio", "lse error", "lse ratio")


def main():
    paths = glob.glob(os.path.join(sys.argv[1], "test/Numeric/**/Output/*/report.json"), recursive=True)
    records = sorted((json.load(open(p)) for p in paths), key=lambda r: (r["chip"], r["group"]))
    if not records:
        sys.exit(f"no reports below '{sys.argv[1]}': run make test or make test-full first")
    head = ("group", "chip", "run", "cases", "failed", "seconds", *FIGURES)
    print("%-20s %-8s %-5s %5s %6s %7s %9s %9s %9s %9s" % head)
    for r in records:
        row = (r["group"], r["chip"], r["run"], r["cases"], len(r["failed"]), r["seconds"])
        figures = tuple(r[k] for k in FIGURES)
        print("%-20s %-8s %-5s %5d %6d %7.0f %9.2e %9.2f %9.2e %9.2f" % (row + figures))
    worst = [max(r[k] for r in records) for k in FIGURES]
    cases, failed = sum(r["cases"] for r in records), sum(len(r["failed"]) for r in records)
    print("%-20s %-8s %-5s %5d %6d %7s %9.2e %9.2f %9.2e %9.2f" % ("all", "", "", cases, failed, "", *worst))


if __name__ == "__main__":
    main()
