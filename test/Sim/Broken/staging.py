# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P15: O is staged where the copy of the task before still reads, or copied before all is there."""

from broken import ALL_MODES, PROBLEM, Broken, delay

# Two tasks: what the second stages over the first is copied twice.
b = Broken(PROBLEM.but(hq=2, schedule=PROBLEM.schedule + " group-packing=off"))
k = b.kernel
# The softmax role's last wait is for the staging buffer; the store role's are for all writers.
waits = [i for i in range(k.role("softmax"), k.role("correction")) if "mbarrier.try_wait" in k.lines[i]]
empty = waits[-1] - 1, waits[-1] + 3
copy = k.where(r"^cp\.async\.bulk\.tensor.*global\.shared")
full = k.wait(copy - 8)
stores = [i for i in range(k.role("softmax"), k.role("correction")) if k.lines[i].startswith("st.shared.v4")]

overwritten = k.cut(*empty)[0]
b.reported("staging is written without a wait", overwritten, "race", "st.shared")
# Of the second tile, so that no wait of the store role is for a phase long past.
copied_late = overwritten.put(overwritten.where(r"^cp\.async\.bulk\.tensor.*global\.shared", nth=2) - 1, delay(14))
b.reported("staging is written without a wait, a late copy", copied_late, "wrong", checks=ALL_MODES[:1])

unwritten = k.cut(*full)[0]
b.reported("copied without a wait", unwritten, "uninitialised", "cp.async.bulk.tensor", checks=ALL_MODES)
# Not for the last of the warps that write: late, it leaves the bytes of the task before.
three = k.replaced(k.where(r"^mbarrier\.init.*" + k.barrier("o_full")), r"%r\d+;", "96;")
b.reported("copied behind three warps", three, "race", "cp.async.bulk.tensor")
b.reported("copied behind three warps, the last late", three.put(stores[-1], delay(3)), "uninitialised", checks=ALL_MODES[:1])

# The delays alone harm nobody.
b.passes("a late copy", k.put(copy - 1, delay(14)))
b.passes("a late warp", k.put(stores[0], delay(3)))
b.passes("waits twice", k.put(empty[1], [k.lines[empty[0]].replace("$L", "$TWICE_L"), *(l.replace("$L", "$TWICE_L") for l in k.lines[empty[0] + 1 : empty[1]])]))
b.finish()
