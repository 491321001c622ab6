# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles one attention with each of its sizes dynamic."""

import pathlib
import re
import subprocess
import tempfile


def run(what, b="2", sq="100", skv="77", hq="8", hkv="2", d="64", layout=""):
    q, kv = f"memref<{b}x{sq}x{hq}x{d}xf16{layout}>", f"memref<{b}x{skv}x{hkv}x{d}xf16{layout}>"
    module = f"""func.func @f(%q: {q}, %k: {kv}, %o: {q}) {{
  fa4.attention ins(%q, %k, %k : {q}, {kv}, {kv}) outs(%o : {q})
  return
}}"""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["fa4-compile", "-", "--emit", "ptx,launch", "-o", folder], input=module, capture_output=True, text=True)
        files = sorted(p.suffix for p in pathlib.Path(folder).iterdir())
    if done.returncode == 0 and files == [".json", ".ptx"]:
        print(f"{what}: compiled")
    else:
        error = re.search(r"error: .*", done.stderr)
        print(f"{what}: {error.group(0) if error else f'exit {done.returncode}, {files}: {done.stderr}'}")


run("nothing dynamic")
run("batch", b="?")
run("query length", sq="?")
run("key length", skv="?")
run("query heads", hq="?")
run("key heads", hkv="?")
run("head dimension", d="?")
run("strides", layout=", strided<[?, ?, ?, 1], offset: ?>")
run("everything but the head dimension", "?", "?", "?", "?", "?", layout=", strided<[?, ?, ?, 1], offset: ?>")
