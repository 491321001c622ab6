# RUN: %broken

# Part of the fa4 project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""P4: mbarriers that are used before the others can know that they are initialised."""

from broken import Broken, delay

b = Broken()
k = b.kernel
fence = k.where(r"^fence\.mbarrier_init")
first = k.where(r"^mbarrier\.init")
meeting = k.where(r"^bar\.sync 0;")
choice = k.where(r"^setp\.ne\.b32 %p\d+, %r\d+, 0;", after=first - 8)

b.reported("no fence", k.cut(fence, fence + 1)[0], "race", "fence.mbarrier_init")
b.reported("the fence before them", k.cut(fence, fence + 1)[0].put(first, k.lines[fence]), "race", "fence.mbarrier_init")
apart = k.cut(meeting, meeting + 1)[0]
b.reported("no barrier of the CTA", apart, "race", "mbarrier", "no barrier orders the two")
b.reported("no barrier, initialised late", apart.put(first, delay(0)), "bad-mbarrier", "is not initialised", checks=(("--mode", "eager"),))
b.reported("two warps initialise", k.replaced(choice, r"setp\.ne\.b32 (.*), 0;", r"setp.gt.u32 \1, 1;"), "bad-mbarrier", "initialised again")

# Threads alone arrive on the last one, so the barrier of the CTA is enough for it.
b.passes("the fence before the last of them", k.cut(fence, fence + 1)[0].put(fence - 1, k.lines[fence]))
b.passes("another warp initialises", k.replaced(choice, ", 0;", ", 5;"))
# The lanes are back together, so the fence is of all of them, the one that counts included.
b.passes("the fence a little later", k.cut(fence, fence + 1)[0].put(fence + 1, k.lines[fence]))
b.passes("initialised late", k.put(first, delay(0)))
b.passes("the barrier twice", k.put(meeting, k.lines[meeting]))
b.finish()
