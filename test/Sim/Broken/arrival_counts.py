# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P11: arrival counts that are not those of the threads that arrive."""

from broken import ALL_MODES, Broken, delay

b = Broken()
k = b.kernel
full = k.where(r"^mbarrier\.init.*" + k.barrier("o_full"))
fence = k.where(r"^fence\.proxy\.async")
arrive = k.where(r"^mbarrier\.arrive", after=fence)
store = max(i for i in range(fence) if k.lines[i].startswith("st.shared.v4"))

# Each lane completes a phase, and of an even number of them no wait learns.
one = k.replaced(full, r"%r\d+;", "1;")
b.reported("a count of 1, all lanes arrive", one, "deadlock", "128 phases, pending 1 of 1 arrivals")
# An early release: the store does not wait for the last warp.
three = k.replaced(full, r"%r\d+;", "96;")
b.reported("a count of 96, four warps arrive", three, "race", "cp.async.bulk.tensor")
last = three.put(store, delay(3))
b.reported("a count of 96, a late warp", last, "uninitialised", "cp.async.bulk.tensor", checks=ALL_MODES[:1])
# 128 threads reach a barrier of 256.
meet = k.where(r"^bar\.sync 1, 256;")
b.reported("half of the threads", k.without(r"^bar\.arrive %r\d+, 256;"), "deadlock", "barrier 1 has 128 of 256 threads")
b.reported("another count", k.replaced(meet, "256", "384"), "bad-barrier", "256", "384")
more = k.replaced(full, r"%r\d+;", "256;")
b.reported("a count of 256, 128 threads arrive", more, "deadlock", "pending 128 of 256 arrivals")

# One thread of each warp arrives for its 32, once they have met.
one = [
    ".reg .pred %one; .reg .b32 %lane; mov.u32 %lane, %laneid; setp.eq.u32 %one, %lane, 0;",
    "bar.warp.sync -1;",
    "@%one " + k.lines[arrive].replace("];", "], 32;"),
]
b.passes("one thread a warp arrives 32 times", k.cut(arrive, arrive + 1)[0].put(arrive, one))
per_warp = [one[0], one[1], "@%one " + k.lines[arrive]]
fewer = k.replaced(full, r"%r\d+;", "4;").replaced(k.where(r"^mbarrier\.init.*" + k.barrier("o_full", 1)), r"%r\d+;", "4;")
b.passes("one thread a warp arrives, a count of 4", fewer.cut(arrive, arrive + 1)[0].put(arrive, per_warp))
b.finish()
