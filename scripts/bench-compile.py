#!/usr/bin/env python3
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times each stage of compiling attention, over a grid of problems.

The grid is S in 1024..8192, Hkv in 4..32, causal or not (B = 1, Hq = 32, D = 128,
f16), one length of 131072, and the kernels with everything dynamic in f16 and bf16. For each it prints
the seconds of each stage and what ptxas said; then the median and the worst.

"to PTX" is wall time from the start of the process, "CPU" is what it used of a
processor, which is the wall time of an idle machine; neither counts ptxas.

--check also makes it fail on a spill, on stack use, on a warning, and where PTX takes
more than --limit seconds of CPU. --quick takes a few points of the grid.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

STAGES = ["parse", "bufferize", "schedule", "check", "proof", "storage", "lowering", "device", "LLVM", "ptxas"]


def attention(q, kv, causal):
    """The module of one attention."""
    return f"""
func.func @f(%q: {q}, %k: {kv}, %v: {kv}, %o: {q}) {{
  fa4.attention ins(%q, %k, %v : {q}, {kv}, {kv}) outs(%o : {q}){" causal" if causal else ""}
  return
}}
"""


def problems(quick):
    """(name, module) for each point."""
    lengths, heads = ([1024, 8192], [4, 32]) if quick else ([1024, 2048, 4096, 8192], [4, 8, 16, 32])
    for s, h, causal in itertools.product(lengths, heads, [False, True]):
        q, kv = f"memref<1x{s}x32x128xf16>", f"memref<1x{s}x{h}x128xf16>"
        yield f"S={s} Hkv={h}{' causal' if causal else ''}", attention(q, kv, causal)
    # As long as it takes for any other length.
    q, kv = "memref<1x131072x32x128xf16>", "memref<1x131072x8x128xf16>"
    yield "S=131072 Hkv=8 causal", attention(q, kv, True)
    for element, causal in itertools.product(["f16", "bf16"], [False, True]):
        tensor = f"memref<?x?x?x128x{element}>"
        yield f"dynamic {element}{' causal' if causal else ''}", attention(tensor, tensor, causal)


def compile_one(arguments, has_ptxas, name, module):
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.fa4_compile, "-", "--chip", "sm_100a", "--timing", "-o", folder]
        command += ["--emit", "ptx,cubin,launch" if has_ptxas else "ptx,launch"]
        if arguments.schedule:
            command += ["--schedule", arguments.schedule]
        start = time.monotonic()
        done = subprocess.run(command, input=module, capture_output=True, text=True, timeout=300)
        wall = time.monotonic() - start
        lines = sum(p.read_text().count("\n") for p in pathlib.Path(folder).glob("*.ptx"))
    result = {"name": name, "wall": wall, "lines": lines, "times": {}, "problems": [], "ptxas": ""}
    if done.returncode:
        result["problems"].append(done.stderr.strip())
    for line in done.stderr.splitlines():
        if stage := re.match(r"time (\S+) +([0-9.]+) s", line):
            result["times"][stage.group(1)] = float(stage.group(2))
        elif line.startswith("ptxas "):
            numbers = re.search(r"registers (\d+), stack (\d+) bytes, spilled (\d+) bytes, (\d+) warnings", line)
            result["ptxas"] = "{} registers, {} stack, {} spilled, {} warnings".format(*numbers.groups())
            if any(int(n) for n in numbers.groups()[1:]):
                result["problems"].append(line)
        elif "warning" in line:
            result["problems"].append(line)
    if has_ptxas and not result["ptxas"]:
        result["problems"].append("ptxas said nothing")
    result["to_ptx"] = wall - result["times"].get("ptxas", 0)
    result["cpu"] = result["times"].get("CPU", 0)
    if arguments.check and result["cpu"] > arguments.limit:
        result["problems"].append(f"PTX took {result['cpu']:.2f} s of CPU, expected at most {arguments.limit} s")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--fa4-compile", default=root / "build" / "bin" / "fa4-compile")
    parser.add_argument("--quick", action="store_true", help="a few points of the grid")
    parser.add_argument("--check", action="store_true", help="fail on what must not be")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds of CPU to PTX that --check allows")
    parser.add_argument("--schedule", help="options of --fa4-schedule-attention")
    parser.add_argument("-j", type=int, default=1, dest="jobs", help="compile this many at once")
    arguments = parser.parse_args()
    has_ptxas = bool(shutil.which("ptxas")) or os.access("/usr/local/cuda/bin/ptxas", os.X_OK)

    columns = STAGES + ["to PTX", "CPU", "wall"]
    print(f"{'seconds':28}" + "".join(f"{c:>10}" for c in columns) + "  PTX lines  ptxas")
    results = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = pool.map(lambda p: compile_one(arguments, has_ptxas, *p), problems(arguments.quick))
        for result in runs:
            results.append(result)
            times = [result["times"].get(s, 0) for s in STAGES] + [result[c] for c in ("to_ptx", "cpu", "wall")]
            print(f"{result['name']:28}" + "".join(f"{t:10.3f}" for t in times), end="")
            print(f"{result['lines']:11}  {result['ptxas'] or 'not run'}", flush=True)
            for problem in result["problems"]:
                print("  " + problem.replace("\n", "\n  "))
    for word, choose in [("median", statistics.median), ("worst", max)]:
        times = [choose(r["times"].get(s, 0) for r in results) for s in STAGES]
        times += [choose(r[c] for r in results) for c in ("to_ptx", "cpu", "wall")]
        print(f"{word:28}" + "".join(f"{t:10.3f}" for t in times))
    bad = sum(bool(r["problems"]) for r in results)
    print(f"{len(results)} kernels, {bad} with problems")
    return 1 if bad and arguments.check else 0


sys.exit(main())
