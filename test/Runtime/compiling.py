# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""fa4.compile: the tool's folders, their manifest, the cache."""

import json
import os
import shutil
import stat
import tempfile
import unittest
from pathlib import Path

import fa4
from fa4 import _compile, _driver
from fake_driver import DeviceArray, FakeDriver

TOOL = os.path.join(os.environ["FA4_BUILD"], "bin", "fa4-compile")


class Compiling(unittest.TestCase):
    def setUp(self):
        if not os.path.exists(TOOL):
            self.skipTest("fa4-compile is not built")
        self.scratch = tempfile.TemporaryDirectory()
        self.path = Path(self.scratch.name)
        os.environ.update(FA4_COMPILE=TOOL, FA4_CACHE=str(self.path / "cache"))

    def tearDown(self):
        self.scratch.cleanup()
        fa4.clear()

    def test_a_folder(self):
        kernel = fa4.compile(self.path / "k", chip="sm_100a", query_heads=32, kv_heads=8, causal=True, return_lse=True)
        self.assertEqual(kernel.operands, ("q", "k", "v", "o", "lse"))
        self.assertEqual(kernel.descriptor.chip, "sm_100a")
        self.assertEqual(kernel.meaning, fa4.Meaning(True, None))
        manifest = json.loads((self.path / "k" / "fa4.json").read_text())
        self.assertEqual(manifest["versions"], kernel.versions)
        self.assertEqual(manifest["options"], ["--chip", "sm_100a"])
        self.assertIn("fa4.attention", manifest["source"])
        self.assertEqual(fa4.load(self.path / "k").meaning, kernel.meaning)

    def test_the_cache(self):
        first = fa4.compile(chip="sm_100a", query_heads=8, kv_heads=8, head_dim=64, dtype="bf16")
        before = (first.folder / "fa4.json").stat().st_mtime_ns
        second = fa4.compile(chip="sm_100a", query_heads=8, kv_heads=8, head_dim=64, dtype="bf16")
        self.assertEqual((second.folder, (second.folder / "fa4.json").stat().st_mtime_ns), (first.folder, before))
        other = fa4.compile(chip="sm_100a", query_heads=8, kv_heads=8, head_dim=64, dtype="bf16", scale=2.0)
        self.assertNotEqual(other.folder, first.folder)
        self.assertEqual(other.meaning.scale, 2.0)
        self.assertEqual(
            sorted(p.name for p in (self.path / "cache").iterdir()), sorted([first.folder.name, other.folder.name])
        )

    def test_the_cache_knows_the_assembler(self):
        """H3: with another ptxas, or with one where none was, it is another kernel."""
        real = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
        if not os.path.exists(real):
            self.skipTest("there is no ptxas")
        before, tools = os.environ["PATH"], self.path / "tools"
        tools.mkdir()
        os.environ["PATH"] = f"{tools}:{before}"
        try:
            folders = [fa4.compile(chip="sm_90a", head_dim=64).folder]
            (tools / "ptxas").write_text(f'#!/bin/sh\nexec "{real}" "$@"\n')
            (tools / "ptxas").chmod(0o755)
            folders += [fa4.compile(chip="sm_90a", head_dim=64).folder for _ in range(2)]
        finally:
            os.environ["PATH"] = before
        self.assertEqual((len(set(folders)), folders[1]), (2, folders[2]))

    def test_a_cache_that_cannot_be(self):
        (self.path / "file").write_text("")
        os.environ["FA4_CACHE"] = str(self.path / "file" / "cache")
        with self.assertRaisesRegex(OSError, "cannot be made: .*; FA4_CACHE names another"):
            fa4.compile(chip="sm_90a", head_dim=64)

    def test_what_the_tool_refuses(self):
        for value in (0, 129, 256):
            with self.assertRaisesRegex(ValueError, f"head_dim: expected a multiple of 8 from 8 to 128, but got {value}$"):
                fa4.compile(self.path / "k", chip="sm_100a", head_dim=value)
        with self.assertRaisesRegex(ValueError, r"but got 33: compile 40 with scale=33\*\*-0.5"):
            fa4.compile(self.path / "k", chip="sm_100a", head_dim=33)
        for value in ("x", True, b"1", [1.0]):
            with self.assertRaisesRegex(TypeError, r"scale: expected a number, or None for 1/sqrt\(D\), but got "):
                fa4.compile(chip="sm_100a", scale=value)
        for name in ("batch", "query_length", "kv_length", "query_heads", "kv_heads", "head_dim"):
            with self.assertRaisesRegex(TypeError, f"{name}: expected an integer or None, but got 2.5"):
                fa4.compile(chip="sm_100a", **{name: 2.5})
        with self.assertRaisesRegex(ValueError, "batch: expected 0 or more, but got -1"):
            fa4.compile(chip="sm_100a", batch=-1)
        with self.assertRaisesRegex(fa4.CompileError, "sm_80"):
            fa4.compile(chip="sm_80")
        self.assertEqual(list((self.path / "cache").iterdir()), [])
        with self.assertRaisesRegex(ValueError, "dtype: expected f16 or bf16, but got 'f32'"):
            fa4.compile(chip="sm_100a", dtype="f32")
        with self.assertRaisesRegex(ValueError, "scale: expected a finite number"):
            fa4.compile(chip="sm_100a", scale=float("inf"))

    def test_head_dimensions(self):
        """Tiles have 64 or 128 columns; the maps show fewer, and the scale is of those."""
        for d, tile in ((8, 64), (40, 64), (64, 64), (80, 128), (120, 128)):
            kernel = fa4.compile(chip="sm_90a", head_dim=d, causal=True)
            self.assertEqual(kernel.meaning, fa4.Meaning(True, None))
            text = json.loads((kernel.folder / f"{kernel.name}.json").read_text())
            self.assertEqual([t["shape"][3] for t in text["tensors"]], [d] * 4)
            self.assertEqual([p["dims"][0] for p in text["parameters"] if p["kind"] == "tensor_map"], [d] * 4)
            source = json.loads((kernel.folder / "fa4.json").read_text())["source"]
            self.assertIn(f"x{tile}xf16", source)
            self.assertEqual(f"scale({_compile.to_f32(d**-0.5):.9e})" in source, d != tile)
        # The same source, and not the same kernel.
        folders = {fa4.compile(chip="sm_90a", head_dim=d, scale=0.5).folder for d in (80, 96)}
        self.assertEqual(len(folders), 2)

    def test_without_the_tool(self):
        os.environ["FA4_COMPILE"] = "/nowhere"
        with self.assertRaisesRegex(FileNotFoundError, "fa4.compile needs the tool fa4-compile"):
            fa4.compile(chip="sm_100a")

    def test_attention_compiles_once(self):
        """A stand-in for the tool counts its runs."""
        counter = self.path / "tool"
        counter.write_text(f'#!/bin/sh\necho run >> "{self.path}/runs"\nexec "{TOOL}" "$@"\n')
        counter.chmod(counter.stat().st_mode | stat.S_IXUSR)
        os.environ["FA4_COMPILE"] = str(counter)
        driver = FakeDriver(capability=(10, 0))
        _driver.set_driver(driver)
        try:

            def tensors(s):
                shapes = ((2, s, 16, 64), (2, 2 * s, 4, 64), (2, 2 * s, 4, 64), (2, s, 16, 64))
                return [DeviceArray(shape, address=(i + 1) << 32) for i, shape in enumerate(shapes)]

            for length in (100, 200, 100):
                q, k, v, o = tensors(length)
                fa4.attention(q, k, v, causal=True, out=o)
            self.assertEqual((self.path / "runs").read_text(), "run\n")
            self.assertEqual(len(driver.launches), 3)
            self.assertEqual(driver.calls.count("cuLibraryLoadData"), 1)
            # Another process finds it in the cache.
            fa4.clear()
            fa4.attention(q, k, v, causal=True, out=o)
            self.assertEqual((self.path / "runs").read_text(), "run\n")
        finally:
            _driver.set_driver(None)

    def test_strides_are_left_open(self):
        text = _compile.source_text(dtype="f16", head_dim=128, query_heads=None, kv_heads=None, batch=None,
                                    query_length=5, kv_length=None, causal=False, scale=0.1, return_lse=True)  # fmt: skip
        self.assertIn("%q: memref<?x5x?x128xf16, strided<[?, ?, ?, 1], offset: ?>>", text)
        self.assertIn("%lse: memref<?x?x5xf32>", text)
        self.assertIn("scale(1.000000015e-01)", text)


if __name__ == "__main__":
    unittest.main()
