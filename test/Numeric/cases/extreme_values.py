# RUN: %numeric
# RUN: %hopper

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Logits and values at the ends of their ranges: X1 to X14 and the rules K1 to K11."""

import numpy as np

from harness import Inputs, Problem
from storage import encode
from suite import Suite

suite = Suite("extreme values")
DTYPES = ("f16", "bf16")
# A quick run has the masks and the longer lists for f16 only, and one mask.
MASKS = (False, True) if suite.full else (True,)


def normal(problem, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    return [scale * rng.standard_normal(problem.shape(n)) for n in "qkv"]


def near(name, problem, output, lse=None, o=None, bar=1e-3):
    if output and lse is not None:
        suite.expect(name, problem, np.abs(output.lse - lse).max() <= bar, f"LSE is not {lse}, but {output.lse.ravel()[:4]}")
    if output and o is not None:
        suite.expect(name, problem, (output.o == o).all(), "O is not exact")


# X1: the first tile visited is wholly masked for many rows, all logits are near -200.
for dtype, packing in suite.pick((("f16", "on"), ("bf16", "on"), ("f16", "off"), ("bf16", "off")), 2):
    # Seven heads a group take a tile each, as in the report; eight share one.
    problem = Problem(1, 88, 448, 16 if packing == "on" else 14, 2, 128, True, dtype)
    q, k, v = normal(problem, 1, 0.1)
    q[..., 0], k[..., 0] = 16, -141.5
    output = suite.check(f"X1 {packing} {dtype}", problem, Inputs.of(problem, q, k, v * 10))
    if output:
        suite.expect("X1", problem, np.abs(output.lse + 194).max() < 3, "LSE is not near -194")

for dtype in DTYPES:
    # X2: every logit is far below any finite stand-in for minus infinity.
    problem = Problem(1, 1, 64, 16, 1, 128, dtype=dtype)
    k = np.full(problem.shape("k"), -781.0)
    k[:, 0] = -742
    v = normal(problem, 2)[2]
    inputs = Inputs.of(problem, 1, k, v)
    output = suite.check(f"X2 {dtype}", problem, inputs)
    near("X2", problem, output, {"f16": -8394.77, "bf16": -8417.40}[dtype], inputs.values()[2][:, :1], 0.01)

    # X3 and K10: the largest logits that are promised are 2^26 in units of log2.
    problem = Problem(1, 130, 130, 1, 1, 64, dtype=dtype)
    # 64 q k / 8 log2(e) = 2^26 (1 - 2^-6), or a little less: q and k are storable.
    size = np.sqrt(2.0**26 / 8 * np.log(2)) * (1 - 2.0**-6)
    inputs = Inputs.of(problem, size, size, 1)
    want = 8 * inputs.values()[0].max() * inputs.values()[1].max()
    for sign in (1, -1):
        inputs = Inputs.of(problem, sign * size, size, 1)
        # The maximum itself is rounded to a multiple of 4 there, so a weight may be up to
        # 2^4 and round: O is 1 to within one rounding of the storage type.
        output = suite.check(f"X3 at the limit {sign} {dtype}", problem, inputs, rms_bar=np.inf)
        near("X3", problem, output, sign * want, bar=1e-6 * want)
        if output:
            one = 2.0 ** (-7 if dtype == "bf16" else -10)
            suite.expect("X3", problem, np.abs(output.o - 1).max() <= one, "O is not 1")

    # X4: the maximum creeps up by just less than the threshold a tile, in both orders.
    problem = Problem(1, 1, 1024, 1, 1, 64, dtype=dtype, schedule="rescale-threshold=8")
    rng = np.random.default_rng(4)
    v = rng.standard_normal(problem.shape("v"))
    for order in (1, -1):
        steps = np.repeat(np.arange(8)[::order], 128)
        k = np.zeros(problem.shape("k"))
        k[0, :, 0, 0] = 7.75 * steps * np.log(2)
        # One row with eight different weights: how they round depends on the reference,
        # and nothing averages it out.
        one_row = Inputs.of(problem, 8 * np.eye(64)[0], k, v)
        output = suite.check(f"X4 {order} {dtype}", problem, one_row, rms_bar=2.5)
        if dtype == "f16":
            near("X4", problem, output, 42.4504, bar=0.02)
        # Just above the threshold: rescales at every tile.
        k *= 8.5 / 7.75
        one_row = Inputs.of(problem, 8 * np.eye(64)[0], k, v)
        suite.check(f"X4 every tile {order} {dtype}", problem, one_row, rms_bar=2.5)

    # X6: values near the end of f16 do not overflow in an accumulator.
    problem = Problem(1, 4, 256, 1, 1, 64, dtype=dtype)
    q, k, v = normal(problem, 6)
    inputs = Inputs.of(problem, q, k, 60000)
    output = suite.check(f"X6 {dtype}", problem, inputs)
    if output:
        top = inputs.values()[2].max()
        suite.expect("X6", problem, np.abs(output.o / top - 1).max() <= 2.0 ** (-8 if dtype == "bf16" else -11), "O is not V")

    # X8: q.k passes the largest f16.
    problem = Problem(1, 4, 128, 1, 1, 128, dtype=dtype)
    k = np.full(problem.shape("k"), 255.0)
    k[:, 3] = 256
    v = normal(problem, 8)[2]
    inputs = Inputs.of(problem, 256, k, v)
    output = suite.check(f"X8 {dtype}", problem, inputs)
    near("X8", problem, output, 741455.2, inputs.values()[2][:, 3:4], 0.8)

    # X9: NaN in a row of Q reaches that row, and changes no bit of another.
    for hq in suite.pick((7, 8, 1), 2):
        problem = Problem(1, 128, 128, hq, 1, 64, dtype=dtype)
        q, k, v = normal(problem, 9)
        clean = suite.check(f"X9 clean {hq} {dtype}", problem, Inputs.of(problem, q, k, v))
        q[0, 5, 0, 0 if hq == 8 else slice(None)] = np.nan
        output = suite.check(f"X9 {hq} {dtype}", problem, Inputs.of(problem, q, k, v))
        if clean and output:
            clean.o_bits[0, 5, 0], clean.lse_bits[0, 0, 5] = output.o_bits[0, 5, 0], output.lse_bits[0, 0, 5]
            suite.expect("X9", problem, output.same_bits(clean), "a row that sees no NaN changed")
            suite.expect("X9", problem, np.isnan(output.o[0, 5, 0]).all() and np.isnan(output.lse[0, 0, 5]), "NaN is lost")
    if dtype == "bf16" and not suite.full:
        break
    # NaN in a key reaches every row that sees it.
    for where in (3, 130, 255):
        for causal in MASKS:
            problem = Problem(1, 256, 256, 1, 1, 64, causal, dtype)
            q, k, v = normal(problem, 10)
            k[0, where, 0, 7] = np.nan
            suite.check(f"K3 key {where} {causal} {dtype}", problem, Inputs.of(problem, q, k, v))

    # X11: NaN behind the mask, in blocks that are skipped whole; 128 rows, then 256.
    for half in (128, 256):
        problem = Problem(1, 2 * half, 2 * half, 1, 1, 64, True, dtype)
        q, k, v = normal(problem, 11)
        k[:, half:], v[:, half:] = np.nan, np.nan
        if not suite.wanted(f"X11 {half}", problem):
            continue
        suite.begin(f"X11 {half} {dtype}")
        output = suite.outputs(problem, Inputs.of(problem, q, k, v))
        clean = suite.harness.run(problem.but(sq=half, skv=half), Inputs.of(problem.but(sq=half, skv=half), q[:, :half], k[:, :half], v[:, :half]))
        # A task computes over the keys of its last row (K4).
        task = suite.chip.task_rows[64]
        skipped = half // task * task
        same = np.array_equal(output.o_bits[:, :skipped], clean.o_bits[:, :skipped])
        suite.expect(f"X11 {half}", problem, same, "a row of a block without the NaN changed")
        suite.expect(f"X11 {half}", problem, np.isfinite(output.lse[..., :half]).all(), "LSE of a row that sees no NaN key")
        suite.expect(f"X11 {half}", problem, np.isnan(output.o[:, half:]).all(), "NaN is lost")
        suite.expect(f"X11 {half}", problem, np.isnan(output.lse[..., half:]).all(), "NaN is lost in LSE")

    # X12 and K5: scale 0 weighs all visible keys alike, also with huge logits.
    for sq, skv in ((200, 200), (300, 260)):
        problem = Problem(1, sq, skv, 2, 1, 64, True, dtype, scale=0.0)
        output = suite.check(f"X12 {sq} {dtype}", problem, Inputs.of(problem, *normal(problem, 12)))
        if output and sq == skv:
            near("X12", problem, output, np.log(np.arange(1, sq + 1))[None, None], bar=1e-4)
    for scale in suite.pick((-0.125, 1e-40, -1.0, -1e-30, 3.0), 2):
        for causal in MASKS:
            problem = Problem(1, 200, 260, 2, 1, 64, causal, dtype, scale=scale)
            suite.check(f"K5 {scale} {causal} {dtype}", problem)

    # X14: half of the keys have logit -inf, which is no fully masked tile; then all of them.
    problem = Problem(1, 4, 256, 1, 1, 64, dtype=dtype)
    for dead in (slice(128, 256), slice(0, 128), slice(0, 256)):
        q, k, v = normal(problem, 14)
        q[..., 0] = 1
        k[:, dead, :, 0] = -np.inf
        suite.check(f"X14 {dead.start}..{dead.stop} {dtype}", problem, Inputs.of(problem, q, k, v))

    # K11: infinities in Q, whose logits are of both signs or, with the key's lane, of one; +inf
    # logits; and infinite values that are seen.
    problem = Problem(1, 130, 200, 1, 1, 64, dtype=dtype)
    for causal in MASKS:
        for value in (np.inf, -np.inf):
            q, k, v = normal(problem, 18)
            q[0, 60, 0, 9] = value
            suite.check(f"K11 query {value} {causal} {dtype}", problem.but(causal=causal), Inputs.of(problem, q, k, v))
            k[..., 9] = 1 + np.abs(k[..., 9])
            suite.check(f"K11 query {value} one sign {causal} {dtype}", problem.but(causal=causal), Inputs.of(problem, q, k, v))
    for causal in MASKS:
        q, k, v = normal(problem, 15)
        q[..., 0] = np.abs(q[..., 0]) + 1
        k[:, 150, :, 0] = np.inf
        suite.check(f"K11 logit {causal} {dtype}", problem.but(causal=causal), Inputs.of(problem, q, k, v))
        for value in suite.pick((np.inf, -np.inf, np.nan), 2):
            q, k, v = normal(problem, 16, 0.3)
            v[:, 3, :, 5] = value
            suite.check(f"K11 value {value} {causal} {dtype}", problem.but(causal=causal), Inputs.of(problem, q, k, v))

    # Equal logits; one outlier a row; logits that rise, and fall, with every key.
    for causal in MASKS:
        problem = Problem(1, 260, 515, 1, 1, 64, causal, dtype)
        q, k, v = normal(problem, 17)
        suite.check(f"equal logits {causal} {dtype}", problem, Inputs.of(problem, q, np.ones(64), v))
        for key in suite.pick((200, 0, 514), 2):
            outlier = 0.1 * k
            outlier[:, key, :, 0] = 60
            q0 = 0.1 * q
            q0[..., 0] = 8
            suite.check(f"outlier {key} {causal} {dtype}", problem, Inputs.of(problem, q0, outlier, v))
        # A row's outlier is a key of its own: 13 i modulo the keys that it sees, by a lane for each
        # digit; the others are 128 or more below it, so each row is one value of V to the bit.
        picked = 13 * np.arange(260) % (np.arange(260) + 256 if causal else 515)
        digits = [np.arange(515) // 8**n % 8 for n in range(4)]
        one_hot = np.zeros((515, 64))
        for n, digit in enumerate(digits):
            one_hot[np.arange(515), 8 * n + digit] = 32
        output = suite.check(
            f"outliers {causal} {dtype}",
            problem,
            Inputs.of(problem, one_hot[picked][None, :, None], one_hot[None, :, None], v),
        )
        if output:
            same = np.array_equal(output.o_bits, encode(v, dtype)[:, picked])
            suite.expect(f"outliers {causal} {dtype}", problem, same, "a row is not its outlier's V to the bit")
        # Strictly rising, or falling, by 1/4 a key: 16 steps in one lane, the rest in another, so
        # that bf16 holds them.
        for sign in (1, -1):
            rising = 0.1 * k
            rising[0, :, 0, 0], rising[0, :, 0, 1] = sign * (np.arange(515) // 16 * 4), sign * (np.arange(515) % 16 / 4)
            q0 = 0.1 * q
            q0[..., :2] = 8
            suite.check(f"rising {sign} {causal} {dtype}", problem, Inputs.of(problem, q0, rising, v))
        for factor in (100, -100):
            inputs = Inputs.of(problem, factor * q, 100 * k, v)
            suite.check(f"logits of 1e4 {factor} {causal} {dtype}", problem, inputs)

suite.finish()
