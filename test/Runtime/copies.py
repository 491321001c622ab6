# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %runtime

"""Operands that a tensor map cannot show, and head dimensions that no tile has (A1, L5, L7, L11):
right values, by a driver that computes through the maps that it is given."""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import fa4
from fa4 import _compile, _driver
from fa4._bind import Operand
from fa4._layout import can_show, is_distinct, may_overlap
from fake_driver import abi_page, write_folder
from host_gpu import Cupy, HostArray, HostGpu

PAGE = abi_page(os.environ["FA4_SOURCE"])[0]


def kernel_text(name, head_dim, lse):
    value = json.loads(_compile.narrowed(PAGE, head_dim))
    value.update(kernel=name, chip="sm_90a")
    if not lse:
        for part in ("tensors", "parameters"):
            value[part] = [entry for entry in value[part] if entry["name"] != "lse"]
    return value


def reference(q, k, v, causal=False, scale=None):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, q.shape[2] // x.shape[2], 2) for x in (k, v))
    logits = np.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[3] ** -0.5 if scale is None else scale)
    if causal:
        hidden = np.arange(k.shape[1])[None] > np.arange(q.shape[1])[:, None] + k.shape[1] - q.shape[1]
        logits = np.where(hidden, -np.inf, logits)
    top = logits.max(-1, initial=-np.inf, keepdims=True)
    weights = np.exp(logits - np.where(np.isinf(top), 0, top))
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.log(total) + top)[..., 0]
    return np.einsum("bhqk,bkhd->bqhd", weights / np.where(total == 0, 1, total), v), lse


