# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""The benchmarks: their sources compile; on a GPU, with the kernels below $FA4_KERNELS, they run."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(os.environ["FA4_SOURCE"]) / "bench"
KERNELS = os.environ.get("FA4_KERNELS")


class Benchmarks(unittest.TestCase):
    def test_sources(self):
        paths = sorted(BENCH.glob("*.py"))
        self.assertGreater(len(paths), 3)
        for path in paths:
            compile(path.read_text(encoding="utf-8"), str(path), "exec")

    def run_script(self, name, *arguments):
        command = [sys.executable, str(BENCH / name), "--kernels", KERNELS, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    @unittest.skipUnless(KERNELS, "FA4_KERNELS names no kernels for this GPU")
    def test_a_short_run(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_script("attention.py", "--out", folder, "--grid", "quick", "--seconds", "0.05")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(f"{folder}/attention.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertGreater(len(rows), 0)
            self.assertTrue(all(float(row["error"]) < 1 for row in rows if row["error"]))
            self.assertTrue((Path(folder) / "attention.png").exists())
        done = self.run_script("check.py", "--cases", "5", "--runs", "3", "--verbose")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("5 of 5 random cases within the bar", done.stdout)
        done = self.run_script("overhead.py", "--calls", "500")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
