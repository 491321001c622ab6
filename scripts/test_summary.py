# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""test_summary.py RESULTS STATUS: print `N passed, N failed` and exit accordingly.

RESULTS is lit's xunit file, gtest's tests included; STATUS is the exit status of
the run that should have written it. Skipped and unsupported tests count as
neither. A run that failed without naming a failed test counts as one failure, and
so does a run of no test at all.
"""

import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return 0, 0
    failed = sum(
        1 for case in cases if any(child.tag in ("failure", "error") for child in case)
    )
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    return len(cases) - failed - skipped, failed


def main():
    path, status = sys.argv[1], int(sys.argv[2])
    passed, failed = count(path)
    if failed == 0 and (status != 0 or passed == 0):
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
