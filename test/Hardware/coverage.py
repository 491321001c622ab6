# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coverage.py [--forms DIR] [--list FILE]: every sm_90a opcode of test/Sim/forms.txt occurs in a kernel of forms/ or is in
not_run.txt with the reason. Exit code 1 if not, or if a line of not_run.txt does not hold.
"""

import argparse
import collections
import glob
import os
import pathlib
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIM = os.path.join(os.path.dirname(HERE), "Sim")
sys.path.insert(0, SIM)

import forms  # noqa: E402  (test/Sim/forms.py)

# Families that list their forms themselves. Others take from forms.txt what these have not.
LISTING = ("approx", "atomic", "bits", "bulk", "call", "call_registers", "compare", "control", "convert", "float", "integer", "matrix",
           "mbarrier", "memory", "tma_fault", "tma_load", "tma_store", "warp", "wgmma")

OPCODE = re.compile(r"\s*(?:[\w$%]+:\s*)*[{ ]*(?:@!?%\w+\s+)?([a-z_0-9]+(?:[.:][A-Za-z0-9_:]+)*)(?=\s|$)")


def opcodes(text):
    """The opcode of each statement, directives left out."""
    found = []
    for line in text.split("\n"):
        for statement in line.split("//")[0].split(";"):
            m = OPCODE.match(statement)
            if m:
                found.append(m.group(1))
    return found


def listed(path=os.path.join(SIM, "forms.txt")):
    """(section, opcode, text) of each sm_90a form of ptx-sim."""
    for section, targets, text in forms.read_forms(pathlib.Path(path)):
        if "sm_90a" in targets:
            for opcode in opcodes(text):
                yield section, opcode, text


def run(folder, families=None):
    """The opcodes of all kernels in a folder, or of some families."""
    found = set()
    for path in glob.glob(os.path.join(folder, "*.ptx")):
        if families is None or os.path.basename(path)[:-4] in families:
            with open(path) as f:
                found |= set(opcodes(f.read()))
    return found


def missing(*sections):
    """(section, opcode, text) of what no listing family has."""
    ran = run(os.path.join(HERE, "forms"), LISTING)
    for section, opcode, text in listed():
        if section in sections and opcode not in ran:
            yield section, opcode, text


def not_run(path):
    with open(path) as f:
        return dict(line.strip().split(": ", 1) for line in f if ": " in line and not line.startswith("#"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--forms", default=os.path.join(HERE, "forms"))
    parser.add_argument("--list", default=os.path.join(SIM, "forms.txt"))
    args = parser.parse_args()
    found, excused = run(args.forms), not_run(os.path.join(HERE, "not_run.txt"))
    wanted, lost = collections.OrderedDict(), 0
    for section, opcode, _ in listed(args.list):
        wanted.setdefault(opcode, section)
    for opcode, section in wanted.items():
        if opcode not in found and opcode not in excused:
            lost += 1
            print("%s: %s: in no kernel of forms/ and not in not_run.txt" % (section, opcode))
    for opcode in excused:
        if opcode in found or opcode not in wanted:
            lost += 1
            print("%s: in not_run.txt, but %s" % (opcode, "a kernel has it" if opcode in found else "forms.txt has it not"))
    print("%d sm_90a opcodes, %d not run, %d missing" % (len(wanted), len(excused), lost))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
