# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py [--sim PTX-SIM] [--goldens ZIP] [--mode MODE] [FAMILY...]: the kernels of forms/ in ptx-sim against what a GPU
wrote. Equal to the bit, or within the bound that stands beside the form. Exit code 1 if anything differs.

exceptions.txt names the forms that ptx-sim refuses or gets wrong; a line that no longer holds is an error too.
"""

import argparse
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

import cases

SECONDS = 120  # for one kernel


def npy(path, data):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(data)
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    return data[10 + struct.unpack("<H", data[8:10])[0]:]


def descriptor(case, sizes):
    parameters = [{"name": n, "kind": "pointer", "value": n} for n in ("in", "out")]
    for k, m in enumerate(case.maps):
        p = {"name": "map%d" % k, "kind": "tensor_map", "base": "%s + %d" % (m["base"], m.get("offset", 0)), "type": m["type"],
             "dims": m["dims"], "strides": m["strides"], "box": m["box"], "swizzle": m.get("swizzle", "none"),
             "interleave": "none", "l2_promotion": "none", "oob_fill": m.get("fill", "zero")}
        parameters.append(p)
    return {"schema": 1, "kernel": case.name, "chip": "sm_90a", "ptx": "8.8", "versions": {},
            "tensors": [{"name": n, "type": "u8", "shape": [sizes[n]], "strides": [1]} for n in ("in", "out")], "symbols": [],
            "derived": [], "checks": [], "skip_if": 0, "parameters": parameters, "grid": [case.grid, 1, 1],
            "block": [case.block, 1, 1], "dynamic_shared_bytes": case.shared, "roles": []}


class Simulator:
    def __init__(self, program, options):
        self.program, self.options = program, options

    def run(self, case, lines):
        """The output, or None; the line that was refused, or 0; what was said."""
        with tempfile.TemporaryDirectory() as d:
            inputs = case.input()
            npy(d + "/in.npy", inputs)
            npy(d + "/out.npy", case.output())
            launch = {"descriptor": "d.json", "tensors": {"in": {"in": "in.npy", "type": "u8"},
                                                          "out": {"in": "out.npy", "out": "result.npy", "type": "u8"}}}
            for name, value in (("d.json", descriptor(case, {"in": len(inputs), "out": case.out_bytes})), ("l.json", launch)):
                with open(os.path.join(d, name), "w") as f:
                    json.dump(value, f)
            with open(d + "/k.ptx", "w") as f:
                f.write("\n".join(lines))
            command = [self.program, d + "/k.ptx", "--launch", d + "/l.json"] + self.options
            try:
                r = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return None, 0, "not done in %d s" % SECONDS
            if r.returncode == 0:
                return read_npy(d + "/result.npy"), 0, ""
            at = re.search(r"(?:k\.ptx:|line )(\d+)", r.stderr)
            return None, int(at.group(1)) if at else 0, r.stderr.strip()


def decode(bits, form):
    if form == "f16":
        return struct.unpack("<e", struct.pack("<H", bits))[0]
    if form == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    return struct.unpack("<f" if form == "f32" else "<d", struct.pack("<I" if form == "f32" else "<Q", bits))[0]


def near(want, got, size, bound):
    """Whether two results agree within a bound such as 'f16 rel=2^-9 abs=2^-12'."""
    if bound == "open":
        return True
    limits = {k: 2.0 ** float(v[2:]) for k, v in (w.split("=") for w in bound.split() if "=" in w)}
    form = next((w for w in bound.split() if "=" not in w and w != "nan"), {4: "f32", 8: "f64"}.get(size))
    width = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[form]
    for i in range(0, size, width):
        mask = (1 << 8 * width) - 1
        w, g = want >> 8 * i & mask, got >> 8 * i & mask
        if w == g:
            continue
        a, b = decode(w, form), decode(g, form)
        if math.isnan(a) and math.isnan(b) and "nan" in bound.split():
            continue
        if math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
            return False
        if abs(a - b) > max(limits.get("rel", 0) * abs(a), limits.get("abs", 0)):
            return False
    return True


class Report:
    def __init__(self):
        self.compared, self.failures, self.refused = 0, [], {}


def compare_forms(case, want, got, lines, report):
    inputs = case.input()
    slots = len(case.launch.get("rows", []))
    threads = case.block * case.grid
    for name, offset, size, bound, number in case.forms:
        if not lines[number - 1]:
            continue
        report.compared += 1
        bad = []
        for t in range(threads):
            at = offset + t * size
            w, g = (int.from_bytes(x[at:at + size], "little") for x in (want, got))
            if w != g and not (bound and near(w, g, size, bound)):
                row = struct.unpack_from("<%dQ" % slots, inputs, 8 * slots * t)
                bad.append("thread %d: in %s: expected %#x, got %#x" % (t, " ".join("%#x" % v for v in row), w, g))
        if bad:
            report.failures.append((case, name, number, "%d of %d differ" % (len(bad), threads), bad))


def compare_whole(case, want, got, report):
    """Kernels without rows: every word of the output, within the launch's bound."""
    size, bound = case.launch.get("word", 4), case.launch.get("bound", "")
    bad = []
    for at in range(0, len(want), size):
        w, g = (int.from_bytes(x[at:at + size], "little") for x in (want, got))
        if w != g and not (bound and near(w, g, size, bound)):
            bad.append("word %d: expected %#x, got %#x" % (at // size, w, g))
    report.compared += 1
    if bad:
        report.failures.append((case, case.name, 0, "%d of %d words differ" % (len(bad), len(want) // size), bad))


def compare_fault(case, text, simulator, report):
    got, number, said = simulator.run(case, text)
    report.compared += 1
    if got is not None or not said.startswith("fault"):
        report.failures.append((case, case.name, 0, "the hardware stops this kernel, but ptx-sim does not", [said] if said else []))


def compare_case(case, want, text, simulator, report):
    if case.launch.get("fault"):
        return compare_fault(case, text, simulator, report)
    lines = list(text)
    while True:
        got, number, said = simulator.run(case, lines)
        if got is not None:
            break
        form = next((f for f in case.forms if f[4] == number), None)
        if form is None or not lines[number - 1]:
            report.refused[case.name + ": " + case.name] = (number, said, case)
            return
        report.refused[case.name + ": " + form[0]] = (number, said, case)
        lines[number - 1] = ""
    if want is None:
        return
    if case.forms:
        compare_forms(case, want, got, lines, report)
    else:
        compare_whole(case, want, got, report)


def exceptions_path():
    return os.path.join(cases.HERE, "exceptions.txt")


def read_exceptions():
    if not os.path.exists(exceptions_path()):
        return {}
    with open(exceptions_path()) as f:
        return dict(line.strip().rsplit(" # ", 1) for line in f if " # " in line)


def write_exceptions(actual):
    with open(exceptions_path(), "w") as f:
        f.write("Forms that ptx-sim refuses, or whose results differ from the card's. Each line must hold; see README.md.\n\n")
        for key in sorted(actual):
            f.write("%s # %s\n" % (key, actual[key]))


def collect(args, report, names):
    """Compares the families; false if the goldens do not fit."""
    simulator = Simulator(args.sim, ["--mode", args.mode])
    goldens, manifest, fits = None, {}, True
    if not args.no_goldens:
        goldens = zipfile.ZipFile(args.goldens)
        manifest = json.loads(goldens.read("manifest.json"))

    def complain(message):
        print(message)
        return False

    for path in cases.families():
        family = os.path.basename(path)[:-4]
        if args.families and family not in args.families:
            continue
        if goldens and manifest["ptx"].get(family) != cases.digest(path):
            fits = complain("%s.ptx is not the text that the goldens were made with" % family)
            continue
        with open(path) as f:
            text = f.read().split("\n")
        for case in cases.read_family(path):
            names.add(case.name)
            fault = case.launch.get("fault")
            if goldens and case.name not in manifest["failed" if fault else "cases"]:
                fits = complain("%s: no golden" % case.name)
            elif goldens and manifest["inputs"].get(case.name) != case.input_digest():
                fits = complain("%s: the inputs are not those that the golden was made with" % case.name)
            else:
                compare_case(case, goldens.read(case.name) if goldens and not fault else None, text, simulator, report)
    return fits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sim", default="ptx-sim")
    parser.add_argument("--goldens", default=os.path.join(cases.HERE, "goldens", "hopper.zip"))
    parser.add_argument("--mode", default="eager")
    parser.add_argument("--examples", type=int, default=3)
    parser.add_argument("--no-goldens", action="store_true", help="only say what ptx-sim refuses")
    parser.add_argument("--all", action="store_true", help="print what exceptions.txt lists as well")
    parser.add_argument("--update", action="store_true", help="write exceptions.txt anew; all families")
    parser.add_argument("families", nargs="*")
    args = parser.parse_args()
    report, names = Report(), set()
    failed = not collect(args, report, names)
    actual = {key: "refused" for key in report.refused}
    actual.update({"%s: %s" % (case.name, name): "differs" for case, name, _, _, _ in report.failures})
    if args.update and not args.families:
        write_exceptions(actual)
    listed = {k: v for k, v in read_exceptions().items() if k.split(": ")[0] in names}
    for key, kind in listed.items():
        if actual.get(key) != kind:
            failed = True
            print("%s: listed as '%s' in exceptions.txt, which is no longer so" % (key, kind))
    for key, (number, said, case) in report.refused.items():
        failed |= key not in listed
        if key not in listed or args.all:
            said = " ".join(said.split("\n")[:2]).split("k.ptx:")[-1]
            print("%s.ptx:%d: %s: refused: %s" % (case.family, number, key, said))
    for case, name, number, what, bad in report.failures:
        key = "%s: %s" % (case.name, name)
        failed |= key not in listed
        if key not in listed or args.all:
            print("%s.ptx:%d: %s: %s" % (case.family, number, key, what))
            for line in bad[:args.examples]:
                print("  " + line)
    print("%d forms compared, %d differ, %d refused" % (report.compared, len(report.failures), len(report.refused)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
