# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Attention by blocks in NumPy, in the kernel's place, with one fault that others have had.

A case is worth running when the fault that it is named for fails it: faults.py runs the
cases on this model, right and with each fault.
"""

import numpy as np

from harness import Harness, Output, ToolError
from reference import visible_keys
from storage import POISONS, Layout, compact, decode, encode, round_to

BLOCK = 128


def visible(sq, skv, h, problem, fault):
    seen = visible_keys(sq, skv, problem.causal)
    if not problem.causal:
        return seen
    i, j = np.arange(sq)[:, None], np.arange(skv)[None, :]
    group = problem.hq // problem.hkv
    if fault == "top left":  # T1
        return j <= i
    if fault == "rows of packed heads":  # G2
        return j <= i // group + skv - sq
    if fault == "nothing masked":  # T11
        return np.ones((sq, skv), bool)
    if fault == "one block masked":  # T3
        return seen | (j < (skv - 1) // BLOCK * BLOCK)
    return seen


def head(q, k, v, scale, seen, problem, fault, unused):
    """O and LSE of a head, blocks from the last to the first."""
    dtype, (sq, d), skv = problem.dtype, q.shape, k.shape[0]
    if fault == "lanes beyond 64":  # A5
        q, k = q[:, :64], k[:, :64]
    if fault in ("zero keys", "rows behind"):  # T7, T8
        more = -skv % BLOCK
        behind = np.zeros((more, d)) if fault == "zero keys" else np.full((more, d), decode([unused], dtype)[0])
        k, v = np.concatenate((k, np.zeros((more, d)))), np.concatenate((v, behind))
        seen = np.concatenate((seen, np.full((sq, more), fault == "zero keys")), 1)
        skv += more
    raw = (q @ k.T).astype(np.float32).astype(np.float64)
    if fault == "f16 scores":  # X8
        raw = raw.astype(np.float16).astype(np.float64)
    if fault == "scale behind the mask":  # X12
        s = np.where(seen, raw, -np.inf) * scale
    else:
        s = np.where(seen, raw * scale, -np.inf)
    m = np.full(sq, -5e4 * scale if fault == "finite minimum" else -np.inf)  # X2
    before, total, o = m, np.zeros(sq), np.zeros((sq, d))
    for begin in reversed(range(0, skv, BLOCK)):
        x = s[:, begin : begin + BLOCK]
        top = np.fmax.reduce(x, axis=1) if fault == "NaN dropped" else x.max(axis=1)
        new = np.fmax(m, top) if fault == "NaN dropped" else np.maximum(m, top)
        if fault == "lagging maximum":  # X4: what the block before had, not the anchor
            new = np.where(np.isneginf(m) | (top > before + 8 * np.log(2)), np.maximum(m, top), m)
            before = top
        if fault == "placeholder":  # X1
            new = np.where(np.isneginf(new), 0, new)
        base = new if fault == "no guard" else np.where(np.isneginf(new), 0, new)  # E1, X14
        p = np.exp(x - base[:, None])
        if fault == "NaN dropped":  # X9
            p = np.where(np.isnan(p), 0, p)
        moved = np.exp(m - base)
        total = total * moved + p.sum(axis=1)
        o = o * moved[:, None] + round_to(p, dtype) @ v[begin : begin + BLOCK]
        if fault == "f16 accumulator":  # X6
            o = o.astype(np.float16).astype(np.float64)
        m = new
    empty = total == 0
    o = np.where(empty[:, None], 0, o / np.where(empty, 1, total)[:, None])
    lse = np.where(empty, -np.inf, np.where(empty, 0, m) + np.log(np.where(empty, 1, total)))
    if fault == "finite LSE":  # E2, S3
        lse = np.where(empty, 0, lse)
    return o, lse / np.log(2) if fault == "log2" else lse, empty


class Model(Harness):
    def __init__(self, work, fault, chip="sm_100a"):
        super().__init__(work, chip)
        self.fault, self.calls, self.first = fault, 0, {}

    def compile(self, problem):
        raise ToolError("a model has no kernel")

    def operand(self, problem, name, inputs, unused):
        """The values that are read, by the fault's idea of where they lie."""
        values, shape = getattr(inputs, name), problem.shape(name)
        at = problem.layout(name)
        seen_as = at
        if self.fault == "compact":  # L1, L8
            seen_as = compact(shape)
        elif self.fault == "no offset":  # L3
            seen_as = Layout(at.strides)
        elif self.fault == "first layout":  # H1
            seen_as = self.first.setdefault((problem.text(), name, shape), at)
        elif self.fault == "batch stride" and name == "q":  # L2
            seen_as = Layout((at.strides[1], *at.strides[1:]))
        elif self.fault == "32-bit offsets" and name in problem.sparse:  # Z4
            tokens = np.arange(shape[1]) * at.strides[1] * 2 % 2**32 // (at.strides[1] * 2)
            return values[:, tokens]
        if name in problem.sparse or seen_as == at:
            return values
        storage = np.full(max(at.storage_size(shape), seen_as.storage_size(shape)), unused, np.uint16)
        at.view(storage, shape)[...] = values
        return seen_as.view(storage, shape)

    def run(self, problem, inputs, mode="eager", seed=0, poison=0x7FFF, flags=(), unused=None, addresses={}):
        unused, fault = poison if unused is None else unused, self.fault
        self.calls += 1
        bits = {n: self.operand(problem, n, inputs, unused) for n in "qkv"}
        if fault == "cut addresses":  # M4: an operand above 4 GiB is read where another lies
            low = {n: a for n, a in addresses.items() if a < 2**32}
            for n in "qkv":
                other = [m for m, a in low.items() if n not in low and a == addresses.get(n, 0) % 2**32]
                if other:
                    size = bits[n].size
                    there = np.resize(bits[other[0]] if other[0] in "qkv" else np.uint16(poison), size)
                    bits[n] = there.reshape(bits[n].shape)
        q, k, v = (decode(bits[n], problem.dtype) for n in "qkv")
        scale = problem.d**-0.5 if problem.scale is None else float(np.float32(problem.scale))
        if fault == "padded scale" and problem.scale is None:  # A4
            scale = 128**-0.5 if problem.d == 64 else 256**-0.5
        o = np.full(problem.shape("o"), poison, np.uint16)
        lse = np.full(problem.shape("lse"), POISONS[poison], np.uint32)
        group = problem.hq // problem.hkv
        with np.errstate(all="ignore"):
            for b in range(problem.b):
                for h in range(problem.hq):
                    g = h % problem.hkv if fault == "heads in turn" else h // group  # G1, G7
                    seen = visible(problem.sq, problem.skv, h, problem, fault)
                    got, log, empty = head(q[b, :, h], k[b, :, g], v[b, :, g], scale, seen, problem, fault, unused)
                    rows = np.ones(problem.sq, bool)
                    if fault == "empty rows unwritten":  # E4
                        rows = ~empty
                    if fault == "whole tiles only":  # T2
                        rows = np.arange(problem.sq) < problem.sq // BLOCK * BLOCK
                    if fault == "another order" and self.calls % 2 == 0:  # Q9
                        got = got * (1 + 2.0**-8)
                    o[b, rows, h] = encode(got, problem.dtype)[rows]
                    if not (fault == "first head's LSE" and h % group):  # G4
                        lse[b, h, rows] = log.astype(np.float32).view(np.uint32)[rows]
        return Output(o, lse if problem.lse else None, problem.dtype)
