# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the sizes of kernels for several lengths: compile_lengths.py TOOL FOLDER"""

import pathlib
import subprocess
import sys

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def count(length, causal):
    """Instructions in the PTX of one kernel."""
    q = f"memref<1x{length}x16x128xf16>"
    text = f"""func.func @f(%q: {q}, %k: {q}, %v: {q}, %o: {q}) {{
  fa4.attention ins(%q, %k, %v : {q}, {q}, {q}) outs(%o : {q}){" causal" * causal}
  return
}}"""
    subprocess.run([tool, "-", "--emit", "ptx", "-o", folder], input=text, text=True, check=True)
    lines = (folder / "f_attention.ptx").read_text().splitlines()
    return sum(line.rstrip().endswith(";") for line in lines)


for causal in (0, 1):
    short, long, dynamic = (count(length, causal) for length in (1024, 131072, "?"))
    grows = "no" if long <= 1.05 * short else f"{short} to {long}"
    close = "close" if dynamic <= 1.25 * long else f"{long} to {dynamic}"
    print(f"causal={causal} grows={grows} dynamic={close}")
