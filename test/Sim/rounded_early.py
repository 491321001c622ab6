# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A Hopper schedule, and one that rounds P before it waits for the product of the P before:
the same bits in every mode of ptx-sim."""

import json
import os
import re
import subprocess
import sys

import numpy as np

QUERIES, KEYS, DIM = 140, 300, 64
SOURCE = """
func.func @f(%q: memref<1x{0}x3x{2}xf16>, %k: memref<1x{1}x1x{2}xf16>, %v: memref<1x{1}x1x{2}xf16>, %o: memref<1x{0}x3x{2}xf16>) {{
  fa4.attention ins(%q, %k, %v : memref<1x{0}x3x{2}xf16>, memref<1x{1}x1x{2}xf16>, memref<1x{1}x1x{2}xf16>)
                outs(%o : memref<1x{0}x3x{2}xf16>) causal
  return
}}
""".format(QUERIES, KEYS, DIM)


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def round_early(schedule):
    """The rounding of P stands behind the wait for P * V: puts it in front."""
    lines, moved = schedule.split("\n"), 0
    for i, line in enumerate(lines):
        if "fa4.warpgroup_wait pending(0)" not in line:
            continue
        for j in range(i + 1, i + 3):
            if re.search(r"fa4\.convert %e", lines[j]):
                lines.insert(i, lines.pop(j))
                moved += 1
                break
    print("moved", moved)
    return "\n".join(lines)


def outputs(folder, schedule):
    os.mkdir(folder)
    with open(f"{folder}/in.mlir", "w") as f:
        f.write(schedule)
    run("fa4-compile", f"{folder}/in.mlir", "--chip", "sm_90a", "--emit", "ptx,launch", "-o", folder)
    for mode in ("eager", "lazy", "random"):
        run("ptx-sim", f"{folder}/f_attention.ptx", "--launch", "launch.json", "--mode", mode)
        yield mode, np.load("o.npy").view(np.uint16)


def main():
    os.chdir(sys.argv[1])
    random = np.random.default_rng(1)
    tensors = {"o": {"type": "f16", "shape": [1, QUERIES, 3, DIM], "out": "o.npy"}}
    for name, rows, heads in (("q", QUERIES, 3), ("k", KEYS, 1), ("v", KEYS, 1)):
        np.save(f"{name}.npy", random.standard_normal((1, rows, heads, DIM)).astype(np.float16))
        tensors[name] = {"in": f"{name}.npy"}
    with open("launch.json", "w") as f:
        json.dump({"descriptor": "plain/f_attention.json", "tensors": tensors}, f)
    schedule = run("fa4-opt", "--fa4-to-schedule=chip=sm_90a tile-keys=64", text=SOURCE)
    plain = outputs("plain", schedule)
    for (mode, expected), (_, got) in zip(plain, outputs("early", round_early(schedule))):
        print(mode, "same" if np.array_equal(expected, got) else "differs")


if __name__ == "__main__":
    main()
