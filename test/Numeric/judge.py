# RUN: %python %s

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tests of the judge itself (W1): what is wrong in each way must be found."""

import unittest

import numpy as np

import reference
from compare import LSE_HARDWARE, LSE_POLYNOMIAL, compare
from storage import Layout, bhsd, compact, decode, encode, expanded, round_bf16, round_to, subview

RNG = np.random.default_rng(1)


def case(dtype="f16", causal=False, sq=40, skv=50, v_scale=1.0):
    q, k, v = (round_to(RNG.standard_normal((1, n, 2, 64)), dtype) for n in (sq, skv, skv))
    return reference.attention(q, k, v * v_scale, causal, dtype=dtype)


class Comparer(unittest.TestCase):
    def setUp(self):
        self.want = case()
        self.o, self.lse = self.want.rounded.copy(), self.want.lse.copy()

    def wrong(self, part):
        verdict = compare(self.o, self.lse, self.want)
        self.assertFalse(verdict.ok)
        self.assertTrue(any(p.startswith(part) for p in verdict.problems), verdict.problems)

    def test_rounding_alone_is_right(self):
        verdict = compare(self.o, self.lse, self.want)
        self.assertTrue(verdict.ok, verdict.problems)
        self.assertAlmostEqual(verdict.rms_ratio, 1)

    def test_nan_for_a_number(self):
        self.o[0, 3, 1, 5] = np.nan
        self.wrong("o: 1 of")

    def test_number_for_a_nan(self):
        self.want.o[0, 3, 1, 5] = np.nan
        self.o[0, 3, 1, 5] = 0
        self.wrong("o: 1 of")

    def test_all_of_the_reference_nan(self):
        self.want.o[...] = np.nan
        self.wrong("o: 5120 of")

    def test_inf_for_the_largest_number(self):
        self.want.o[0, 0, 0, 0], self.o[0, 0, 0, 0] = 65504, np.inf
        self.wrong("o: 1 of")

    def test_the_largest_number_for_inf(self):
        self.want.o[0, 0, 0, 0], self.o[0, 0, 0, 0] = np.inf, 65504
        self.wrong("o: 1 of")

    def test_inf_of_the_other_sign(self):
        self.want.o[0, 0, 0, 0], self.o[0, 0, 0, 0] = np.inf, -np.inf
        self.wrong("o: 1 of")

    def test_missing_tail(self):
        self.o[0, -1, -1, -4:] = np.nan
        self.wrong("o: 4 of")

    def test_tail_of_zeros(self):
        self.o[0, -1] = 0
        self.wrong("o: ")

    def test_wrong_shape(self):
        self.o = self.o[:, :-1]
        self.wrong("o has shape")

    def test_broadcastable_shape(self):
        self.o = self.o[:, :1]
        self.wrong("o has shape")

    def test_lse_of_wrong_shape(self):
        self.lse = self.lse[:, :, :-1]
        self.wrong("lse has shape")

    def test_element_bar(self):
        self.o[0, 7, 1, 9] += 0.02
        self.wrong("o: 1 of")

    def test_small_errors_everywhere(self):
        self.o += 5e-4
        self.wrong("o: root-mean-square")

    def test_error_where_rounding_has_none(self):
        self.want = case(skv=1)
        self.o, self.lse = self.want.rounded.copy(), self.want.lse.copy()
        self.assertTrue(compare(self.o, self.lse, self.want).ok)
        self.o[0, 0, 0, 0] += 1e-4
        self.wrong("o: root-mean-square")

    def test_lse_in_log2(self):
        self.lse /= np.log(2)
        self.wrong("lse: ")

    def test_lse_bar(self):
        self.lse += 5e-5
        self.assertFalse(compare(self.o, self.lse, self.want, LSE_HARDWARE).ok)
        self.assertTrue(compare(self.o, self.lse, self.want, LSE_POLYNOMIAL).ok)

    def test_lse_of_an_empty_row(self):
        self.want = case(causal=True, sq=60, skv=50)
        self.o, self.lse = self.want.rounded.copy(), self.want.lse.copy()
        self.assertTrue(compare(self.o, self.lse, self.want).ok)
        self.lse[0, 0, 3] = 0
        self.wrong("lse: 1 of")

    def test_nan_only_where_it_may_be(self):
        self.want.may_be_nan[0, 0, 0, 0] = True
        self.o[0, 0, 0, 0] = np.nan
        self.assertTrue(compare(self.o, self.lse, self.want).ok)
        self.o[0, 0, 0, 0] = 3
        self.wrong("o: 1 of")


class Reference(unittest.TestCase):
    def test_definition(self):
        """Against the sum written out, key by key."""
        q, k, v = (RNG.standard_normal((2, n, h, 64)) for n, h in ((5, 4), (7, 2), (7, 2)))
        got = reference.attention(q, k, v, causal=True, scale=0.25)
        for b, i, h in np.ndindex(2, 5, 4):
            keys = range(i + 7 - 5 + 1)
            weights = [np.exp(0.25 * q[b, i, h].dot(k[b, j, h // 2])) for j in keys]
            o = sum(w * v[b, j, h // 2] for w, j in zip(weights, keys)) / sum(weights)
            np.testing.assert_allclose(got.o[b, i, h], o, rtol=1e-12)
            np.testing.assert_allclose(got.lse[b, h, i], np.log(sum(weights)), rtol=1e-12)

    def test_rows_without_keys(self):
        got = case(causal=True, sq=5, skv=2)
        self.assertTrue((got.o[0, :3] == 0).all() and np.isneginf(got.lse[0, :, :3]).all())
        self.assertTrue(np.isfinite(got.lse[0, :, 3:]).all())
        got = case(skv=0)
        self.assertTrue((got.o == 0).all() and np.isneginf(got.lse).all())

    def test_hidden_nan(self):
        q, k, v = (RNG.standard_normal((1, 4, 1, 64)) for _ in range(3))
        k[0, 3], v[0, 3] = np.nan, np.nan
        got = reference.attention(q, k, v, causal=True)
        self.assertTrue(np.isfinite(got.o[0, :3]).all() and np.isnan(got.o[0, 3]).all())


class Storage(unittest.TestCase):
    def test_bf16(self):
        for value, bits in ((1, 0x3F80), (-2, 0xC000), (1 + 2**-8, 0x3F80), (1 + 3 * 2**-8, 0x3F82),
                            (2.0**-133, 1), (2.0**-134, 0), (1e39, 0x7F80), (-np.inf, 0xFF80), (0, 0)):
            self.assertEqual(int(encode(np.array([value], float), "bf16")[0]), bits, value)
        self.assertTrue(np.isnan(decode(encode(np.array([np.nan]), "bf16"), "bf16"))[0])

    def test_every_bf16_survives(self):
        bits = np.arange(65536).astype(np.uint16)
        values = decode(bits, "bf16")
        kept = ~np.isnan(values)
        self.assertTrue((encode(values, "bf16")[kept] == bits[kept]).all())
        self.assertTrue((round_bf16(values)[kept] == values[kept]).all())

    def test_layouts(self):
        shape = (2, 3, 4, 8)
        values = RNG.integers(0, 60000, shape).astype(np.uint16)
        for layout in (compact(shape), bhsd(shape), subview((3, 9, 5, 16), (1, 2, 1, 8), shape)):
            storage = np.zeros(layout.storage_size(shape), np.uint16)
            layout.view(storage, shape)[...] = values
            for b, s, h, d in np.ndindex(shape):
                at = layout.offset + np.dot((b, s, h, d), layout.strides)
                self.assertEqual(storage[at], values[b, s, h, d])
        self.assertEqual(expanded(shape, (0,)).storage_size(shape), 3 * 4 * 8)
        self.assertEqual(Layout((8, 8, 8, 1)).storage_size((0, 1, 1, 8)), 0)


if __name__ == "__main__":
    unittest.main()
