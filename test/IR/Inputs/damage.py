# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes damaged copies of a schedule, one after the other."""

import random
import re
import sys

source, target = sys.argv[1:]
text = "\n".join(
    line for line in open(source).read().splitlines() if not line.startswith("//")
)
choose = random.Random(1).randrange
tokens = [m.span() for m in re.finditer(r"[%@#!]?[\w.]+|\S", text)]
words = ["", "-1", "0", "9223372036854775807", "99999999999999999999", "%c0", "{", "}"]
words += ["<", ">", "index", "i32", "!fa4.barrier", "@mma", "tmem", "f32", '"', "//"]

damaged = []
for _ in range(60):
    damaged.append(text[: choose(len(text))])
for _ in range(240):
    begin, end = tokens[choose(len(tokens))]
    damaged.append(text[:begin] + words[choose(len(words))] + text[end:])
with open(target, "w") as file:
    file.write("\n// -----\n".join(damaged))
