# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coverage.py [--forms DIR] [--list FILE]: every sm_90a form of test/Sim/forms.txt, that is each opcode with each kind of operands,
occurs in a kernel of forms/, or the opcode is in not_run.txt with the reason. Exit code 1 if not, or if a line of not_run.txt does
not hold.
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
SPECIAL = re.compile(r"%(\w*tid|n?ctaid|n?clusterid|cluster_|lane|n?warpid|n?smid|clock|globaltimer|dynamic_|total_|aggr_|reserved_|envreg|pm\d|"
                     r"gridid|current_graph|is_explicit)")


def operands(text):
    """The operands of a statement; commas in brackets do not part them."""
    found, depth, current = [], 0, ""
    for c in text:
        depth += (c in "{[(") - (c in "}])")
        if c == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += c
    return [o for o in found + [current.strip()] if o]


def kind(operand):
    """register, !register, r|r, vN, address, immediate, symbol; special registers by name."""
    if operand.startswith("{"):
        return "v%d" % len(operands(operand[1:-1]))
    if operand.startswith("["):
        return "address"
    if "|" in operand:
        return "|".join(kind(o) for o in operand.split("|"))
    if operand.startswith("!"):
        return "!" + kind(operand[1:])
    if operand.startswith("%"):
        return operand if SPECIAL.match(operand) else "register"
    return "_" if operand == "_" else "immediate" if re.match(r"-?\d", operand) else "symbol"


def shapes(text):
    """(opcode, kinds of operands) of each statement, directives left out."""
    found = []
    for line in text.split("\n"):
        for statement in line.split("//")[0].split(";"):
            m = OPCODE.match(statement)
            if m:
                found.append((m.group(1),) + tuple(kind(o) for o in operands(statement[m.end():])))
    return found


def listed(path=os.path.join(SIM, "forms.txt")):
    """(section, shape, text) of each sm_90a form of ptx-sim."""
    for section, targets, text in forms.read_forms(pathlib.Path(path)):
        if "sm_90a" in targets:
            for shape in shapes(text):
                yield section, shape, text


def run(folder, families=None):
    """The shapes of all kernels in a folder, or of some families."""
    found = set()
    for path in glob.glob(os.path.join(folder, "*.ptx")):
        if families is None or os.path.basename(path)[:-4] in families:
            with open(path) as f:
                found |= set(shapes(f.read()))
    return found


def missing(*sections):
    """(section, opcode, text) of what no listing family has."""
    ran = run(os.path.join(HERE, "forms"), LISTING)
    for section, shape, text in listed():
        if section in sections and shape not in ran:
            yield section, shape[0], text


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
    for section, shape, _ in listed(args.list):
        wanted.setdefault(shape, section)
    for shape, section in wanted.items():
        if shape not in found and shape[0] not in excused:
            lost += 1
            print("%s: %s: in no kernel of forms/ and not in not_run.txt" % (section, " ".join(shape)))
    ran, known = {shape[0] for shape in found}, {shape[0] for shape in wanted}
    for opcode in excused:
        if opcode in ran or opcode not in known:
            lost += 1
            print("%s: in not_run.txt, but %s" % (opcode, "a kernel has it" if opcode in ran else "forms.txt has it not"))
    print("%d sm_90a forms of %d opcodes, %d opcodes not run, %d forms missing" % (len(wanted), len(known), len(excused), lost))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
