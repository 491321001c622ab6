# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P17: the first block reads a factor that nobody has written."""

from broken import ALL_MODES, WITH_RACE, Broken

b = Broken()
k = b.kernel
meet = k.where(r"^bar\.sync 1, 256;")
read = k.where(r"^ld\.shared\.b32", after=meet)
rest, line = k.cut(read, read + 1)
slot = line[0].split(",")[0].split()[-1], line[0][line[0].index("[") : line[0].index("]") + 1]

early = rest.put(meet, line)
b.reported("the factor is read before it is there", early, "uninitialised", "ld.shared", checks=ALL_MODES + WITH_RACE)

# With something there the read is a race still, and its value that of a block before.
start = k.where(r"^bra\.uni", after=k.role("correction"))
filled = early.put(start, f"st.shared.b32 {slot[1]}, 0f3F800000;")
b.reported("the reader fills it first", filled, "race", checks=WITH_RACE)
b.reported("the reader fills it first", filled, "wrong", checks=ALL_MODES[:1])

b.passes("read twice behind the barrier", k.put(read, line))
b.finish()