class OnHost(unittest.TestCase):
    def setUp(self):
        self.before = sys.modules.get("cupy")
        sys.modules["cupy"] = Cupy
        os.environ["FA4_COMPILE"] = "/nowhere"
        self.driver = HostGpu()
        _driver.set_driver(self.driver)
        self.scratch = tempfile.TemporaryDirectory()
        self.random = np.random.default_rng(1)

    def tearDown(self):
        fa4.clear()
        _driver.set_driver(None)
        self.scratch.cleanup()
        del os.environ["FA4_COMPILE"]
        del sys.modules["cupy"]
        if self.before is not None:
            sys.modules["cupy"] = self.before

    def use(self, head_dim, causal=False, scale=None, lse=True):
        number = len(self.driver.meanings)
        name = f"d{head_dim}_{'causal' if causal else 'full'}{'_lse' if lse else ''}_{number}"
        folder = write_folder(Path(self.scratch.name) / name, kernel_text(name, head_dim, lse), (causal, scale))
        kernel = fa4.use(fa4.load(folder))
        self.driver.meanings[name] = (kernel.descriptor, causal, scale)

    def array(self, *shape):
        """Values in memory at a multiple of 16 bytes."""
        array = Cupy.empty(shape, "f2")
        array.values[...] = self.random.standard_normal(shape)
        return array

    def right(self, q, k, v, out=None, **options):
        want = reference(q.values, k.values, v.values, options.get("causal", False))
        o, lse = fa4.attention(q, k, v, return_lse=True, out=out, **options)
        np.testing.assert_allclose(o.values, want[0], rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(lse.values, want[1], rtol=1e-5, atol=1e-5)
        return o, lse


class Copies(OnHost):
    def setUp(self):
        super().setUp()
        self.use(64)
        self.q, self.k, self.v = self.array(2, 5, 4, 64), self.array(2, 7, 2, 64), self.array(2, 7, 2, 64)

    def maps(self):
        name = self.driver.launches[-1].function[1].decode()
        return self.driver.read(self.driver.launches[-1], self.driver.meanings[name][0])

    def test_nothing_is_copied_without_need(self):
        def address(array):
            return array.values.ctypes.data

        self.right(self.q, self.k, self.v)
        self.assertEqual([self.maps()[n + "_map"]["base"] for n in "qkv"], [address(x) for x in (self.q, self.k, self.v)])
        turned = [HostArray(np.ascontiguousarray(x.values.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)) for x in (self.q, self.k)]
        if all(address(x) % 16 == 0 for x in turned):
            self.right(turned[0], turned[1], self.v)
            self.assertEqual(self.maps()["k_map"]["base"], address(turned[1]))
        wide = HostArray(np.broadcast_to(self.k.values[:1], (2, 7, 2, 64)))
        self.right(self.q, wide, self.v)
        self.assertEqual(self.maps()["k_map"]["base"], address(self.k))

    def test_inputs(self):
        """Each operand in turn in each layout."""
        def pitched(x, pitch):
            b, s, h, d = x.shape
            return np.zeros((b, s, pitch), x.dtype)[:, :, : h * d].reshape(b, s, h, d)

        layouts = {
            "columns first": lambda x: np.asfortranarray(x),
            "every other column": lambda x: np.repeat(x, 2, 3)[..., ::2],
            "backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
            "heads backwards": lambda x: x[:, :, ::-1].copy()[:, :, ::-1],
            "columns backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
            "odd pitch": lambda x: np.concatenate([x, x[..., :1]], 3)[..., :64],
            "a place that TMA cannot take": lambda x: np.concatenate([x.ravel()[:1], x.ravel()])[1:].reshape(x.shape),
        }
        for what, change in layouts.items():
            for i in range(3):
                with self.subTest(what, operand="qkv"[i]):
                    operands = [self.q, self.k, self.v]
                    operands[i] = HostArray(change(operands[i].values))
                    self.right(*operands)

    def test_outputs(self):
        o, lse = Cupy.empty((2, 5, 4, 64), "f2"), Cupy.empty((2, 4, 5), "f4")
        wide = Cupy.empty((2, 5, 4, 129), "f2")
        outs = {
            "plain": (o, lse),
            "every other column": (wide[..., :128:2], lse),
            "a place that TMA cannot take": (wide[..., 1:65], lse),
            "backwards": (o[:, ::-1], lse),
            "LSE by tokens": (o, HostArray(Cupy.empty((2, 5, 4), "f4").values.transpose(0, 2, 1))),
        }
        for what, out in outs.items():
            with self.subTest(what):
                wide.values[...] = 7
                result = self.right(self.q, self.k, self.v, out=out)
                self.assertEqual((result[0] is out[0], result[1] is out[1]), (True, True))
                if out[0].values.base is not None and np.shares_memory(out[0].values, wide.values):
                    out[0].values[...] = 7
                    self.assertTrue((wide.values == 7).all(), "written beside the output")

    def test_output_over_an_input(self):
        lse = Cupy.empty((2, 4, 5), "f4")
        self.right(self.q, self.k, self.v, out=(HostArray(self.q.values), lse))
        buffer = self.array(3, 7, 4, 64)
        self.right(self.q, buffer[:2, :, :2], self.v, out=(buffer[1:, :5], lse))
        # Heads of one buffer lie side by side: nothing to copy.
        fused = self.array(2, 5, 12, 64)
        fused.values[...] = self.random.standard_normal(fused.shape)
        q, k, v, o = (fused[:, :, a:b] for a, b in ((0, 4), (4, 6), (6, 8), (8, 12)))
        self.right(q, k, v, out=(o, lse))
        self.assertEqual(self.maps()["o_map"]["base"], o.values.ctypes.data)

    def test_outputs_over_themselves(self):
        lse = Cupy.empty((2, 4, 5), "f4")
        one = HostArray(np.lib.stride_tricks.as_strided(self.array(2, 5, 4, 64).values, strides=(0, 512, 128, 2)))
        with self.assertRaisesRegex(ValueError, "operand 'o': expected an element of memory for each element, but got strides"):
            fa4.attention(self.q, self.k, self.v, return_lse=True, out=(one, lse))
        buffer = Cupy.empty((2 * 5 * 4 * 64 + 8,), "f2").values
        o = HostArray(buffer[: 2 * 5 * 4 * 64].reshape(2, 5, 4, 64))
        over = HostArray(buffer[-80:].view("f4").reshape(2, 4, 5))
        with self.assertRaisesRegex(ValueError, "operand 'lse': expected memory of its own, but it may overlap 'o'"):
            fa4.attention(self.q, self.k, self.v, return_lse=True, out=(o, over))
        self.assertEqual(self.driver.launches, [])

    def test_head_dimensions(self):
        for d in (1, 8, 33, 40, 63, 65, 80, 96, 112, 127):
            for causal in (False, True):
                with self.subTest(d=d, causal=causal):
                    self.use(-(-d // 8) * 8, causal, None if d % 8 == 0 else d**-0.5)
                    shapes = ((1, 9, 2, d), (1, 6, 1, d), (1, 6, 1, d))
                    operands = [self.array(*shape) for shape in shapes]
                    o, _ = self.right(*operands, causal=causal)
                    self.assertEqual(o.values.strides, np.empty(shapes[0], np.float16).strides)
                    # NaN right behind the columns stays there.
                    row = -(-d // 8) * 8 + 8
                    wide = [Cupy.empty((*shape[:3], row), "f2") for shape in shapes]
                    for x, y in zip(wide, operands):
                        x.values[..., :d] = y.values
                    out = Cupy.empty((*shapes[0][:3], row), "f2")
                    self.right(*(x[..., :d] for x in wide), causal=causal,
                               out=(out[..., :d], Cupy.empty((1, 2, 9), "f4")))  # fmt: skip
                    self.assertTrue(np.isnan(out.values[..., d:]).all())

    def test_other_columns_of_values(self):
        for d, dv in ((64, 40), (40, 64), (33, 7), (8, 33)):
            with self.subTest(d=d, dv=dv):
                columns = -(-max(d, dv) // 8) * 8
                self.use(columns, True, None if d == columns else d**-0.5)
                q, k, v = self.array(1, 9, 2, d), self.array(1, 6, 1, d), self.array(1, 6, 1, dv)
                o, lse = self.right(q, k, v, causal=True)
                self.assertEqual(o.shape, (1, 9, 2, dv))
                self.right(q, k, v, causal=True, out=(o, lse))
        self.use(40, False, 33**-0.5)
        self.right(self.array(2, 5, 4, 33), self.array(2, 0, 2, 33), self.array(2, 0, 2, 33))

    def test_no_keys_and_no_queries(self):
        for shapes in (((2, 5, 4, 64), (2, 0, 2, 64)), ((2, 0, 4, 64), (2, 7, 2, 64)), ((0, 5, 4, 64), (0, 7, 2, 64))):
            q, k = (self.array(*shape) for shape in shapes)
            self.right(q, k, k)


class Places(unittest.TestCase):
    """Rules of memory, against sets of bytes."""

    def test_random(self):
        random = np.random.default_rng(2)
        kept = {True: 0, False: 0}
        for _ in range(3000):
            operands, sets = [], []
            for _ in range(2):
                shape = tuple(int(n) for n in random.integers(1, 4, 3))
                strides = tuple(int(n) for n in random.choice((-6, -2, 0, 1, 2, 3, 4, 6, 8, 12), 3))
                operands.append((Operand("f16", shape, strides), int(random.integers(0, 60))))
                sets.append([operands[-1][1] + 2 * sum(i * s for i, s in zip(at, strides)) + byte
                             for at in np.ndindex(shape) for byte in (0, 1)])  # fmt: skip
            found = may_overlap(*operands[0], *operands[1])
            if not found:
                self.assertFalse(set(sets[0]) & set(sets[1]), operands)
            if is_distinct(operands[0][0]):
                self.assertEqual(len(set(sets[0])), len(sets[0]), operands)
            kept[found] += 1
        self.assertGreater(min(kept.values()), 300)

    def test_what_a_map_shows(self):
        self.assertTrue(can_show("q", Operand("f16", (2, 3, 4, 64), (0, 1 << 38, 8, 1))))
        for strides in ((12, 64, 64, 1), (0, 1 << 39, 8, 1), (-64, 64, 64, 1), (64, 64, 64, 2)):
            self.assertFalse(can_show("q", Operand("f16", (2, 3, 4, 64), strides)))
        self.assertTrue(can_show("q", Operand("f16", (1, 1, 1, 8), (3, -5, 7, 1))))
        self.assertFalse(can_show("o", Operand("f16", (1, 1, 1, 12), (12, 12, 12, 1))))
        self.assertTrue(can_show("q", Operand("f16", (2, 0, 4, 64), (3, 5, 7, 9))))


if __name__ == "__main__":
    unittest.main()
