# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""One head of 1024 queries and keys and head dimension 128 takes at most 5 s of ptx-sim and
1 GiB of memory."""

import argparse
import os
import subprocess
import sys

from harness import Harness, Inputs, Problem

# The time is the processor's, of all threads: another load on the machine does not count.
SECONDS, KIB = 5, 1 << 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    harness = Harness(parser.parse_args().work)
    for causal in (False, True):
        problem = Problem(1, 1024, 1024, 1, 1, 128, causal=causal)
        # Writes the launch file and the tensors.
        harness.run(problem, Inputs.normal(problem, 1))
        folder = harness.compile(problem)
        command = ["ptx-sim", os.path.join(folder, "f_attention.ptx"), "--launch", os.path.join(folder, "launch.json")]
        process = subprocess.Popen(command)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = used.ru_utime + used.ru_stime
        print(f"{problem}: {seconds:.2f} s, {used.ru_maxrss >> 10} MiB")
        if process.returncode or seconds > SECONDS or used.ru_maxrss > KIB:
            sys.exit(f"FAIL: expected at most {SECONDS} s and {KIB >> 10} MiB")


if __name__ == "__main__":
    main()
