# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P7: the columns of a tcgen05.ld are handed back without tcgen05.wait::ld.

(a) with registers still to be filled: a race. (b) behind a use of every register that it
fills: a warning. Hardware holds the user of a register back until it is there, so the columns
have been read by then; but PTX says of the wait alone that they are free.
"""

from broken import ALL_MODES, Broken

b = Broken()
k = b.kernel
# The first read of S, four loads and a wait; P overwrites the columns.
wait = k.where(r"^tcgen05\.wait::ld", after=k.role("softmax"))
store = k.where(r"^tcgen05\.st", after=wait)
done = k.where(r"^tcgen05\.wait::st", after=store)
rest, line = k.cut(wait, wait + 1)

scratch = k.lines[store].split("[")[1].split("]")[0]
unread = f".reg .b32 %scratch; tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%scratch}}, [{scratch}];"
b.reported("a load of what is overwritten", k.put(store, unread), "race", "tcgen05.st")
words = ("tcgen05.ld", "tcgen05.st", "only because its warp has read every register", "tcgen05.wait::ld")
b.warned("P is stored, used registers, no wait", rest, *words)
b.warned("the same, with fences asked for", rest, *words, checks=(("--race=formal",),))
b.warned("the wait behind the store of P", rest.put(done, line), *words)
b.passes("nothing to say without --race", rest, checks=ALL_MODES)
lint = tuple((*mode, "--race", "--poison-loads") for mode in ALL_MODES)
b.reported("the strict reading", rest, "race", "tcgen05.st", checks=lint)
use = ".reg .b32 %other; mov.b32 %other, %scratch;"
b.warned("a load of what is overwritten, and a use", k.put(store, [unread, use]), *words)
other = "mov.b32 %scratch, 0;"
b.reported("its register gets another value first", k.put(store, [unread, other, use]), "race", "tcgen05.st")

# The last read of O by the correction role, then its arrival for the products.
meet = k.role("correction")
waits = [i for i in range(meet, k.role("mma")) if k.lines[i].startswith("tcgen05.wait::ld")]
b.warned("O is stored back without the wait", k.cut(waits[-1], waits[-1] + 1)[0], *words)

# Where the next wait comes before anything gives the columns away, one wait is enough.
loads = [i for i in range(store) if k.lines[i].startswith("tcgen05.ld")]
b.passes("a load, and a wait for it", k.put(store, [unread, *line]))
b.passes("a wait for each load", k.put(loads[1], line).put(loads[0] + 1, line))
b.passes("a wait in front of the store", rest.put(store - 1, line))
# In the strictest reading registers are filled at the wait, and what is computed before is of NaN.
strict = (("--mode", "lazy", "--poison-loads"),)
b.reported("used before the wait, filled at the wait", rest.put(store - 1, line), "wrong", checks=strict)
b.passes("filled at the wait", k, checks=strict)
b.passes("the wait twice", k.put(wait, line))
b.finish()
