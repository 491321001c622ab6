# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Print the attentions whose schedules differ in more than types and numbers.

    schedules.py [WORD ...]

They differ in the head dimension (d64: six K/V stages and two chunks of O; d128: three
and four), in who shares a K/V head (own: one head a tile, and `stats` by warps), in the
mask (where the epilogue lies, and loops over masked blocks) and in the log-sum-exp.
Static and dynamic extents, element types and the scheduler change no op. With words,
only those whose name has all of them.
"""

import itertools
import sys

for d, sharing, mask, lse in itertools.product((64, 128), ("own", "shared"), ("full", "causal"), ("", "lse")):
    name = "_".join(filter(None, (f"d{d}", sharing, mask, lse)))
    if not all(word in name.split("_") for word in sys.argv[1:]):
        continue
    q = f"memref<1x1000x4x{d}xf16>"
    kv = f"memref<1x1000x{4 if sharing == 'own' else 1}x{d}xf16>"
    sums = "memref<1x4x1000xf32>"
    print(f"func.func @{name}(%q: {q}, %k: {kv}, %v: {kv}, %o: {q}{', %l: ' + sums if lse else ''}) {{")
    print(f"  fa4.attention ins(%q, %k, %v : {q}, {kv}, {kv}) outs(%o : {q})", end="")
    print(f" lse(%l : {sums})" if lse else "", "causal" if mask == "causal" else "")
    print("  return\n}")
