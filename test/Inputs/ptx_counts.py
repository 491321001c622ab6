# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how often PTX synchronises, copies and multiplies.

    ptx_counts.py < FILE

FILE is PTX, or IR with PTX as a string attribute.
"""

import collections
import re
import sys

KINDS = r"(?:mbarrier|tcgen05|cp\.async|barrier|bar|fence|setmaxnreg|elect|vote|shfl)\.[a-z0-9_.:]+"

# Line ends and tabs of a string attribute.
text = re.sub(r"\\0[9A]", "\n", sys.stdin.read())
counts = collections.Counter(re.findall(r"(?<![\w.])" + KINDS, text))
if not any(name.startswith("tcgen05.mma") for name in counts):
    sys.exit("no MMA in this text")
for name, count in sorted(counts.items()):
    print(count, name)
