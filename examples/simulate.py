#!/usr/bin/env python3
# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernel of examples/attention.mlir in the simulator and judges what it wrote.

    fa4-compile examples/attention.mlir --emit ptx,launch -o kernel
    examples/simulate.py kernel --length 512

Needs NumPy, and ptx-sim on the PATH or in --ptx-sim. The exit status is 1 where the
kernel faults or its output is wrong.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

QUERY_HEADS, KV_HEADS, HEAD_DIM = 32, 8, 128  # what examples/attention.mlir says

# An output in f16 is this far off when the kernel is right: it rounds the weights and the
# result to 11 bits, so about 2^-12 of the typical size of an element. A key too many or
# too few, a wrong scale or a missed rescale are off by tens of times that.
RMS_BAR, MAX_BAR = 2.0**-11, 1e-2


def attention(q, k, v):
    """Causal attention in float64, from its definition. [length, heads, head dimension]"""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    length, group = len(q), QUERY_HEADS // KV_HEADS
    hidden = np.arange(length)[None, :] > np.arange(length)[:, None]
    o = np.empty(q.shape)
    for head in range(QUERY_HEADS):
        scores = q[:, head] @ k[:, head // group].T / np.sqrt(HEAD_DIM)
        scores[hidden] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        o[:, head] = weights / weights.sum(axis=1, keepdims=True) @ v[:, head // group]
    return o


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernel", type=pathlib.Path, help="folder that fa4-compile wrote")
    parser.add_argument("--length", type=int, default=512, help="queries and keys of the call")
    parser.add_argument("--ptx-sim", default="ptx-sim", help="the simulator")
    args = parser.parse_args()

    # The operands of one call: batch 1, and as many queries as keys.
    rng = np.random.default_rng(0)
    shape = {"q": (1, args.length, QUERY_HEADS, HEAD_DIM), "k": (1, args.length, KV_HEADS, HEAD_DIM)}
    shape["v"], shape["o"] = shape["k"], shape["q"]
    inputs = {name: rng.standard_normal(shape[name]).astype(np.float16) for name in "qkv"}

    # A launch file names the kernel's descriptor and gives it tensors. The descriptor says how
    # tensor maps, parameters and grid follow from them. What 'o' holds before the run is NaN.
    tensors = {name: {"in": f"{name}.npy"} for name in "qkv"}
    tensors["o"] = {"type": "f16", "shape": shape["o"], "out": "o.npy"}
    for name, array in inputs.items():
        np.save(args.kernel / f"{name}.npy", array)
    launch = args.kernel / "launch.json"
    launch.write_text(json.dumps({"descriptor": "attention_attention.json", "tensors": tensors}, indent=1))

    start = time.perf_counter()
    ptx = args.kernel / "attention_attention.ptx"
    ran = subprocess.run([args.ptx_sim, ptx, "--launch", launch])
    if ran.returncode:
        sys.exit(1)
    seconds = time.perf_counter() - start

    want = attention(*(inputs[name][0] for name in "qkv"))
    error = np.load(args.kernel / "o.npy")[0].astype(np.float64) - want
    rms, worst = np.sqrt(np.mean(error**2)), np.abs(error).max()
    share = rms / np.sqrt(np.mean(want**2))
    print(f"batch 1, {args.length} queries and keys, {QUERY_HEADS} heads: simulated in {seconds:.1f} s")
    print(f"against float64: RMS error {rms:.2e} ({share:.2e} of the RMS of o), largest error {worst:.2e}")
    # Not 'share > bar': a NaN has to fail.
    if not (share <= RMS_BAR and worst <= MAX_BAR):
        sys.exit(f"wrong: expected an RMS error up to {RMS_BAR:.2e} of the RMS, and no error above {MAX_BAR:.2e}")


if __name__ == "__main__":
    main()
