# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds wrong outputs to the comparison of the numeric tests; prints what passed."""

from types import SimpleNamespace

import numpy as np
from compare import compare

O = np.linspace(-1, 1, 2 * 3 * 64, dtype=np.float32).reshape(2, 3, 64)
LSE = np.array([0.5, -np.inf, 2.0], np.float32)


def reference(o=O, lse=LSE):
    rounded = o.astype(np.float16).astype(np.float64)
    return SimpleNamespace(o=o, rounded=rounded, lse=lse, may_be_nan=np.zeros(o.shape, bool))


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


first = (0, 0, 0)
wrong = {
    "NaN for a number": (changed(O, first, np.nan), LSE, reference()),
    "a number for NaN": (O, LSE, reference(changed(O, first, np.nan))),
    "65504 for inf": (changed(O, first, 65504), LSE, reference(changed(O, first, np.inf))),
    "inf for 65504": (changed(O, first, np.inf), LSE, reference(changed(O, first, 65504))),
    "-inf for inf": (changed(O, first, -np.inf), LSE, reference(changed(O, first, np.inf))),
    "a missing tail": (O[:1], LSE, reference()),
    "another shape": (O.reshape(3, 2, 64), LSE, reference()),
    "all NaN for 0": (np.full_like(O, np.nan), LSE, reference(np.zeros_like(O))),
    "0 for -inf in the LSE": (O, changed(LSE, 1, 0), reference()),
    "NaN for -inf in the LSE": (O, changed(LSE, 1, np.nan), reference()),
    "a missing row of the LSE": (O, LSE[:2], reference()),
}
for name, (o, lse, expected) in wrong.items():
    if compare(o, lse, expected).ok:
        print(f"passed: {name}")
right = compare(reference().rounded, LSE, reference())
print(f"{len(wrong)} wrong, right one: {'accepted' if right.ok else right.problems}")
