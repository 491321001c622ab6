# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Long runs: a progress line each second, Ctrl-C leaves results that say that they are
partial, and memory stays under 1 GiB, with the race detector too."""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np

from harness import Harness, Inputs, Problem


def expect(condition, why):
    if not condition:
        sys.exit("FAIL: " + why)


def wait_for(path, words, process, seconds):
    """True when the words are in the file before the process ends."""
    end = time.time() + seconds
    while time.time() < end and process.poll() is None:
        with open(path) as f:
            if words in f.read():
                return True
        time.sleep(0.05)
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    work = parser.parse_args().work
    harness = Harness(work)
    # The small run writes the launch file; the large one takes minutes.
    small = Problem(1, 128, 128, 1, 1, 128, target="sms = 1", dynamic=frozenset(("B", "Sq", "Skv", "Hq", "Hkv")))
    harness.run(small, Inputs.normal(small, 1), flags=("--race",))
    folder = harness.compile(small)
    with open(os.path.join(folder, "launch.json")) as f:
        launch = json.load(f)
    shape = {"q": [4, 4096, 2, 128], "k": [4, 4096, 2, 128], "lse": [4, 2, 4096]}
    for name, tensor in launch["tensors"].items():
        tensor["shape"] = shape.get(name, shape["k"])
        tensor.pop("strides", None)
        tensor.pop("in", None)
        if name != "o" and name != "lse":
            tensor["fill"] = 0
    for name in ("o", "lse"):
        launch["tensors"][name]["out"] = f"long.{name}.npy"
    path = os.path.join(folder, "long.json")
    with open(path, "w") as f:
        json.dump(launch, f)

    errors = os.path.join(folder, "long.txt")
    command = ["ptx-sim", os.path.join(folder, "f_attention.ptx"), "--launch", path, "--threads", "2", "--race"]
    with open(errors, "w") as out:
        process = subprocess.Popen(command, stderr=out)
        expect(wait_for(errors, "of 1 CTAs, 2 s", process, 120), "no progress line after two seconds")
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=120)
    with open(errors) as f:
        text = f.read()
    expect(code == 1, f"exit code {code} after an interrupt: {text}")
    expect("interrupted" in text and "partial results are written" in text, f"nothing says partial: {text}")
    for name in ("o", "lse"):
        expect(not os.path.exists(os.path.join(folder, f"long.{name}.npy")), f"a partial '{name}' has the name of a whole one")
        got = np.load(os.path.join(folder, f"long.{name}.partial.npy"))
        expect(list(got.shape) == shape.get(name, shape["k"]), f"partial '{name}' has shape {got.shape}")
    # What the interrupt left undone is still the fill, a NaN.
    expect(np.isnan(np.load(os.path.join(folder, "long.lse.partial.npy"))).any(), "the run was not cut short")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    expect(peak < 1 << 20, f"{peak} KiB of memory")
    print(f"peak memory {peak >> 10} MiB")


if __name__ == "__main__":
    main()
