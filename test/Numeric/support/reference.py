# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention in float64, written from its definition.

softmax(scale * q.k) over the visible keys, times V. Key j is visible to query i when
j < Skv and, if causal, j <= i + Skv - Sq. Query head h reads the key/value head
floor(h / (Hq / Hkv)). LSE is the natural logarithm of the sum of exponentials. A query
that sees no key, or none with a logit above -inf, has O = 0 and LSE = -inf.
"""

from dataclasses import dataclass

import numpy as np

from storage import round_to


@dataclass
class Reference:
    o: np.ndarray  # [B, Sq, Hq, D]
    lse: np.ndarray  # [B, Hq, Sq]
    # What remains of `o` when P and O are rounded to the storage type: the yardstick
    # of the root-mean-square bar. P is that of logits in f32, taken against their
    # rounded maximum, which differs from the exact P where logits are huge only.
    rounded: np.ndarray
    # Rows in which a visible value that is not finite has a weight that the
    # storage type may round to 0: NaN is allowed there (0 * inf).
    may_be_nan: np.ndarray


def visible_keys(sq, skv, causal):
    """[Sq, Skv] booleans."""
    if not causal:
        return np.ones((sq, skv), bool)
    return np.arange(skv)[None, :] <= np.arange(sq)[:, None] + (skv - sq)


def head(q, k, v, scale, visible, dtype):
    """One head: (o, lse, rounded, may_be_nan) of q [Sq, D], k and v [Skv, D]."""
    sq, d = q.shape[0], v.shape[1]
    with np.errstate(all="ignore"):
        logits = np.where(visible, (q @ k.T) * scale, -np.inf)
        top = logits.max(axis=1, initial=-np.inf)
        empty = np.isneginf(top)
        weight = np.exp(logits - np.where(empty, 0, top)[:, None])
        total = weight.sum(axis=1)
        lse = np.where(empty, -np.inf, np.where(empty, 0, top) + np.log(total))
        shown = np.where(empty, 1, total)[:, None]
        in_f32 = np.where(visible, (q @ k.T).astype(np.float32).astype(np.float64) * (scale / np.log(2)), -np.inf)
        highest = in_f32.max(axis=1, initial=-np.inf).astype(np.float32).astype(np.float64)
        stored = np.exp2(in_f32 - np.where(empty, 0, highest)[:, None])
        stored_total = np.where(empty, 1, stored.sum(axis=1))[:, None]
        stored = round_to(stored, dtype)
        taint = np.zeros((sq, d), bool)
        if np.isfinite(v).all():
            o, rounded = (weight @ v) / shown, (stored @ v) / stored_total
        else:
            # A hidden value must not matter, not even as 0 * NaN.
            o, rounded = np.empty((sq, d)), np.empty((sq, d))
            for i in range(sq):
                seen = visible[i]
                o[i] = weight[i, seen] @ v[seen] / shown[i]
                rounded[i] = stored[i, seen] @ v[seen] / stored_total[i]
                small = seen & (weight[i] < 2.0**-12)
                taint[i] = ~np.isfinite(v[small]).all(axis=0)
        o[empty], rounded[empty] = 0, 0
    return o, lse, round_to(rounded, dtype), taint


def attention(q, k, v, causal=False, scale=None, dtype="f16"):
    """q [B, Sq, Hq, D], k and v [B, Skv, Hkv, D], float64."""
    b, sq, hq, d = q.shape
    skv, hkv = k.shape[1], k.shape[2]
    group = hq // hkv
    scale = 1 / np.sqrt(d) if scale is None else float(np.float32(scale))
    visible = visible_keys(sq, skv, causal)
    out = Reference(np.empty(q.shape), np.empty((b, hq, sq)), np.empty(q.shape), np.empty(q.shape, bool))
    for i in range(b):
        for h in range(hq):
            o, lse, rounded, taint = head(
                q[i, :, h], k[i, :, h // group], v[i, :, h // group], scale, visible, dtype
            )
            out.o[i, :, h], out.lse[i, h] = o, lse
            out.rounded[i, :, h], out.may_be_nan[i, :, h] = rounded, taint
    return out
