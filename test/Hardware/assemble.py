# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""assemble.py DIR: a cubin of each file in forms/, so that the machine with the card needs no toolkit."""

import os
import subprocess
import sys

import cases


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for path in cases.families():
        out = os.path.join(sys.argv[1], os.path.basename(path)[:-4] + ".cubin")
        subprocess.run(["ptxas", "-arch=sm_90a", path, "-o", out], check=True)


if __name__ == "__main__":
    main()
